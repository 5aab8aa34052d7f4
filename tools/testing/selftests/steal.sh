#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# The host moves the vCPU's thread from CPU to CPU, gives nine tenths of the time to
# another task, or lets it sleep. The guest's counts have only what the guest did, and
# are counted all of the time.
. ./lib.sh

need_host_command
want=20000004
[ "$(host nproc)" -gt 1 ] || tap_skip_all "the host has one CPU"
thread=$(vcpu_thread)
[ -n "$thread" ] || tap_skip_all "no thread of a vCPU found"

user() { # COMMAND...: "COUNT SHARE"
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
	done; taskset -p 3 $thread; rm /run/enough) > /dev/null 2>&1 &"
own "moved between two CPUs" "$(user ./loop20m)"
host 'echo > /run/enough; while [ -e /run/enough ]; do usleep 1000; done'
after=$(migrations)
[ "$((after - before))" -gt 5 ]
tap $? "the vCPU was moved" "$before, $after migrations"

host "taskset -p 1 $thread > /dev/null
	nice -n -10 taskset 1 sh -c 'while :; do :; done' > /dev/null 2>&1 & echo \$! > /run/spinner"
start=$(cut -d ' ' -f 1 /proc/uptime)
own "with a tenth of the CPU time" "$(user ./loop20m)"
end=$(cut -d ' ' -f 1 /proc/uptime)
n=$(count -e cycles:u ./loop20m)
within "${n:-0}" $want 20
tap $? "its cycles do not have the other task's time" "${n:-nothing} in $start to $end"
host "kill \$(cat /run/spinner); taskset -p 3 $thread > /dev/null"

# The quietest of three seconds: a guest that has just booted still works, 7.2 for half a
# second.
n=$(perf stat -x, -I 1000 -a -e cycles sleep 3.1 2>&1 |
	interval_value | head -n 3 | sort -n | head -n 1)
[ "${n:-1000000000}" -lt 100000000 ]
tap $? "an idle guest has no cycles" "${n:-nothing} in a second at 1 GHz"
tap_end
