# SPDX-License-Identifier: GPL-2.0
"""What tests may skip: the lines of skips.list. Any other skip is a failure, as it is most
often a test that has lost what it needs."""

import os
import re

from .message import die
from .paths import TESTS

LIST = os.path.join(TESTS, 'skips.list')


def read():
    """[(test, kernel, CPU, pattern of "NAME: WHY")]."""
    found = []
    with open(LIST) as f:
        for n, line in enumerate(f, 1):
            field = line.strip().split(None, 3)
            if not field or field[0].startswith('#'):
                continue
            if len(field) < 4:
                die(f'{LIST}:{n}: want TEST KERNEL CPU PATTERN', who='selftest')
            found.append((*field[:3], re.compile(field[3])))
    return found


def said(output):
    """"NAME: WHY" of each skip within a test, and ": WHY" of a test that skips itself."""
    for line in output:
        m = re.match(r'(?:# )*ok \d+(?: -)? (.*?) *# SKIP *(.*)|(?:# )*1\.\.0 # SKIP *(.*)', line)
        if m:
            yield f'{m[1] or ""}: {m[2] if m[1] else m[3]}'


def allowed(known, test, kernel, cpu, skip):
    kernels = '*', kernel, kernel.partition('-')[0]
    return any(test == t and k in kernels and c in ('*', cpu) and pattern.fullmatch(skip)
               for t, k, c, pattern in known)
