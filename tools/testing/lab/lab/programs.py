# SPDX-License-Identifier: GPL-2.0
"""The selftests' programs, compiled."""

import fcntl
import os
import subprocess
import sys

from .message import die
from .paths import BUILD, TESTS


def overlay(tree):
    """Install the tests into @tree: as /t of both machines, and as a collection of /kselftest."""
    binaries = os.path.join(BUILD, 'selftests')
    installed = os.path.join(tree, 'kselftest')
    os.makedirs(binaries, exist_ok=True)
    os.makedirs(os.path.join(tree, 't'))
    os.mkdir(installed)
    os.symlink('../t', os.path.join(installed, 'pvperf'))
    with open(os.path.join(binaries, '.lock'), 'w') as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if subprocess.call(['make', '-s', f'-j{os.cpu_count()}', 'V=1', '-C', TESTS, f'OUTPUT={binaries}', f'INSTALL_PATH={installed}',
                            f'KSELFTEST={BUILD}/kselftest/trixie', 'kselftest_install'], stdout=sys.stderr):
            die('the selftests do not compile, see above', who='selftest')
