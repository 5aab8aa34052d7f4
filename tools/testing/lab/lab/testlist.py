# SPDX-License-Identifier: GPL-2.0
"""The lines of tests.list."""

import collections
import re

from .message import die

Test = collections.namedtuple('Test', 'name where mode smp timeout command flags')


def read(path):
    tests = []
    with open(path) as f:
        for n, line in enumerate(f, 1):
            line = line.strip()
            if not line or line.startswith('#'):
                continue
            field = line.split(None, 5)
            if (len(field) < 6 or field[1] not in ('guest', 'host', 'guest-bare')
                    or not re.fullmatch(r'(icount|plain)(\+(v2|intel|both|each|long|silicon))*', field[2]) or not re.fullmatch(r'\d+,\d+', field[3])):
                die(f'{path}:{n}: want NAME guest|host|guest-bare icount|plain[+v2][+intel][+both][+each][+long][+silicon] N,M TIMEOUT COMMAND', who='selftest')
            mode, *flags = field[2].split('+')
            mode += '+v2' if 'v2' in flags else ''
            tests.append(Test(*field[:2], mode, field[3], int(field[4]), field[5], flags))
    return tests
