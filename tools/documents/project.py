# SPDX-License-Identifier: GPL-2.0
"""README's lines on who makes pvperf and where it lives, from packaging/project."""

import re

WORDS = (('HOME', 'Home page'), ('BUGS', 'Bugs'), ('AUTHOR', 'Author'), ('MAIL', 'Mail'))


def lines(top):
    values = dict(re.findall(r'^PROJECT_(\w+) = *(\S.*)$', top.joinpath('packaging/project').read_text(), re.M))
    known = [f'* {word}: {values[key]}' for key, word in WORDS if key in values]
    return known or ['pvperf has no home page, bug tracker or mail address yet; `packaging/project` is the',
                     'place to fill them in.']
