# SPDX-License-Identifier: GPL-2.0
"""What comes out of a machine while it runs, as files in its log folder."""

import contextlib
import os
import sys

from .message import say


class Follow:
    """Copies a growing file to standard output."""

    def __init__(self, path):
        self.path, self.f = path, None

    def copy(self):
        if not self.f:
            if not os.path.exists(self.path):
                return
            self.f = open(self.path, 'rb')
        with contextlib.suppress(BrokenPipeError):
            sys.stdout.buffer.write(self.f.read())
            sys.stdout.buffer.flush()


def status_tell(path, told):
    """Print what the host reported after line @told. Returns the number of lines, and the
    exit status if there is one."""
    try:
        with open(path, errors='replace') as f:
            lines = f.read().split('\n')[:-1]
    except FileNotFoundError:
        return told, None
    status = None
    for line in lines:
        kind, _, rest = line.partition(' ')
        if kind == 'exit':
            status = int(rest)
    for line in lines[told:]:
        if not line.startswith('exit '):
            say(line.replace('note ', '').replace('up host', 'host up:').replace('up guest', 'guest up:'))
    return len(lines), status


def tail(path, lines=25):
    try:
        with open(path, errors='replace') as f:
            text = f.read().splitlines()[-lines:]
    except FileNotFoundError:
        return
    if text:
        print(f'--- {os.path.basename(path)}', *text, sep='\n    ', file=sys.stderr)
