# SPDX-License-Identifier: GPL-2.0
"""The lines of tests.list."""

import collections
import re

from .message import die

Test = collections.namedtuple('Test', 'name where mode flags smp timeout command')
FLAGS = {'intel', 'both', 'each', 'long', 'silicon', 'v2', 'lbr', 'tells', 'measures', 'hybrid', 'unlike'}


def read(path):
    tests = []
    with open(path) as f:
        for n, line in enumerate(f, 1):
            line = line.strip()
            if not line or line.startswith('#'):
                continue
            field = line.split(None, 6)
            flags = [] if field[3:4] == ['-'] else field[3:4] and field[3].split(',')
            if (len(field) < 7 or field[1] not in ('guest', 'host', 'guest-bare') or field[2] not in ('icount', 'plain')
                    or set(flags) - FLAGS or not re.fullmatch(r'\d+,\d+', field[4])):
                die(f'{path}:{n}: want NAME WHERE MODE FLAGS SMP TIMEOUT COMMAND, see the top of the file', who='selftest')
            tests.append(Test(*field[:3], flags, field[4], int(field[5]), field[6]))
    return tests
