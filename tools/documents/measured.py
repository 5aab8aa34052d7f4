# SPDX-License-Identifier: GPL-2.0
"""Figures that other documents repeat, from the tables that the bench has written.

Documentation/performance.md is where `bench --write` puts what it has measured; no
figure is kept twice.
"""

import re

from blocks import Wrong

ORDER = ('plain', 'pvperf', 'emulated')
HEADS = ('', 'nobody counts', 'pvperf', "KVM's emulated vPMU")
CELL = re.compile(r'([\d,]+) / ([\d,]+)(?: \(([\d.]+)\))?$')


class Bench:
    """What was measured on one kernel."""

    def __init__(self, top, heading='6.12 on 6.12'):
        self.path = 'Documentation/performance.md'
        text = top.joinpath(self.path).read_text()
        parts = text.split(f'\n## {heading}\n')
        if len(parts) != 2:
            raise Wrong(f'{self.path}: no heading "{heading}"')
        self.rows, self.values = {}, {}
        self.systems = ()
        for line in parts[1].split('\n## ')[0].splitlines():
            self.take([c.strip() for c in line.strip('|').split('|')])

    def take(self, cells):
        if cells[0] == 'row':
            self.systems = cells[1:]
        elif len(cells) == 2 and cells[0].startswith('`'):
            self.values[cells[0].strip('`')] = cells[1]
        elif any(CELL.match(c) for c in cells):
            self.rows[cells[0]] = dict(zip(self.systems, map(CELL.match, cells[1:])))

    def cell(self, row, system, group):
        """Of a row: 1 its instructions, 2 its exits, 3 its ratio to plain."""
        found = self.rows.get(row, {}).get(system)
        if not found:
            raise Wrong(f'{self.path}: no "{row}" of {system}')
        return found[group]

    def value(self, key):
        if key not in self.values:
            raise Wrong(f'{self.path}: no `{key}`')
        return self.values[key]


def table(head, rows):
    line = lambda cells: ('| ' + ' | '.join(cells)).rstrip() + ' |'
    return [line(head), line(['---'] + ['---:'] * (len(head) - 1)), *map(line, rows)]


def cost(top):
    """README's table of what counting costs."""
    bench = Bench(top)

    def ratios(text, row):
        return [text] + [bench.cell(row, s, 3) for s in ORDER]

    def exits(text, row):
        return [text] + [bench.cell(row, s, 2) for s in ORDER]

    return table(HEADS, [
        ratios('`perf bench sched pipe`, 6 events', 'pipe, 6 events'),
        exits('... exits of the guest in 2000 round trips', 'pipe, 6 events'),
        ratios('only one of the two processes counted: each switch starts or stops 6 events',
               'pipe, one process of two, 6 events'),
        exits('... exits', 'pipe, one process of two, 6 events'),
        ratios('`perf record -F 1000 -a`, 6 events', 'pipe, record -F 1000 -a, 6 events'),
        ["a hypercall that isn't pvperf's, instructions", bench.value('calls.foreign.hypercall.without'),
         bench.value('calls.foreign.hypercall.loaded'), ''],
    ])
