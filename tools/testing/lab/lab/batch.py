# SPDX-License-Identifier: GPL-2.0
"""Tests that run one after the other in a boot, and what came of each."""

import collections
import re
import shlex

SKIPPED = 4         # kselftest's exit status for "skip"
# What a test needs, by its WHERE: without it most would skip all that they have.
NEEDS = {
    'host': ('/sys/module/pvperf_host', 'pvperf_host is not loaded, see host.log'),
    'guest': ('/sys/bus/event_source/devices/pvperf', 'pvperf_guest has no PMU here, see guest.log'),
}
# .seconds are the machine's, .wall those of who waits for it.
Result = collections.namedtuple('Result', 'verdict seconds output wall', defaults=[0])


def need(where):
    """A command that prints a failed result if the module under test is not there."""
    path, why = NEEDS.get(where, ('/', ''))
    return f'[ -e {path} ] || echo "not ok - {why}"'


def command(tests):
    """The command of one boot: its tests one after the other, each marked, and after each
    a look at what it has left behind at the host."""
    there = 'host ' if tests[0].where != 'host' else ''
    lines = ['cd /t', f'{there}/t/ledger.sh open || exit 99']
    for t in tests:
        lines += [f'export LAB_TEST={t.name}']
        # Of the level "warning", so that the console has the mark, too, before its lines.
        mark = f'echo "<4>lab: test {t.name}" > /dev/kmsg'
        lines += [mark] + ([f"host '{mark}'"] if there else [])
        lines += [f'echo; echo "@@lab begin {t.name}"; lab_start=$(cut -d " " -f 1 /proc/uptime)',
                  need(t.where),
                  f'timeout -k 5 {t.timeout} sh -c {shlex.quote(t.command)} < /dev/null 2>&1',
                  f'lab_rc=$?; {there}/t/ledger.sh || [ $? = 1 ] || echo "not ok - the ledger did not run"',
                  f'echo; echo "@@lab end {t.name} $lab_rc $lab_start $(cut -d " " -f 1 /proc/uptime)"']
    # Only a debug kernel has something to say. A complaint fails the test that came last.
    lines += [f'{side}/t/last.sh || exit 98' for side in dict.fromkeys((there, ''))]
    return '\n'.join(lines + ['exit 0'])


def said(lines):
    """{test: (status, seconds, its lines)} of what a batch printed, and the test that the
    machine ended in, which has no status; None if it ended in none."""
    results, current = {}, None
    for line in lines:
        mark = re.match(r'@@lab (begin|end) (\S+) ?(.*)', line)
        if not mark:
            if current:
                results[current][2].append(line)
        elif mark.group(1) == 'begin':
            current = mark.group(2)
            results[current] = (None, 0, [])
        else:
            rc, begun, ended = mark.group(3).split()
            text = '\n'.join(results[current][2]).rstrip().split('\n')
            results[current], current = (int(rc), float(ended) - float(begun), text), None
    return results, current


def judge(test, rc, seconds, output, complaints):
    bad = [x for x in output if re.match(r'not ok\b(?!.*# (TODO|SKIP))', x)]
    if rc == 0 and not any(re.match(r'ok\b', x) for x in output):
        bad = ['not ok - it ran no test']
        output = output + bad
    if complaints:
        output = output + [''] + [f'{side} kernel: {x}' for side, _, _, lines in complaints for x in lines]
    if rc is None:
        output = output + ['the machine died or hung in this test']
    elif rc in (124, 137, 143):
        output = output + [f'stopped after {test.timeout} s']
    elif rc not in (0, SKIPPED):
        output = output + [f'exit status {rc}']
    if rc == SKIPPED and not bad and not complaints:
        return Result('skip', seconds, output)
    return Result('ok' if rc == 0 and not bad and not complaints else 'not ok', seconds, output)
