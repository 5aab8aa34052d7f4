# SPDX-License-Identifier: GPL-2.0
"""The kernels that the lab knows, and the packages that they come in."""

import os
import subprocess
import sys

from .paths import BUILD, LAB, TOP


def suites():
    """{short name: suite}, in the order of the list."""
    with open(os.path.join(LAB, 'kernels')) as f:
        return dict(line.split() for line in f if line.strip() and not line.startswith('#'))


def package(kernel):
    """Version of the kernel's Debian package, in its root."""
    root = os.path.join(BUILD, 'roots', suites()[kernel])
    shown = subprocess.run(['dpkg-query', '--admindir', os.path.join(root, 'var/lib/dpkg'), '-W',
                            '-f', '${db:Status-Abbrev}${Package} ${Version}\n', 'linux-image-[0-9]*-amd64'],
                           stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=False).stdout
    versions = [x.split()[2] for x in shown.splitlines() if x.startswith('ii ') and f'-{kernel}.' in x]
    if len(versions) != 1:
        sys.exit(f'nightly: not one kernel {kernel} in {os.path.relpath(root, TOP)}, but {versions}: make setup gets it')
    return versions[0]
