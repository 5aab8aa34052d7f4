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
sys.path.insert(0, str(TOP / 'tools/testing/checks'))
sys.path.insert(0, str(TOP / 'tools/documents'))
import floors   # noqa: E402
import measured   # noqa: E402

project = 'pvperf'
author = copyright = 'pvperf developers'
release = version = subprocess.check_output([TOP / 'packaging/version'], text=True).strip()

exclude_patterns = ['measured']    # other pages include them
extensions = ['kerneldoc', 'myst_parser']
kerneldoc_bin = str(KERNEL / 'scripts/kernel-doc')
kerneldoc_srctree = str(TOP)
kerneldoc_verbosity = 1
myst_enable_extensions = ['deflist', 'substitution']
myst_heading_anchors = 3
# install.md takes a part of README.md, with its headings.
suppress_warnings = ['myst.header']

# What the text says of costs is what the bench has measured on 6.12.
figures = measured.Bench(TOP).figures
rst_prolog = ''.join(f'.. |{name}| replace:: {value}\n' for name, value in figures.items())
myst_substitutions = {name.replace('.', '_'): value for name, value in figures.items()}

primary_domain = 'c'
highlight_language = 'none'
# What the kernel's headers know and a parser of C does not.
c_id_attributes = ['__user', '__percpu', '__rcu', '__iomem', 'noinstr', '__always_inline', '__must_check']

html_theme = 'furo'
html_title = f'pvperf {version}'
# Debian's furo has its light colours only.
html_theme_options = {'dark_css_variables': {
    'color-foreground-primary': '#d5d7da',
    'color-foreground-secondary': '#9ca0a5',
    'color-foreground-muted': '#81868d',
    'color-foreground-border': '#666666',
    'color-background-primary': '#131416',
    'color-background-secondary': '#1a1c1e',
    'color-background-hover': '#1e2124',
    'color-background-border': '#303335',
    'color-background-item': '#444444',
    'color-inline-code-background': '#24272a',
    'color-table-header-background': '#1a1c1e',
    'color-table-border': '#303335',
    'color-brand-primary': '#5ca5ff',
    'color-brand-content': '#5ca5ff',
    'color-api-background': '#1a1c1e',
    'color-api-overall': '#9ca0a5',
    'color-problematic': '#ee5151',
    'color-highlight-on-target': '#333300',
}}
html_show_copyright = False


def reference(room):
    """A section for each header of a module that has kernel-doc, in the order of its floors."""
    for name, what in (unit for floor in floors.read(TOP)[room] for unit in floor.items()):
        header = f'{room}/{name}.h'
        if (TOP / header).exists() and '\n/**\n' in (TOP / header).read_text():
            title = f'``{name}.h``: {what}'
            yield f'{title}\n{"-" * len(title)}\n\n.. kernel-doc:: {header}\n'


def fill(app, name, source):
    if name == 'reference':
        for room in ('guest', 'host'):
            source[0] = source[0].replace(f'.. headers {room}\n', '\n'.join(reference(room)))


def setup(app):
    app.connect('source-read', fill)
