# SPDX-License-Identifier: GPL-2.0
"""This tree, as what was measured: its commit and its contents."""

import hashlib
import os
import subprocess
import time

from .paths import TOP

# What a result depends on, besides the kernels.
SOURCES = ('Kbuild', 'include', 'host', 'guest', 'compat', 'tools/testing/selftests', 'tools/testing/lab')


def digest():
    h = hashlib.sha1()
    for source in SOURCES:
        top = os.path.join(TOP, source)
        found = [top] if os.path.isfile(top) else []
        for folder, _, names in os.walk(top):
            found += [os.path.join(folder, n) for n in names]
        for path in sorted(found):
            with open(path, 'rb') as f:
                h.update(os.path.relpath(path, TOP).encode() + b'\0' + f.read() + b'\0')
    return h.hexdigest()


def git(*args):
    r = subprocess.run(['git', '-C', TOP, *args], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    return r.stdout.strip() if r.returncode == 0 else ''


def commit():
    """With + if the sources differ from it; '' outside of git."""
    head = git('rev-parse', '--short=10', 'HEAD')
    return head + ('+' if head and git('status', '--porcelain', '--untracked-files=no', '--', *SOURCES) else '')


def today():
    return time.strftime('%Y-%m-%d')


def measured():
    """The line above a table that a command has measured."""
    return f'Measured on {today()}' + (f' at commit {commit()}' if commit() else '') + '.\n'
