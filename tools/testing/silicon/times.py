# SPDX-License-Identifier: GPL-2.0
"""Makes rows of what the bench's programs print: the median of repeats, and their spread."""

import os
import statistics
import sys

sys.path.append(os.path.realpath(os.path.join(os.path.dirname(os.path.realpath(__file__)), '../bench')))
import figures    # noqa: E402

# The figures of `calls`, in ticks of the TSC, and what the report calls them.
CALLS = {
    'call.empty': 'a hypercall that does nothing',
    'call.exit': 'an unknown hypercall, which has the same world switch',
    'foreign.hypercall.cost': 'extra cost of an unknown hypercall while the module is loaded',
    'batch1.hwread': 'a batch of 1 READ',
    'batch6.hwread': 'a batch of 6 READs',
    'batch64.hwread.entry': 'each further READ in a batch',
    'with6.hwenable': 'enabling one of 6 events',
    'with6.hwdisable': 'disabling one of 6 events',
    'open.hw': 'opening an event',
    'close.hw': 'closing an event',
    'overflow.handler.sw': "from an overflow of the host's clock to the guest's handler",
    'overflow.handler.hw': "from an overflow of instructions to the guest's handler",
}
TICKS, RATIO = 'TSC ticks', 'ratio'


def row(name, what, unit, values):
    """The median, the extremes, and the median deviation from the median (MAD)."""
    middle = statistics.median(values)
    return {'row': name, 'what': what, 'unit': unit, 'repeats': len(values), 'median': middle,
            'min': min(values), 'max': max(values),
            'mad': statistics.median(abs(v - middle) for v in values)}


def calls(runs):
    """Rows of the runs of `calls`, each a list of lines."""
    printed = [figures.told(lines) for lines in runs]
    for key, what in CALLS.items():
        # `calls` appends .multiplexed if the host has fewer counters than events.
        values = [p[k] for p in printed for k in (key, key + '.multiplexed') if k in p]
        if values:
            yield row(key, what, TICKS, values)


def trips(works, name):
    """The cost of a round trip, for each repeat: what many take more than few, per trip."""
    amounts = works.get(name, {})
    if len(amounts) < 2:
        return []
    few, many = min(amounts), max(amounts)
    return [(b['total'] - a['total']) / (many - few) for a, b in zip(amounts[few], amounts[many])]


def pipe(lines):
    """Rows of what rows.sh printed."""
    works = figures.works(lines)
    plain, six = trips(works, 'pipe.plain'), trips(works, 'pipe.six')
    if not plain or len(plain) != len(six):
        return
    yield row('pipe.plain', 'a round trip between two processes, nothing counted', TICKS, plain)
    yield row('pipe.six', 'the same under perf stat with six events', TICKS, six)
    yield row('pipe.six.ratio', 'round trip with six events, over that with nothing counted', RATIO,
              [b / a for a, b in zip(plain, six)])
