# SPDX-License-Identifier: GPL-2.0
"""The figures as tables."""

import re

from lab import markdown

ROWS = {
    'pipe.stat1': 'pipe, 1 event', 'pipe.stat2': 'pipe, 2 events', 'pipe.stat4': 'pipe, 4 events',
    'pipe.stat6': 'pipe, 6 events', 'pipe.record6': 'pipe, record -F 1000 -a, 6 events',
    'half.stat6': 'pipe, one process of two, 6 events', 'interval.stat6': 'stat -a -I 100, 4 vCPUs, 6 events',
    'idle': 'nobody counts', 'open': 'open an event', 'openagain': '... that the host has already',
    'opendisabled': '... disabled',
}


def table(head, rows):
    return markdown.table(head, rows, '---:')


def cell(r):
    """Total and exits, and the ratio if there is one."""
    if not r:
        return ''
    text = f"{r['total']:,} / {r['exits']:,}"
    return text + (f" ({r['ratio']:.2f})" if 'ratio' in r else '')


def rows_table(systems):
    """@systems: {system: {row: figures}}."""
    rows = [[text] + [cell(systems[s].get(row)) for s in systems] for row, text in ROWS.items()
            if any(row in systems[s] for s in systems)]
    return table(['row', *systems], rows)


# What the documents name, or a reader looks for.
CALLS = re.compile(r'calls\.(foreign\..*\.cost|(open|close|with\d+|most|flat|branches)\..*|batch64\.(hwread\.)?entry)$')


def calls_table(machines):
    """@machines: {machine: figures}."""
    keys = dict.fromkeys(k for figures in machines.values() for k in figures if CALLS.match(k))
    return table(['figure', *machines],
                 [[f'`{k}`', *(f'{f[k]:,}' if k in f else '' for f in machines.values())] for k in keys])
