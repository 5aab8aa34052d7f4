# SPDX-License-Identifier: GPL-2.0
"""The selftests' programs, compiled."""

import fcntl
import os
import shutil
import subprocess
import sys

from .message import die
from .paths import BUILD, TESTS


def overlay(tree):
    """Compile the tests, and put them into @tree as /t of both machines."""
    binaries = os.path.join(BUILD, 'selftests')
    os.makedirs(binaries, exist_ok=True)
    os.makedirs(os.path.join(tree, 't'))
    with open(os.path.join(binaries, '.lock'), 'w') as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if subprocess.call(['make', '-s', 'V=1', '-C', TESTS, f'OUTPUT={binaries}',
                            f'KSELFTEST={BUILD}/kselftest/trixie'], stdout=sys.stderr):
            die('the selftests do not compile, see above', who='selftest')
        for name in sorted(os.listdir(binaries)):
            path = os.path.join(binaries, name)
            if os.path.isfile(path) and os.access(path, os.X_OK):
                shutil.copy(path, os.path.join(tree, 't', name))
