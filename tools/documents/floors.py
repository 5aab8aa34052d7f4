# SPDX-License-Identifier: GPL-2.0
"""The floors of the modules: tools/testing/checks/floors, for the check and the documents."""

PATH = 'tools/testing/checks/floors'


def read(top):
    """{room: [floor, from the top down]}; a floor is a list of units."""
    rooms, floors = {}, None
    for line in top.joinpath(PATH).read_text().splitlines():
        if not line.strip() or line.startswith('#'):
            continue
        if line[0].isspace():
            floors.append(line.split())
        else:
            floors = rooms.setdefault(line.strip(), [])
    return rooms


def drawn(top, room):
    """One line a floor, as a literal block of reStructuredText."""
    return ['', '::', '', *('   ' + '  '.join(floor) for floor in read(top)[room]), '']
