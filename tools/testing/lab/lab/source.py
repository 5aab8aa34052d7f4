# SPDX-License-Identifier: GPL-2.0
"""This tree, as what was measured: its commit and its contents."""

import os
import subprocess
import time

from .paths import TOP

MODULES = ('Kbuild', 'include', 'host', 'guest', 'compat')
# What a result depends on, besides the kernels.
SOURCES = (*MODULES, 'tools/testing/selftests', 'tools/testing/lab')


def module_files():
    """The paths of all that the modules are built of."""
    found = [os.path.join(TOP, 'Kbuild')]
    for source in MODULES:
        for folder, _, names in os.walk(os.path.join(TOP, source)):
            found += [os.path.join(folder, n) for n in names if n.endswith(('.c', '.h'))]
    return sorted(found)


def git(*args):
    r = subprocess.run(['git', '-C', TOP, *args], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    return r.stdout.strip() if r.returncode == 0 else ''


def commit():
    """With + if the sources differ from it; '' outside of git."""
    head = git('rev-parse', '--short=10', 'HEAD')
    changed = git('status', '--porcelain', '--untracked-files=no', '--', *SOURCES, ':!tools/testing/lab/results')
    return head + ('+' if head and changed else '')


def today():
    return time.strftime('%Y-%m-%d')


def measured(text, comment='<!-- {} -->'):
    """A file of what a command has measured: its licence, its date and tree, and @text."""
    tree = f' at commit {commit()}' if commit() else ''
    return comment.format('SPDX-License-Identifier: GPL-2.0') + f'\n\nMeasured on {today()}{tree}.\n\n{text}'
