# SPDX-License-Identifier: GPL-2.0
"""A flame graph of what `perf script -F comm,ip,sym,dso` printed."""

import re

import svg

WIDTH, ROW = 760, 17
FRAME = re.compile(r'\s+[0-9a-f]+ (.+) \((.*)\)$')


def stacks(lines):
    """[[(function, in the kernel?), outermost first]] of the samples; the first is the program."""
    found, frames, comm = [], [], None
    for line in [*lines, '']:
        m = FRAME.match(line)
        if m:
            if m[1] != '[unknown]':
                frames.append((m[1].strip(), m[2].startswith('[')))
        elif line.strip():
            comm = line.strip(), False
        elif comm:
            found.append([comm, *reversed(frames)])
            frames, comm = [], None
    return found


def tree(stacks):
    """{(function, kernel): [samples, {the same of those that it called}]}"""
    root = {}
    for stack in stacks:
        at = root
        for name in stack:
            node = at.setdefault(name, [0, {}])
            node[0] += 1
            at = node[1]
    return root


def depth(nodes):
    return 1 + max((depth(n[1]) for n in nodes.values()), default=0) if nodes else 0


def draw(nodes, x, y, each):
    """Boxes of @nodes from @x on, those that they call above; each sample is @each wide."""
    for (name, kernel), (samples, called) in sorted(nodes.items()):
        width = samples * each
        if width >= 1:
            fits = int((width - 6) / 6.6)
            yield '<g>' + svg.rect(x, y, max(width - 1, .5), ROW - 1, 'b' if kernel else 'e') + \
                f'<title>{svg.escape(name)}: {samples} samples</title>' + \
                (svg.text(x + 3, y + 12, name if len(name) <= fits else name[:fits - 1] + '…', 'frame') if fits > 3 else '') + '</g>'
            yield from draw(called, x, y - ROW, each)
        x += width


def graph(lines, command):
    found = stacks(lines)
    nodes = tree(found)
    high = depth(nodes) * ROW
    legend = [svg.rect(0, 4, 12, 12, 'e'), svg.text(18, 15, 'user'), svg.rect(70, 4, 12, 12, 'b'),
              svg.text(88, 15, 'kernel'), svg.text(WIDTH, 15, command, 'code end')]
    boxes = list(draw(nodes, 0, high + 8, WIDTH / max(len(found), 1)))
    style = '<style>.frame { font: 11px monospace; fill: #111 !important }</style>'
    return svg.picture(WIDTH, high + 30, 'A flame graph taken in a guest',
                       f'{len(found)} samples of "{command}" in a guest without a PMU, user and kernel: '
                       + ', '.join(f'{n} {s[0] * 100 // len(found)} %' for n, s in hottest(found)), [style, *legend, *boxes])


def hottest(found):
    """The five functions that most samples hit."""
    hits = {}
    for stack in found:
        hits.setdefault(stack[-1][0], [0])[0] += 1
    return sorted(hits.items(), key=lambda x: -x[1][0])[:5]
