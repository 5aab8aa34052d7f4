# SPDX-License-Identifier: GPL-2.0
"""Excerpts of what `make demo` printed: each is one command and what it said."""

import re
import sys

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
    """@command and what it said, and an empty line."""
    for said, lines in steps(output):
        if said.partition('# ')[2].startswith(command):
            lines = [x for x in lines if not DULL.search(x)]
            return [said, *lines[:LONGEST], *(['...'] if len(lines) > LONGEST else []), '']
    sys.exit(f'pictures: the demo has no "{command}"')
