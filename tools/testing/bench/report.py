# SPDX-License-Identifier: GPL-2.0
"""The figures as tables, and as one HTML page with charts and without links."""

import html
import math
import re

from lab import markdown

ROWS = {
    'pipe.stat1': 'pipe, 1 event', 'pipe.stat2': 'pipe, 2 events', 'pipe.stat4': 'pipe, 4 events',
    'pipe.stat6': 'pipe, 6 events', 'pipe.record6': 'pipe, record -F 1000 -a, 6 events',
    'half.stat6': 'pipe, one process of two, 6 events', 'interval.stat6': 'stat -a -I 100, 4 vCPUs, 6 events',
    'idle': 'nobody counts', 'open': 'open an event', 'openagain': '... that the host has already',
    'opendisabled': '... disabled',
}
COLOURS = {'plain': '#999', 'pvperf': '#2a7', 'mediated': '#47b', 'emulated': '#c53', 'bare': '#a83'}


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


def parts_table(system, rows):
    """All figures of one system's rows."""
    figures = ('total', 'host', 'guest', 'exits', 'overflows')
    line = lambda row, r: [ROWS.get(row, row), *(f'{r[f]:,}' for f in figures),
                           f"{r['ratio']:.2f}" if 'ratio' in r else '']
    return table([system, *figures, 'ratio'], [line(row, rows[row]) for row in ROWS if row in rows])


def per_table(rows):
    """The cost of a unit of work, of one system's rows."""
    line = lambda row, r: [ROWS.get(row, row)] + [f"{r['per_' + f]:z,.2f}".removesuffix('.00') if f in ('exits', 'calls')
                                                  else f"{r['per_' + f]:z,.0f}" for f in
                                                  ('total', 'host', 'guest', 'exits', 'calls')]
    return table(['row, each', 'total', 'host', 'guest', 'exits', 'calls'],
                 [line(row, rows[row]) for row in ROWS if 'per_total' in rows.get(row, {})])


def keys_table(figures):
    return table(['figure', 'value'], [[f'`{k}`', f'{v:,}'] for k, v in figures.items()])


# What the documents name, or a reader looks for.
CALLS = re.compile(r'calls\.(foreign\..*\.cost|(open|close|with\d+|most|flat|memory|branches)\..*|batch64\.(hwread\.)?entry)$'
                   r'|(latency\.median|skid\.max)\.pvperf$')


def calls_table(machines):
    """@machines: {machine: figures}."""
    keys = dict.fromkeys(k for figures in machines.values() for k in figures if CALLS.match(k))
    return table(['figure', *machines],
                 [[f'`{k}`', *(f'{f[k]:,}' if k in f else '' for f in machines.values())] for k in keys])


def bars(systems):
    """Ratios to plain as bars on a logarithmic scale."""
    out, y = [], 0
    longest = max([r.get('ratio', 1) for s in systems.values() for r in s.values()] + [2])
    for row, text in ROWS.items():
        shown = [(s, systems[s][row]['ratio']) for s in systems if 'ratio' in systems[s].get(row, {})]
        if not shown:
            continue
        out.append(f'<text x="0" y="{y + 14}" class="row">{html.escape(text)}</text>')
        y += 20
        for s, ratio in shown:
            width = 4 + 560 * max(0, math.log(max(ratio, 1))) / math.log(longest)
            out.append(f'<rect x="90" y="{y}" width="{width:.1f}" height="14" fill="{COLOURS.get(s, "#888")}"/>'
                       f'<text x="84" y="{y + 12}" class="name">{s}</text>'
                       f'<text x="{width + 96:.1f}" y="{y + 12}">{ratio:.2f}</text>')
            y += 18
        y += 8
    return f'<svg width="760" height="{y}" role="img">{"".join(out)}</svg>'


def html_table(markdown):
    lines = [x.strip('| \n').split(' | ') for x in markdown.splitlines() if x]
    row = lambda cells, tag: '<tr>' + ''.join(f'<{tag}>{html.escape(c)}</{tag}>' for c in cells) + '</tr>'
    return '<table>' + row(lines[0], 'th') + ''.join(row(x, 'td') for x in lines[2:]) + '</table>'


STYLE = '''body { font: 14px sans-serif; max-width: 60em; margin: 2em auto; color: #222 }
td, th { padding: .2em .7em; text-align: right; border-bottom: 1px solid #ddd }
td:first-child, th:first-child { text-align: left }
svg text { font-size: 12px } .row { font-weight: bold } .name { text-anchor: end }'''


def page(parts):
    """@parts: [(heading, {system: rows}, [markdown table])]."""
    body = ''
    for heading, systems, tables in parts:
        body += f'<h2>{html.escape(heading)}</h2>'
        if systems:
            body += '<p>Times plain, per unit of work (logarithmic).</p>' + bars(systems)
        body += ''.join(map(html_table, tables))
    return ('<!DOCTYPE html><html lang="en"><meta charset="utf-8"><title>pvperf: the cost</title>'
            f'<style>{STYLE}</style><h1>pvperf: the cost, in instructions</h1>{body}</html>\n')
