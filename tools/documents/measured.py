# SPDX-License-Identifier: GPL-2.0
"""What the bench has written to Documentation/measured/costs.md."""

import re
import sys

CELL = re.compile(r'([\d,]+) / ([\d,]+)(?: \(([\d.]+)\))?$')


class Bench:
    """What was measured on one kernel."""

    def __init__(self, top, heading='6.12 on 6.12'):
        self.path = 'Documentation/measured/costs.md'
        text = top.joinpath(self.path).read_text()
        parts = text.split(f'\n## {heading}\n')
        if len(parts) != 2:
            sys.exit(f'{self.path}: no heading "{heading}"')
        self.rows = {}
        self.figures = {}
        self.systems = ()
        for line in parts[1].split('\n## ')[0].splitlines():
            self.take([c.strip() for c in line.strip('|').split('|')])
        machine = 1
        for line in text.split('\n## One call\n')[1].splitlines():
            cells = [c.strip() for c in line.strip('|').split('|')]
            if cells[0] == 'figure':
                machine = cells.index(heading.split()[0])
            elif cells[0].startswith('`'):
                self.figures[cells[0].strip('`')] = cells[machine]

    def take(self, cells):
        if cells[0] == 'row':
            self.systems = cells[1:]
        elif any(CELL.match(c) for c in cells):
            self.rows[cells[0]] = dict(zip(self.systems, map(CELL.match, cells[1:])))

    def has(self, row, system):
        return bool(self.rows.get(row, {}).get(system))

    def cell(self, row, system, group):
        """Of a row: 1 its instructions, 2 its exits, 3 its ratio to plain."""
        found = self.rows.get(row, {}).get(system)
        if not found:
            sys.exit(f'{self.path}: no "{row}" of {system}')
        return found[group]
