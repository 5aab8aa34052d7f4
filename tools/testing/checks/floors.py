# SPDX-License-Identifier: GPL-2.0
"""Reads the table `floors`, for checks/layers and for the manual."""

import pathlib
import re

PATH = 'tools/testing/checks/floors'


def read(top):
    """{room: [floor, from the top down]}; a floor is {unit: what it is for}."""
    rooms, floors = {}, []
    text = pathlib.Path(top, PATH).read_text()
    for line in re.sub(r'^#.*\n', '', text, flags=re.M).splitlines():
        if not line.strip():
            floors.append({})
        elif line[0].isspace():
            name, what = line.split(None, 1)
            floors[-1][name] = what
        else:
            floors = rooms.setdefault(line.strip(), [{}])
    return {room: [f for f in floors if f] for room, floors in rooms.items()}
