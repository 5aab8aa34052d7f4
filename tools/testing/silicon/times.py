# SPDX-License-Identifier: GPL-2.0
"""What the bench's programs print, as rows: a median of repeats, and how they spread."""

import os
import statistics
import sys

sys.path.append(os.path.realpath(os.path.join(os.path.dirname(os.path.realpath(__file__)), '../bench')))
import figures    # noqa: E402

# What `calls` prints, and what it is to a reader. All in ticks of the TSC.
CALLS = {
    'call.empty': 'a hypercall that does nothing',
    'call.exit': "a hypercall of nobody's, the same world switch",
    'foreign.hypercall.cost': "what a foreign hypercall pays for the module's being loaded",
    'batch1.hwread': 'a batch of 1 READ',
    'batch6.hwread': 'a batch of 6 READs',
    'batch64.hwread.entry': 'one READ more in a batch',
    'with6.hwenable': 'to switch on one of 6 events',
    'with6.hwdisable': 'to switch off one of 6 events',
    'open.hw': 'to open an event',
    'close.hw': 'to close one',
    'overflow.handler.sw': "from an overflow of the host's clock to the guest's handler",
    'overflow.handler.hw': "from an overflow of instructions to the guest's handler",
}
TICKS, RATIO = 'TSC ticks', 'ratio'


def row(name, what, unit, values):
    """The median, the extremes, and the median of what the repeats are off it."""
    middle = statistics.median(values)
    return {'row': name, 'what': what, 'unit': unit, 'repeats': len(values), 'median': middle,
            'min': min(values), 'max': max(values),
            'mad': statistics.median(abs(v - middle) for v in values)}


def calls(runs):
    """Of the lines of each run of `calls`."""
    told = [figures.told(lines) for lines in runs]
    for key, what in CALLS.items():
        # .multiplexed: more events than counters
        values = [t[k] for t in told for k in (key, key + '.multiplexed') if k in t]
        if values:
            yield row(key, what, TICKS, values)


def trips(works, name):
    """A round trip of each repeat: what many took more than a few."""
    amounts = works.get(name, {})
    if len(amounts) < 2:
        return []
    few, many = min(amounts), max(amounts)
    return [(b['total'] - a['total']) / (many - few) for a, b in zip(amounts[few], amounts[many])]


def pipe(lines):
    """Of what rows.sh printed."""
    works = figures.works(lines)
    plain, six = trips(works, 'pipe.plain'), trips(works, 'pipe.six')
    if not plain or len(plain) != len(six):
        return
    yield row('pipe.plain', 'a round trip between two processes, nothing counted', TICKS, plain)
    yield row('pipe.six', 'the same under perf stat with six events', TICKS, six)
    yield row('pipe.six.ratio', 'how many times as long', RATIO, [b / a for a, b in zip(plain, six)])
