# SPDX-License-Identifier: GPL-2.0
"""Pictures as SVG: light, or dark where the reader's system is, with a text for those who
do not see them."""

from xml.sax.saxutils import escape

STYLE = '''text { font: 13px sans-serif; fill: #222 } .dim { fill: #666 } .code { font: 12px monospace }
.bold { font-weight: bold } .end { text-anchor: end } .mid { text-anchor: middle } .box { fill: #f2f3f5; stroke: #888 }
.line { stroke: #888; fill: none } .a { fill: #2a9d63 } .b { fill: #4a7fc0 } .c { fill: #cc5a3c } .d { fill: #999 }
@media (prefers-color-scheme: dark) { text { fill: #ddd } .dim { fill: #9a9a9a } .box { fill: #222528 } .e { fill: #dcb15c } }
.e { fill: #e8a33d }'''


def text(x, y, words, kind=''):
    return f'<text x="{x:g}" y="{y:g}" class="{kind}" xml:space="preserve">{escape(words)}</text>'


def rect(x, y, width, height, kind, more=''):
    return f'<rect x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" class="{kind}"{more}/>'


def line(x1, y1, x2, y2):
    return f'<path class="line" d="M{x1:g} {y1:g} L{x2:g} {y2:g}"/>'


def arrow(x1, y1, x2, y2):
    """A vertical or horizontal line with a head."""
    dx, dy = (x2 > x1) - (x2 < x1), (y2 > y1) - (y2 < y1)
    head = f'M{x2 - 7 * dx - 4 * dy:g} {y2 - 7 * dy - 4 * dx:g} L{x2:g} {y2:g} L{x2 - 7 * dx + 4 * dy:g} {y2 - 7 * dy + 4 * dx:g}'
    return line(x1, y1, x2, y2) + f'<path class="line" d="{head}"/>'


def picture(width, height, title, description, parts):
    return (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height:g}" width="{width:g}" '
            f'role="img" aria-labelledby="title desc">\n'
            f'<!-- SPDX-License-Identifier: GPL-2.0 -->\n<!-- Drawn by tools/documents/pictures. -->\n'
            f'<title id="title">{escape(title)}</title>\n<desc id="desc">{escape(description)}</desc>\n'
            f'<style>{STYLE}</style>\n' + '\n'.join(parts) + '\n</svg>\n')
