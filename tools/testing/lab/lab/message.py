# SPDX-License-Identifier: GPL-2.0
"""What the lab tells whoever runs it, on standard error."""

import sys
import time

START = time.monotonic()


def say(text):
    print(f'lab: {time.monotonic() - START:5.1f} s: {text}', file=sys.stderr, flush=True)


def die(text, status=2, who='lab'):
    print(f'{who}: {text}', file=sys.stderr, flush=True)
    sys.exit(status)
