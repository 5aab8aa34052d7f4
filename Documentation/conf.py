# SPDX-License-Identifier: GPL-2.0
"""How sphinx builds the manual. `make docs` calls it, by tools/documents/manual."""

import os
import pathlib
import subprocess
import sys

TOP = pathlib.Path(__file__).resolve().parent.parent
# The kernel's own kernel-doc and its extension for sphinx, from Debian's linux-source.
KERNEL = pathlib.Path(os.environ['KERNEL_DOC'])
sys.path.insert(0, str(KERNEL / 'Documentation/sphinx'))

project = 'pvperf'
author = copyright = 'pvperf developers'
release = version = subprocess.check_output([TOP / 'packaging/version'], text=True).strip()

extensions = ['kerneldoc', 'myst_parser']
kerneldoc_bin = str(KERNEL / 'scripts/kernel-doc')
kerneldoc_srctree = str(TOP)
kerneldoc_verbosity = 1
myst_enable_extensions = ['deflist']
myst_heading_anchors = 3

primary_domain = 'c'
highlight_language = 'none'
# What the kernel's headers know and a parser of C does not.
c_id_attributes = ['__user', '__percpu', '__rcu', '__iomem', 'noinstr', '__always_inline', '__must_check']

html_theme = 'alabaster'
html_theme_options = {'description': 'perf in a KVM guest that has no PMU', 'page_width': '70em'}
html_show_copyright = False
