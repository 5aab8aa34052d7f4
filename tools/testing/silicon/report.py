# SPDX-License-Identifier: GPL-2.0
"""Writes the report of a run, a dictionary, as JSON and as text for people."""

import json
import os

import scrub

SHOWN = 25      # the last lines of a failed test's output


def outcome(test, result):
    """The report's entry for a test. A failed test has the end of its output, too."""
    entry = {'name': test.name, 'where': test.where, 'result': result.verdict,
             'seconds': round(result.seconds, 1)}
    if result.verdict == 'skip':
        why = [x for x in result.output if 'SKIP' in x]
        entry['why'] = why[-1].split('SKIP')[-1].strip() if why else ''
    elif result.verdict != 'ok':
        entry['output'] = [x.rstrip() for x in result.output if x.strip()][-SHOWN:]
    return entry


def counted(report):
    results = [t['result'] for t in report['tests']]
    return {'passed': results.count('ok'), 'failed': results.count('not ok'), 'skipped': results.count('skip')}


def failed(report):
    return bool(report['stopped'] or report['complaints'] or counted(report)['failed'])


def headline(report):
    n = counted(report)
    line = f'{n["passed"]} passed, {n["failed"]} failed, {n["skipped"]} skipped'
    if report['complaints']:
        line += f', {len(report["complaints"])} kernel complaints'
    return line + (f'; stopped: {report["stopped"]}' if report['stopped'] else '')


def about(report):
    m, c = report['machine'], report['machine']['cpu']
    yield f'date      {m["date"]}'
    yield f'pvperf    {m["pvperf"]}, commit {m["commit"]}'
    yield (f'CPU       {c["vendor"]} family {c["family"]} model {c["model"]} stepping {c["stepping"]}, '
           f'microcode {c["microcode"]}, {c["cpus"]} CPUs')
    yield f'          {c["name"]}'
    if c['under_a_hypervisor']:
        yield '          not bare metal: this machine is a VM or an emulator'
    yield f'counters  {report["counters"] or "unknown"}'
    yield f'kernel    {m["kernel"]}'
    yield f'KVM       {" ".join(f"{k}={v}" for k, v in m["kvm"].items())}'
    yield f'QEMU      {m["qemu"]}'


def test_lines(t):
    line = f'{"not ok" if t["result"] == "not ok" else "ok"} - {t["name"]} ({t["where"]}, {t["seconds"]} s)'
    yield line + (f' # SKIP {t["why"]}' if t['result'] == 'skip' else '')
    yield from (f'    {x}' for x in t.get('output', ()))


def number(value):
    return f'{value:.3f}' if value < 100 and value != int(value) else f'{value:.0f}'


def row_lines(rows):
    yield f'{"median":>10} {"MAD":>8} {"min":>10} {"max":>10}  n  what'
    for r in rows:
        figures = (number(r[k]) for k in ('median', 'mad', 'min', 'max'))
        yield '{:>10} {:>8} {:>10} {:>10}'.format(*figures) + f' {r["repeats"]:>2}  {r["what"]} ({r["unit"]})'


def lines(report):
    yield f'pvperf on real hardware: {headline(report)}'
    yield ''
    yield from about(report)
    yield from (f'note      {n}' for n in report['notes'])
    yield ''
    for t in report['tests']:
        yield from test_lines(t)
    for c in report['complaints']:
        yield f'kernel complaint on the {c["side"]}, during {c["test"] or "no test"}:'
        yield from (f'    {x}' for x in c['lines'])
    if report['bench']:
        yield ''
        yield from row_lines(report['bench'])


def strings(value):
    """All strings in nested lists and dictionaries, except keys."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, (list, dict)):
        for v in value.values() if isinstance(value, dict) else value:
            yield from strings(v)


def write(report, folder, known):
    """Writes both files, or raises ValueError if the report would identify the owner."""
    report = scrub.cleaned({'result': headline(report), **report}, known)
    text = scrub.clean('\n'.join(lines(report)) + '\n', known)
    left = scrub.found(text + '\n'.join(strings(report)), known)
    if left:
        raise ValueError(f'the report has {", ".join(left)} in it, so it is not written')
    os.makedirs(folder, exist_ok=True)
    for name, content in (('report.txt', text), ('report.json', json.dumps(report, indent=1) + '\n')):
        with open(os.path.join(folder, name), 'w') as f:
            f.write(content)
    return text
