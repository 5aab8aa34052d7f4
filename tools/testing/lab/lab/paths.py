# SPDX-License-Identifier: GPL-2.0
"""Where things are: the tree, the lab's commands, and what is built."""

import os

LAB = os.path.dirname(os.path.dirname(os.path.realpath(__file__)))
TOP = os.path.realpath(os.path.join(LAB, '../../..'))
BUILD = os.path.join(TOP, 'build')
TESTS = os.path.join(TOP, 'tools/testing/selftests')
