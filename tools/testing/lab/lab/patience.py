#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""How long a booted machine may take: its own time, from its boot.

Set-up and builds come before a boot, so no limit can hold them. What the emulator's
threads wait for a CPU of this machine, because others use all of them, is not the
booted machine's time either: such a machine is slow, and not stuck. A machine that
sleeps for ever waits for no CPU, and so comes to its limit.

  patience.py SECONDS COMMAND...    status 124 when it came to its limit, and was ended
"""

import contextlib
import os
import subprocess
import sys
import time


def waited(pid):
    """Seconds that the thread of @pid that waited longest has waited for a CPU.

    0 where the kernel does not tell (CONFIG_SCHED_INFO): all time counts then.
    """
    longest = 0
    with contextlib.suppress(FileNotFoundError):
        for thread in os.listdir(f'/proc/{pid}/task'):
            with contextlib.suppress(OSError), open(f'/proc/{pid}/task/{thread}/schedstat') as f:
                longest = max(longest, int(f.read().split()[1]))
    return longest / 1e9


class Patience:
    """To be made when the process @pid, the booted machine, has been started."""

    def __init__(self, pid, seconds):
        self.pid, self.seconds = pid, seconds
        self.start, self.waited = time.monotonic(), 0

    def over(self):
        passed = time.monotonic() - self.start
        if passed < self.seconds:
            return False
        # A thread that has ended takes along what it has waited.
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
