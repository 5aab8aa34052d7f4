# SPDX-License-Identifier: GPL-2.0
"""Excerpts of what `make demo` printed: each is one command and what it said."""

import re

SCRIPT = 'tools/testing/lab/inside/demo/lab/bin/demo'
COLOUR = re.compile(r'\x1b\[[0-9;]*m')
DULL = re.compile(r'Performance counter stats|seconds (time elapsed|user|sys)')
LONGEST = 14


def steps(output):
    """[(prompt and command, [lines])] of a whole demo."""
    found = []
    for line in COLOUR.sub('', output).splitlines():
        if re.match(r'(guest|host)# ', line):
            found.append((line, []))
        elif not line.strip() or line.startswith('==='):
            found.append(('', []))
        elif found:
            found[-1][1].append(line.rstrip())
    return found


def excerpt(output, command):
    """The lines of the block "demo @command"; None if the demo had no such command."""
    for said, lines in steps(output):
        if said.partition('# ')[2].startswith(command):
            lines = [x for x in lines if not DULL.search(x)]
            if len(lines) > LONGEST:
                lines = [*lines[:LONGEST], '...']
            return ['', '    ' + said, *('    ' + x for x in lines), '']
    return None


def wrong(top, block, command):
    """What is wrong with a block without running the demo: its command isn't the demo's."""
    shown = [x.strip().partition('# ')[2] for x in block.body if re.match(r'    (guest|host)# ', x)]
    script = top.joinpath(SCRIPT).read_text().replace('\\$', '$')
    if not shown or not shown[0].startswith(command) or shown[0] not in script:
        yield f'{block}: make demo has no "{shown[0] if shown else command}"; tools/testing/lab/demo --write'
