#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# lab/selftest runs it at the end of a boot, on each side. On a kernel with debugging on: is lockdep
# still on, and does our module leave memory behind when it is unloaded? The kernel says then
# "kmemleak: N new suspected memory leaks", and this script says BUG in the kernel's log, which the
# lab takes for complaints.
leaks=/sys/kernel/debug/kmemleak

races=/sys/kernel/debug/kcsan

[ -e /proc/lockdep_stats ] || [ -e $races ] || exit 0
complain() { echo "<3>BUG: $1" > /dev/kmsg; }
[ -e $races ] || grep -q 'debug_locks: *1' /proc/lockdep_stats || complain "lockdep has turned itself off"
for module in pvperf_host pvperf_guest; do
	[ ! -e /sys/module/$module ] || rmmod $module || complain "$module can't be unloaded"
done
[ ! -e $races ] || exit 0
[ -e $leaks ] || { complain "no kmemleak"; exit 0; }
# Objects younger than five seconds are not looked at; the first scan may take a moving pointer for none.
scan() {
	sleep 6
	echo scan > $leaks || complain "kmemleak is off: boot with kmemleak=on"
}
scan
scan
cat $leaks
