# SPDX-License-Identifier: GPL-2.0
"""From the marks that a boot leaves to figures.

A mark is what QEMU has counted so far; a row's work is what lies between two of
them. Rows are done with a little and with much work: a ratio is of the difference,
without what a program needs to start and to end.
"""

import re
import statistics

MARK = re.compile(r'QM (\S+)\.(\d+)\.(\d+)\.([ab]) (.*)')
FIGURES = {'total': 'total', 'host': 'host', 'guest': 'guest', 'exits': 'vmexits', 'calls': 'x081',
           'overflows': 'pmi', 'steps': 'x041'}
SECONDS = ('idle', 'interval')      # kinds of rows whose unit of work is to sleep for a second


def works(lines):
    """{row: {amount of work: [what it took, once per repeat]}}; the warm-up is left out."""
    marks = {}
    for line in lines:
        m = MARK.match(line.strip())
        if m:
            values = {k: int(v) for k, v in (f.split('=') for f in m[5].split())}
            marks.setdefault((m[1], int(m[2]), int(m[3])), {})[m[4]] = values
    rows = {}
    for (row, amount, repeat), ends in marks.items():
        # "open" has no warm-up: each of its repeats is another event.
        if len(ends) == 2 and (repeat or row.startswith('open')):
            took = {f: ends['b'].get(k, 0) - ends['a'].get(k, 0) for f, k in FIGURES.items()}
            # Of these, KVM steps over the end of an NMI behind which the next one waits:
            # their number says how overflows happened to meet, not what one costs.
            took['unstepped'] = took['exits'] - took['steps']
            rows.setdefault(row, {}).setdefault(amount, []).append(took)
    return rows


def middle(repeats, figure):
    return statistics.median_low(sorted(r[figure] for r in repeats))


def rows_of(lines):
    """{row: {figure: number}}, and per unit of work as .per_total and so on."""
    result = {}
    for row, amounts in works(lines).items():
        few, many = min(amounts), max(amounts)
        result[row] = {f: middle(amounts[many], f) for f in amounts[many][0]}
        if few != many:
            for f in result[row].copy():
                more = middle(amounts[many], f) - middle(amounts[few], f)
                result[row]['per_' + f] = more / (many - few)
    return result


def told(lines):
    """What a program says of itself: "figure KEY VALUE"."""
    found = (re.match(r'figure (\S+) (-?\d+(?:\.\d+)?)$', line.strip()) for line in lines)
    return {m[1]: float(m[2]) if '.' in m[2] else int(m[2]) for m in found if m}


def base_of(row, figure, plain):
    """A row's figure in the plain guest: there all pipes are one."""
    kind = row.split('.')[0]
    alike = [r[figure] for name, r in plain.items() if name.split('.')[0] == kind and figure in r]
    return statistics.median_low(alike) if alike else None


def compared(rows, plain):
    """Adds what can be said only beside the plain guest: each row's ratio to it, of what
    a unit of work takes, and what exits an overflow brings. A plain second is next to
    nothing, and two may take less than one: of seconds, the whole is compared."""
    for row, r in rows.items():
        figure = 'total' if row.split('.')[0] in SECONDS else 'per_total'
        base = base_of(row, figure, plain)
        if base:
            r['ratio'] = r[figure] / base
        if r['overflows'] and row in plain:
            r['per_overflow'] = (r['unstepped'] - plain[row]['exits']) / r['overflows']
