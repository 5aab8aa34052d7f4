# SPDX-License-Identifier: GPL-2.0
"""Marked blocks of a document.

In Markdown a block lies between two comments, in reStructuredText, too:

    <!-- begin KIND -->         .. begin KIND
    <!-- end KIND -->           .. end KIND

"begin" says that a program writes what is between, "list" in its place that a
person writes a list there, and a program compares the names in it.
"""

import re

MARK = {
    '.md': re.compile(r'<!-- (begin|list|end) (\S.*?) -->$'),
    '.rst': re.compile(r'\.\. (begin|list|end) (\S.*?)$'),
}


class Wrong(Exception):
    """A document that can't be understood; says where and why."""


class Block:
    def __init__(self, path, line, kind, lists):
        self.path, self.line, self.kind, self.lists = path, line, kind, lists
        self.body = []

    def __str__(self):
        return f'{self.path}:{self.line}'


def parse(path, text, suffix):
    """The document as a list of lines and Blocks; a mark is a line, too."""
    parts, block = [], None
    for number, line in enumerate(text.splitlines(), 1):
        mark = MARK[suffix].match(line)
        if mark and mark[1] == 'end':
            if not block or block.kind != mark[2]:
                raise Wrong(f'{path}:{number}: end {mark[2]} without its begin')
            parts += [block, line]
            block = None
        elif mark:
            if block:
                raise Wrong(f'{path}:{number}: {mark[1]} {mark[2]} in the block of line {block.line}')
            parts.append(line)
            block = Block(path, number, mark[2], mark[1] == 'list')
        else:
            (block.body if block else parts).append(line)
    if block:
        raise Wrong(f'{path}:{block.line}: {block.kind} has no end')
    return parts


def join(parts):
    lines = []
    for part in parts:
        lines += part.body if isinstance(part, Block) else [part]
    return '\n'.join(lines) + '\n'


def first_names(block):
    """The names that entries begin with: `a`, `b` in a table's first column or in a list,
    or, where Markdown has none, the first words of indented lines."""
    starts = [re.match(r'(?:\| *|\* +)?((?:``?[^`]+``?(?:, *)?)+)', line) for line in block.body]
    if any(starts) or block.path.suffix != '.md':
        return [name for m in starts if m for name in re.findall(r'``?([^`]+)``?', m[1])]
    return [line.split()[0] for line in block.body if re.match(r' {4,}\S', line)]


def mentions(block, name):
    """Does this name stand anywhere in the block, as a word?"""
    return re.search(rf'(?<![\w./-]){re.escape(name)}(?![\w-])', '\n'.join(block.body))
