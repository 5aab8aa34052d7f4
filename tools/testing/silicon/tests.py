# SPDX-License-Identifier: GPL-2.0
"""Runs the selftests that make sense on real hardware: those with +silicon in tests.list.

As in the lab, tools/testing/lab/lab/batch.py makes the command and judges the results.
"""

import os
import re
import subprocess
import sys

HERE = os.path.dirname(os.path.realpath(__file__))
LIST = os.path.realpath(os.path.join(HERE, '../selftests/tests.list'))

sys.path.append(os.path.realpath(os.path.join(HERE, '../lab')))
from lab import batch, splats, testlist    # noqa: E402
from lab.message import say    # noqa: E402

MARK = 'silicon: the run begins'
DIED, LATE = 'the guest died or hung', 'there was no time left'


def chosen(where, names, slow):
    tests = [t for t in testlist.read(LIST) if 'silicon' in t.flags]
    unknown = set(names) - {t.name for t in tests}
    if unknown:
        raise SystemExit(f'silicon: no test with +silicon is named {", ".join(sorted(unknown))}')
    return [t._replace(timeout=t.timeout * slow) for t in tests
            if t.where == where and (not names or t.name in names)]


def guest_command(tests, repeats, trips):
    """The guest's command, which runs everything in one boot, unless KVM gives it a vPMU."""
    rows = f'/t/rows.sh {repeats} {trips}' if repeats else ''
    return '\n'.join((
        '[ ! -d /sys/bus/event_source/devices/cpu ] || { echo "@@silicon vpmu"; exit 0; }',
        'insmod /lab/pvperf_guest.ko || { echo "@@silicon unloaded"; exit 0; }',
        'echo "@@silicon counters $(cat /sys/bus/event_source/devices/pvperf/caps/counters)"',
        batch.command(tests).removesuffix('exit 0'), rows, 'exit 0'))


def reported(lines, key):
    """[value] of the guest's lines "@@silicon KEY value"."""
    found = (re.match(rf'@@silicon {key}\b ?(.*)', x.strip()) for x in lines)
    return [m.group(1) for m in found if m]


def run(work, command, seconds):
    """(lines, status) of a command in the room; the status is None if time ran out."""
    r = subprocess.Popen([os.path.join(HERE, 'room'), work, *command], stdin=subprocess.DEVNULL,
                         stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True)
    try:
        out, _ = r.communicate(timeout=seconds)
        status = r.returncode
    except subprocess.TimeoutExpired:
        say('the time limit is over; --slow raises it')
        os.killpg(r.pid, 9)
        out, status = r.communicate()[0], None
    return out.decode(errors='replace').replace('\r\n', '\n').split('\n'), status


def logs_take(log, work):
    """Saves both kernels' logs since the run began, where splats looks for complaints."""
    log_lines = subprocess.run(['dmesg'], capture_output=True, text=True, errors='replace').stdout.splitlines()
    begun = max((i for i, line in enumerate(log_lines) if MARK in line), default=0)
    os.makedirs(log, exist_ok=True)
    with open(os.path.join(log, 'host.dmesg'), 'w') as f:
        f.write('\n'.join(log_lines[begun:]) + '\n')
    for port, name in (('guest-console', 'guest.log'), ('guest-dmesg', 'guest.dmesg')):
        path = os.path.join(work, 'lab/port', port)
        if os.path.exists(path):
            os.replace(path, os.path.join(log, name))


def complaints(log):
    return splats.found_in(log)


def results(tests, lines, found):
    """Yields (test, Result) of a batch. A test that was not reached has failed."""
    ended, current = batch.said(lines)
    for t in tests:
        rc, seconds, text = ended.get(t.name, (None, 0, ['it was not reached']))
        mine = [c for c in found if c[2] == t.name]
        yield t, batch.judge(t, rc, seconds, text, mine)
