# SPDX-License-Identifier: GPL-2.0
"""Figures from the marks that a boot prints.

A mark has what QEMU has counted so far; a row's cost is the difference of two marks. Each
row is done with a little and with much work. A ratio compares the differences of these
two, which do not have the start and the end of the programs.
"""

import re
import statistics

MARK = re.compile(r'QM (\S+)\.(\d+)\.(\d+)\.([ab]) (.*)')
FIGURES = {'total': 'total', 'host': 'host', 'guest': 'guest', 'exits': 'vmexits', 'calls': 'x081',
           'overflows': 'pmi', 'steps': 'x041'}
SECONDS = ('idle', 'interval')      # kinds of rows whose unit of work is to sleep for a second


def works(lines):
    """{row: {amount of work: [what each repeat used]}}, without the warm-up."""
    marks = {}
    for line in lines:
        m = MARK.match(line.strip())
        if m:
            values = {k: int(v) for k, v in (f.split('=') for f in m[5].split())}
            marks.setdefault((m[1], int(m[2]), int(m[3])), {})[m[4]] = values
    rows = {}
    for (row, amount, repeat), ends in marks.items():
        # "open" has no warm-up, as each repeat opens another event.
        if len(ends) == 2 and (repeat or row.startswith('open')):
            used = {f: ends['b'].get(k, 0) - ends['a'].get(k, 0) for f, k in FIGURES.items()}
            # Steps are exits at which KVM steps over the end of an NMI because the next one
            # waits. Their number depends on which overflows happen to coincide.
            used['unstepped'] = used['exits'] - used['steps']
            rows.setdefault(row, {}).setdefault(amount, []).append(used)
    return rows


def kind(row):
    return row.split('.')[0]


def middle(repeats, figure):
    return statistics.median_low(sorted(r[figure] for r in repeats))


def took(amounts):
    """{figure: number} of a row; .per_FIGURE are of a unit of work."""
    few, many = min(amounts), max(amounts)
    result = {f: middle(amounts[many], f) for f in amounts[many][0]}
    if few != many:
        for f in result.copy():
            more = middle(amounts[many], f) - middle(amounts[few], f)
            result['per_' + f] = more / (many - few)
    return result


def rows_of(lines):
    """{row: {figure: number}}."""
    return {row: took(amounts) for row, amounts in works(lines).items()}


def one_of(row):
    """Of a row that repeats one operation, the cost of one, and nothing else."""
    return {f: round(row['per_' + f]) for f in [*FIGURES, 'unstepped']}


def like(row, amounts):
    """Rows that do the same amounts of the same work: what one takes tells what others take."""
    return kind(row), *sorted(amounts)


def likes_of(lines):
    """{row: like()}"""
    return {row: like(row, amounts) for row, amounts in works(lines).items()}


def bases_of(lines):
    """Of the plain guest, {like(): {figure: number}}: without counters all pipes of the same
    amounts do the same, so their repeats count as repeats of one row."""
    kinds = {}
    for row, amounts in works(lines).items():
        for amount, repeats in amounts.items():
            kinds.setdefault(like(row, amounts), {}).setdefault(amount, []).extend(repeats)
    return {k: took(amounts) for k, amounts in kinds.items()}


def told(lines):
    """The figures that a program prints: "figure KEY VALUE"."""
    found = (re.match(r'figure (\S+) (-?\d+(?:\.\d+)?)$', line.strip()) for line in lines)
    return {m[1]: float(m[2]) if '.' in m[2] else int(m[2]) for m in found if m}


def compared(rows, plain, likes, bases):
    """Add what needs the plain guest: each row's ratio to it and what it takes more, of a unit of
    work, and the exits of an overflow. Rows whose unit is a second compare the whole work, because a
    second of sleep costs the plain guest so little that two may cost less than one."""
    for row, r in rows.items():
        figure = 'total' if kind(row) in SECONDS else 'per_total'
        base = bases.get(likes.get(row), {}).get(figure)
        if base:
            r['ratio'] = r[figure] / base
            r['more'] = r[figure] - base
        if r['overflows'] and row in plain:
            r['per_overflow'] = (r['unstepped'] - plain[row]['exits']) / r['overflows']
