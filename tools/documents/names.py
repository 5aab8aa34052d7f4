# SPDX-License-Identifier: GPL-2.0
"""Names in the text of documents: pvperf's functions and files have to exist."""

import functools
import re

FOLDERS = ('host', 'guest', 'compat', 'include', 'tools', 'debian', 'packaging', 'Documentation')
OURS = re.compile(r'\bpvperf_\w+')
PATH = re.compile(rf'(?<![\w/.-])((?:{"|".join(FOLDERS)})/[\w./-]*(?:\w|\.\[ch\]))')
FILE = re.compile(r'``([a-z]\w+\.[ch])``')


@functools.cache
def source(top):
    """All functions of the source, and the names of its files and of those it includes."""
    words, files = set(), set()
    for path in (p for folder in FOLDERS for p in top.joinpath(folder).rglob('*') if p.is_file()):
        files.add(path.name)
        where = path.relative_to(top).parts
        if where[0] == 'Documentation':
            continue
        text = path.read_text(errors='replace')
        files.update(re.findall(r'#include [<"](?:\S*/)?(\w+\.h)', text))
        if where[:2] != ('tools', 'testing'):
            words.update(OURS.findall(text))
    return words | set(OURS.findall(top.joinpath('Kbuild').read_text())), files


def there(top, name):
    if name.endswith('.[ch]'):
        return all((top / (name[:-4] + c)).exists() for c in 'ch')
    return (top / name).exists()


def wrong(top, path, text):
    """Names that are not there, as lines."""
    words, files = source(top)
    name = path.relative_to(top)
    for number, line in enumerate(text.splitlines(), 1):
        for ours in OURS.findall(line):
            if not any(w.startswith(ours.rstrip('_')) for w in words):
                yield f'{name}:{number}: the source has no {ours}'
        for found in PATH.findall(line):
            if not there(top, found):
                yield f'{name}:{number}: there is no {found}'
        for found in FILE.findall(line):
            if found not in files:
                yield f'{name}:{number}: there is no {found}'
