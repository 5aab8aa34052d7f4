# SPDX-License-Identifier: GPL-2.0
"""The time limit of a booted machine: its own time, from its boot.

Set-up and builds come before a boot, so they do not count. Nor does the time in which the
emulator's threads wait for a CPU of this machine because other programs use all CPUs, or
other virtual machines do: such a machine is slow, and not stuck. A machine that sleeps for ever
waits for no CPU, so it reaches its limit.
"""

import contextlib
import os
import time


def waited(pid):
    """Seconds that the threads of @pid have waited for a CPU; of the one that waited longest.

    0 if the kernel does not report it (CONFIG_SCHED_INFO): then all time counts.
    """
    longest = 0
    with contextlib.suppress(FileNotFoundError):
        for thread in os.listdir(f'/proc/{pid}/task'):
            with contextlib.suppress(OSError), open(f'/proc/{pid}/task/{thread}/schedstat') as f:
                longest = max(longest, int(f.read().split()[1]))
    return longest / 1e9


def stolen():
    """Seconds for which this machine's CPUs, on average, were another virtual machine's."""
    with open('/proc/stat') as f:
        return int(f.readline().split()[8]) / os.sysconf('SC_CLK_TCK') / os.cpu_count()


class Patience:
    """Make it right after the start of @pid, which is the booted machine."""

    def __init__(self, pid, seconds):
        self.pid, self.seconds = pid, seconds
        self.start, self.stolen, self.waited = time.monotonic(), stolen(), 0

    def over(self):
        passed = time.monotonic() - self.start
        if passed < self.seconds:
            return False
        # The wait of a thread that has ended is gone from /proc, so keep the maximum.
        self.waited = max(self.waited, waited(self.pid))
        # A thread's wait has what was stolen meanwhile in it.
        return passed - max(self.waited, stolen() - self.stolen) > self.seconds
