# SPDX-License-Identifier: GPL-2.0
"""Files that are replaced as a whole, or not at all."""

import os


def write(path, text):
    """An interrupted run leaves the old file."""
    with open(path + '.part', 'w') as f:
        f.write(text)
    os.rename(path + '.part', path)
