# SPDX-License-Identifier: GPL-2.0
"""One overflow over guest and host in time, as the host's trace events tell it."""

import re

import svg

COMMAND = '''t=/sys/kernel/tracing
host "cd $t; echo x86-tsc > trace_clock; for e in kvm/kvm_exit kvm/kvm_entry pvperf; do echo 1 > events/\\$e/enable; done"
perf record -q -e instructions:u -c 5000000 -o /tmp/d loop > /dev/null
host "cd $t; echo 0 > tracing_on; cat trace"'''
EVENT = re.compile(r'\s(\d+): (pvperf_overflow|pvperf_inject|kvm_exit|kvm_entry): ')
WANTED = ('pvperf_overflow', 'pvperf_inject', 'kvm_exit', 'kvm_entry', 'kvm_exit', 'kvm_entry')
WIDTH, LEFT = 760, 60


def moments(lines):
    """The times of WANTED, from the first, of the overflow in the trace that took least: no
    tick, no second NMI."""
    events = [(int(m[1]), m[2]) for m in map(EVENT.search, lines) if m]
    runs = [events[i:i + len(WANTED)] for i in range(len(events))]
    runs = [[t - run[0][0] for t, _ in run] for run in runs if tuple(name for _, name in run) == WANTED]
    return min(runs, key=lambda times: times[-1])


def graph(lab):
    _, inject, out, into, leave, back = moments(lab(COMMAND))
    at = lambda t: LEFT + 70 + t * 530 / back
    lanes = (
        ('guest', 30, (('e', None, 0, 'program'), ('a', into, leave, "NMI: the sample is written"), ('e', back, None, 'program'))),
        ('host', 96, (('b', 0, into, 'overflow, its page, NMI for the vCPU'), ('b', leave, back, 'end of NMI'))),
    )
    parts = []
    for name, y, spans in lanes:
        parts.append(svg.text(0, y + 22, name, 'bold'))
        for kind, start, end, words in spans:
            x1 = LEFT if start is None else at(start)
            x2 = WIDTH if end is None else at(end)
            parts += [svg.rect(x1, y, x2 - x1 - 1, 34, kind), svg.text((x1 + x2) / 2, y + 21, words, 'mid in')]
    marks = (('pvperf_overflow', 0), ('pvperf_inject', inject), ('kvm_exit', out), ('kvm_entry', into), ('kvm_exit (iret)', leave), ('kvm_entry', back))
    for n, (name, t) in enumerate(marks):
        y, side, end = 150 + 17 * n, *((5, '') if t < back else (-5, ' end'))
        parts += [svg.line(at(t), 26, at(t), y + 3), svg.text(at(t) + side, y + 2, f'{name} {t:,}', 'dim' + end)]
    parts.append(svg.text(0, 264, "Instructions since the overflow was seen, by the host's trace events (their own cost is in it). Kernel 6.12, AMD.", 'dim'))
    told = ', '.join(f'{name} at {t}' for name, t in marks)
    style = '<style>.in { font: 11px sans-serif; fill: #111 !important }</style>'
    return svg.picture(WIDTH, 270, 'One overflow over guest and host', f'Instructions since the overflow: {told}', [style, *parts])
