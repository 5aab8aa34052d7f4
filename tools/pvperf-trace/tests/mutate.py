#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""mutate.py PROGRAM DIRECTORY SEED N HOST GUEST [OPTION...]: N times pvperf merge of files that are
damaged at random. Each ends in 20 seconds with a status of its own, without a fault in our code that
a sanitizer sees, and leaves no unfinished copy; libtracecmd may fault, in the process that reads.
HOST and GUEST are in DIRECTORY. Prints what was wrong."""

import os
import random
import re
import subprocess
import sys

REPORT = re.compile(r'^\S+:\d+:\d+: runtime error: .*|^ +#\d+ .* in \S+ \S*/(tools/pvperf|host)/\S+|^ +#\d+ .*libtrace')
DIED = ('AddressSanitizer', 'reading the files ended with status')


NUMBERS = [b'0', b'1', b'63', b'64', b'255', b'4096', b'-1', *(b'%d' % (1 << n) for n in (31, 32, 63, 64))]


def number(data):
    """Another number in place of one in text."""
    m = random.choice(list(re.finditer(rb'\d+', data)) or [None])
    if m:
        data[m.start():m.end()] = random.choice(NUMBERS)


def damage(data):
    """A number or some bytes changed, a piece cut out or doubled, or the end cut off."""
    data = bytearray(data)
    for _ in range(random.choice((1, 1, 2, 8))):
        # Events lie at the end.
        at = random.randrange(random.choice((0, len(data) * 2 // 3)), len(data) or 1)
        piece = data[at:at + random.choice((1, 2, 8, 100, 4096))]
        kind = random.randrange(8)
        if kind < 3:
            number(data)
        elif kind == 3:
            data[at:at + len(piece)] = random.randbytes(len(piece))
        elif kind == 4:
            data[at:at + 1] = bytes([random.choice((0, 1, 0x7f, 0x80, 0xff))])
        elif kind == 5:
            del data[at:at + len(piece)]
        elif kind == 6:
            data[at:at] = piece
        else:
            del data[at + 1:]
    return bytes(data)


def wrong(argv, out):
    """What a merge of damaged files did wrong, or None."""
    try:
        r = subprocess.run(argv, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, timeout=200)
    except subprocess.TimeoutExpired:
        return 'no end in 200 s'
    # The first frame that is the library's, or ours.
    text = r.stderr.decode(errors='replace')
    found = next(filter(None, map(REPORT.search, text.splitlines())), None)
    if found and 'libtrace' not in found[0]:
        return found[0].strip()
    if not found and any(d in text for d in DIED):
        return text[:300]
    if r.returncode not in (0, 1, 2, 3):
        return f'status {r.returncode}'
    left = [f for f in os.listdir(out) if f.endswith('.merge')] if os.path.isdir(out) else []
    return f'left {left[0]}' if left else None


def main():
    program, where, seed, n, host, guest, *options = sys.argv[1:]
    files = [os.path.join(where, f) for f in (host, guest)]
    whole = [open(f, 'rb').read() for f in files]
    out = os.path.join(where, 'mutated')
    for i in range(int(n)):
        random.seed(f'{seed} {i}')
        for path, data in zip(files, whole):
            with open(path, 'wb') as f:
                f.write(damage(data) if random.randrange(3) else data)
        argv = [program, 'merge', '-h', files[0], '-g', files[1], *(o.replace('OUT', out) for o in options)]
        what = wrong(argv, out)
        if what:
            sys.exit(f'mutation {i} of seed {seed}: {what}')


main()
