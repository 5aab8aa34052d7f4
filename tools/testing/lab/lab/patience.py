#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""The time limit of a booted machine: its own time, from its boot.

Set-up and builds come before a boot, so they do not count. Nor does the time in which the
emulator's threads wait for a CPU of this machine because other programs use all CPUs: such
a machine is slow, and not stuck. A machine that sleeps for ever waits for no CPU, so
it reaches its limit.

  patience.py SECONDS COMMAND...    status 124 if the limit ended it
"""

import contextlib
import os
import subprocess
import sys
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


class Patience:
    """Make it right after the start of @pid, which is the booted machine."""

    def __init__(self, pid, seconds):
        self.pid, self.seconds = pid, seconds
        self.start, self.waited = time.monotonic(), 0

    def over(self):
        passed = time.monotonic() - self.start
        if passed < self.seconds:
            return False
        # The wait of a thread that has ended is gone from /proc, so keep the maximum.
        self.waited = max(self.waited, waited(self.pid))
        return passed - self.waited > self.seconds


def main():
    child = subprocess.Popen(sys.argv[2:])
    patience = Patience(child.pid, float(sys.argv[1]))
    while child.poll() is None:
        if patience.over():
            child.terminate()
            child.wait()
            return 124
        time.sleep(0.1)
    return child.returncode if child.returncode >= 0 else 128 - child.returncode


if __name__ == '__main__':
    sys.exit(main())
