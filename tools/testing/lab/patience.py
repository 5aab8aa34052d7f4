# SPDX-License-Identifier: GPL-2.0
"""How long a booted machine may take: its own time, from its boot.

Set-up and builds come before a boot, so no limit can hold them. What the emulator's
threads wait for a CPU of this machine, because others use all of them, is not the
booted machine's time either: such a machine is slow, and not stuck. A machine that
sleeps for ever waits for no CPU, and so comes to its limit.
"""

import contextlib
import os
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
