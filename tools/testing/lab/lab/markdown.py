# SPDX-License-Identifier: GPL-2.0
"""Tables of Markdown."""


def table(head, rows, rule='---'):
    """@rule is the line below all headings but the first: '---:' aligns numbers."""
    line = lambda cells: '| ' + ' | '.join(cells) + ' |\n'
    return line(head) + line(['---'] + [rule] * (len(head) - 1)) + ''.join(map(line, rows))
