# SPDX-License-Identifier: GPL-2.0
"""This tree, as what was measured: its commit and its contents."""

import subprocess
import time

from .paths import TOP

MODULES = ('Kbuild', 'include', 'host', 'guest', 'compat')
# What a result depends on, besides the kernels.
SOURCES = (*MODULES, 'tools/testing/selftests', 'tools/testing/lab')


def git(*args):
    r = subprocess.run(['git', '-C', TOP, *args], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    return r.stdout.strip() if r.returncode == 0 else ''


def commit():
    """With + if the sources differ from it; '' outside of git."""
    head = git('rev-parse', '--short=10', 'HEAD')
    changed = git('status', '--porcelain', '--', *SOURCES)
    return head + ('+' if head and changed else '')


def today():
    return time.strftime('%Y-%m-%d')


def measured(text, comment='<!-- {} -->'):
    """A file of what a command has measured: its licence, its date and tree, and @text."""
    tree = f' at commit {commit()}' if commit() else ''
    return comment.format('SPDX-License-Identifier: GPL-2.0') + f'\n\nMeasured on {today()}{tree}.\n\n{text}'
