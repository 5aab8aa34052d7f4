# SPDX-License-Identifier: GPL-2.0
"""A host from its boot to its end."""

import os
import shlex
import subprocess
import time

from . import bochs, initrd, qemu
from .console import Follow, status_tell
from .message import say
from .paths import BUILD
from .patience import Patience

DIED, LATE = 71, 124
SLOW = 60  # seconds after which a boot that has not ended is told


def command(a, log, tmp):
    """Make what the machine needs; return the command that runs it."""
    emulated, accel = qemu.accelerator(a)
    initrd.make(a, tmp, emulated)
    append = initrd.host_append(a, emulated)
    if a.cpu == 'intel':
        return bochs.command(a.smp[0], a.hybrid, a.mem[0], os.path.join(BUILD, 'images', f'{a.host}-vmlinuz'),
                             os.path.join(tmp, 'initrd'), append, log, tmp)
    return qemu.command(a, accel, append, log, tmp)


def start(argv, log, interactive):
    with open(os.path.join(log, 'qemu.log'), 'w') as err:
        return subprocess.Popen(argv, stdin=None if interactive else subprocess.DEVNULL,
                                stdout=None if interactive else err, stderr=err)


def end(child):
    if child.poll() is None:
        child.terminate()
        child.wait()


class Boot:
    """Tells each minute that host or guest has not come up."""

    def __init__(self, a, log):
        self.sides, self.log = ['host', 'guest'] if a.where == 'guest' else ['host'], log
        self.since = self.last = time.monotonic()

    def look(self, up):
        now = time.monotonic()
        if up >= len(self.sides) or now - self.last < SLOW:
            return
        self.last = now
        say(f'the {self.sides[up]} has not come up after {now - self.since:.0f} s; its console: '
            f'{os.path.relpath(self.log)}/{self.sides[up]}.log')


def watch(child, a, log):
    """Copy the machine's output and reports until it ends. Returns how many lines of reports
    were printed, and whether the machine was ended because its time ran out."""
    interactive = not a.command
    output, told, late = Follow(os.path.join(log, 'output')), 0, False
    patience, waits = Patience(child.pid, a.timeout), Boot(a, log)
    try:
        while child.poll() is None:
            time.sleep(0.05)
            if not interactive:
                output.copy()
            told, _ = status_tell(os.path.join(log, 'status'), told)
            waits.look(told)
            if not interactive and patience.over():
                late = True
                end(child)
    finally:
        end(child)
        if interactive:
            subprocess.call(['stty', 'sane'])
    if not interactive:
        output.copy()
    return told, late


def why_it_died(a, log):
    if a.cpu == 'intel':
        return bochs.last_words(log)
    with open(os.path.join(log, 'qemu.log'), errors='replace') as f:
        return f.read().splitlines()


def boot(a, log, tmp):
    """The exit status of the command that ran in the machine, DIED, or LATE."""
    argv = command(a, log, tmp)
    with open(os.path.join(log, 'qemu.cmd'), 'w') as f:
        f.write(shlex.join(argv) + '\n')
    say(f'booting host {a.host}' + (f', guest {a.guest}' if a.where == 'guest' else '')
        + f', logs in {os.path.relpath(log)}')
    told, late = watch(start(argv, log, not a.command), a, log)
    if a.cpu == 'intel':
        bochs.logs_split(log)
    _, status = status_tell(os.path.join(log, 'status'), told)
    if late:
        say(f'stopped: the machine has run for {a.timeout:.0f} s since its boot (--timeout)')
        return LATE
    if status is None:
        say('the host died' + ''.join('\n  ' + x for x in why_it_died(a, log) if "TCG doesn't" not in x))
        return DIED
    return status
