# SPDX-License-Identifier: GPL-2.0
"""What the source has, by kinds of names: the documents' lists are compared with this.

Each function takes the top of a tree and returns a set of names, those of one kind.
"""

import os
import re


def read(top, *path):
    with open(top.joinpath(*path), encoding='utf-8') as f:
        return f.read()


def found(top, folder, pattern):
    """What @pattern's group finds in the C files below @folder."""
    names = set()
    for path in sorted(top.joinpath(folder).glob('*.[ch]')):
        names.update(re.findall(pattern, path.read_text(), re.M))
    return names


def executables(top, folder):
    return {p.name for p in top.joinpath(folder).iterdir()
            if p.is_file() and os.access(p, os.X_OK)}


def parameters(top):
    return found(top, 'host', r'^module_param\w*\((\w+)') | found(top, 'guest', r'^module_param\w*\((\w+)')


def trace_events(top):
    return found(top, 'host', r'^(?:TRACE_EVENT\w*|DEFINE_EVENT\w*)\((?:\w+, )?(pvperf_\w+)')


def debugfs(top):
    return found(top, 'host', r'debugfs_create_\w+\("(\w+)", 0')


def hooks(top):
    return found(top, 'host', r'\.name = "(\w+)"')


def tests(top):
    lines = read(top, 'tools/testing/selftests/tests.list').splitlines()
    return {x.split()[0] for x in lines if x.strip() and not x.startswith('#')}


def checks(top):
    return executables(top, 'tools/testing/checks')


def lab(top):
    return executables(top, 'tools/testing/lab')


def units(top, folder):
    """The files of a room, x.c and x.h as x.[ch]."""
    names = {p.name for p in top.joinpath(folder).glob('*.[ch]')}
    both = {n[:-2] for n in names if n[:-2] + '.c' in names and n[:-2] + '.h' in names}
    return {f'{b}.[ch]' for b in both} | {n for n in names if n[:-2] not in both}


def overflow_limits(top):
    """How many overflows a second the host lets pass, as the documents write a number."""
    source = read(top, 'host/overflow.c')
    return {f'{int(value):,}' for value in re.findall(r'^#define (?:EVENT|THREAD)_MAX\s+(\d+)', source, re.M)}


def rooms(top):
    return {f'{name}/' for name in ('host', 'guest', 'compat')} | \
        set.union(*(units(top, name) for name in ('host', 'guest', 'compat')))


def documents(top):
    return {p.name for p in top.joinpath('Documentation').iterdir() if p.suffix in ('.rst', '.md', '.8')}


def kernels(top):
    lines = read(top, 'tools/testing/lab/kernels').splitlines()
    return {x.split()[0] for x in lines if x.strip() and not x.startswith('#')}


KINDS = {
    'parameters': parameters, 'trace events': trace_events, 'debugfs files': debugfs,
    'hooked functions': hooks, 'overflow limits': overflow_limits, 'selftests': tests,
    'checks': checks, 'lab scripts': lab,
    'rooms': rooms, 'documents': documents, 'kernels': kernels,
}


def default(top, parameter):
    """A parameter's default as the source has it; None if that can't be told."""
    text = ''.join(p.read_text() for p in sorted(top.joinpath('host').glob('*.c')))
    named = re.search(rf'module_param_named\({parameter}, \w+\.(\w+),', text)
    value = re.search(rf'^\t\.{named[1]} = (\w+),' if named else
                      rf'^static [\w *]+\b{parameter} = "?(\w+)"?;', text, re.M)
    if not value:
        return None
    constant = re.search(rf'^#define\s+{value[1]}\s+(\w+)', read(top, 'include/uapi/linux/kvm_pvperf.h'), re.M)
    return {'true': '1', 'false': '0'}.get(value[1], constant[1] if constant else value[1])
