# SPDX-License-Identifier: GPL-2.0
"""What the shell scripts beside this package make: roots, images, modules."""

import os
import subprocess
import sys

from .paths import LAB


def make(tool, *arguments):
    """Run a script that makes what is missing; it says why if it fails."""
    if subprocess.call([os.path.join(LAB, tool), *arguments]):
        sys.exit(2)
