#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# What the host does with the vCPU's thread is not the guest's: moved from CPU to
# CPU, put aside nine tenths of the time, asleep as the guest has nothing to do.
# Counts are the guest's own, and all of the time.
. ./lib.sh

need_host_command
want=20000004
[ "$(host nproc)" -gt 1 ] || tap_skip_all "the host has one CPU"
thread=$(vcpu_thread)
[ -n "$thread" ] || tap_skip_all "no vCPU's thread to be found"

user() { # COMMAND...: count and share of the time
	perf stat -x, -e instructions:u "$@" 2>&1 | stat_share
}
own() { # NAME NUMBERS
	within "${2% *}" $want 0.01 && always "$2"
	tap $? "$1" "$2"
}
migrations() { host "sed -n 's/^se.nr_migrations *: *//p' /proc/$thread/sched"; }

before=$(migrations)
host "(while [ ! -e /run/enough ]; do
	taskset -p 1 $thread; usleep 500; taskset -p 2 $thread; usleep 500
	done; rm /run/enough; taskset -p 3 $thread) > /dev/null 2>&1 &"
own "moved between two CPUs" "$(user ./loop20m)"
host 'echo > /run/enough; while [ -e /run/enough ]; do usleep 1000; done'
after=$(migrations)
[ "$((after - before))" -gt 5 ]
tap $? "which it was" "$before, $after migrations"

host "taskset -p 1 $thread > /dev/null
	nice -n -10 taskset 1 sh -c 'while :; do :; done' > /dev/null 2>&1 & echo \$! > /run/spinner"
start=$(cut -d ' ' -f 1 /proc/uptime)
own "put aside for nine tenths of the time" "$(user ./loop20m)"
end=$(cut -d ' ' -f 1 /proc/uptime)
n=$(count -e cycles:u ./loop20m)
within "${n:-0}" $want 20
tap $? "nor is that time in its cycles" "${n:-nothing} in $start to $end"
host "kill \$(cat /run/spinner); taskset -p 3 $thread > /dev/null"

# The quietest of three: a young guest may have things to do, 7.2 half a second of them.
n=$(perf stat -x, -I 1000 -a -e cycles sleep 3.1 2>&1 |
	interval_value | head -n 3 | sort -n | head -n 1)
[ "${n:-1000000000}" -lt 100000000 ]
tap $? "asleep it has no cycles" "${n:-nothing} in a second at 1 GHz"
tap_end
