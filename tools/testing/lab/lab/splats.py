# SPDX-License-Identifier: GPL-2.0
"""What kernels complain of, in a run's logs."""

import os
import re

# Each of these in a kernel's log fails the run.
SPLATS = re.compile('|'.join((
    r'\bBUG:', r'\bWARNING:', r'\bOops\b', r'kernel BUG at', r'general protection fault',
    r'unable to handle', r'Call Trace:', r'Kernel panic', r'INFO: task .* blocked for more than',
    r'\brcu: INFO:', r'rcu_.*detected .*stall', r'soft lockup', r'hard LOCKUP', r'possible circular',
    r'possible recursive', r'possible irq lock inversion', r'inconsistent lock state',
    r'suspicious RCU usage', r'Uhhuh\. NMI received for unknown reason',
    r'Dazed and confused', r'NMI: (PCI system|IOCK) error', r'list_(add|del) corruption',
    r'stack guard page', r'scheduling while atomic', r'sleeping function called',
    r'refcount_t:', r'UBSAN:', r'KASAN:', r'page allocation failure', r'unchecked MSR access',
    r'trying to register non-static key', r'turning off the locking correctness', r'ODEBUG:',
    r'kmemleak: \d+ new suspected', r'perfevents: irq loop stuck', r'stack-protector', r'Out of memory', r'bad page state',
)), re.I)
# Lines that match, but that a healthy kernel prints, too.
HARMLESS = re.compile(r'qemu-system-[^:]+:.*warning:|WARNING: (Spectre|unprivileged eBPF)|Speculative Return Stack|'
                      r'kasan: KernelAddressSanitizer initialized|kmemleak: Kernel memory leak detector', re.I)
# Before a trace that the kernel prints when an allocation fails that failing.sh has fail.
WANTED = re.compile(r'alloc_cpumask_var: failed')


def wanted(test, lines, i):
    return ('Call Trace:' in lines[i] and (test or '').startswith('failing') and
            any(map(WANTED.search, lines[max(i - 6, 0):i])))


def found_in(log):
    """The kernels' complaints: side, file, test, and the line with those that follow it.

    A batch writes "lab: test NAME" to the log before each test. Only the first complaint of
    each side and test is returned.
    """
    found = {}
    for name in ('host.log', 'host.dmesg', 'guest.log', 'guest.dmesg'):
        try:
            with open(os.path.join(log, name), errors='replace') as f:
                lines = f.read().splitlines()
        except FileNotFoundError:
            continue
        side, test = name.split('.')[0], None
        for i, line in enumerate(lines):
            mark = re.search(r'lab: test (\S+)', line)
            if mark:
                test = mark.group(1)
            elif SPLATS.search(line) and not HARMLESS.search(line) and not wanted(test, lines, i):
                found.setdefault((side, test), (side, name, test, lines[i:i + 30]))
    return list(found.values())
