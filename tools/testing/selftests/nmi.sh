#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# NMIs for a vCPU that does not run, because it is halted, or because another task of
# the host has its CPU. Each overflow that the host counted is a sample in the guest, or
# is reported as lost, and counts are right. And NMIs that are not ours: none is claimed.
. ./lib.sh

need_host_command
switches=pvperf/host-context-switches/
[ -e /sys/bus/event_source/devices/pvperf/events/host-context-switches ] ||
	tap_skip_all "no host-context-switches"
want=20000004

# spin yes|no: start a task on the host that gets three quarters of the CPU, or don't
spinner=
spin() {
	[ "$1" = yes ] || return
	spinner=$(host 'for c in $(seq $(nproc)); do nice -n -5 sh -c "while :; do :; done" > /dev/null 2>&1 & echo $!; done')
}
unspin() {
	[ -z "$spinner" ] || host "kill $(echo $spinner)"
	spinner=
}
trap unspin EXIT

# all SPIN NAME OPTIONS...: perf record; each overflow is a sample, or is lost
all() {
	spin $1
	shift
	record "$@"
	unspin
	all_told "$name"
}

# Each sleep of the idle vCPU is a context switch on the host, whose NMI wakes the vCPU.
all no "halted" -a -c 1 -e $switches sleep 0.1
n=$(perf script -i $data -F comm 2> /dev/null | grep -c swapper)
[ "$n" -gt 10 ]
tap $? "halted: the idle task has samples" "$n"

all yes "descheduled" -c 1 -e $switches ./loop100m
[ "$samples" -ge 3 ]
tap $? "descheduled: that happens more than once" "$samples"
all yes "descheduled in the program" -c 100000 -e instructions:u ./loop20m
[ "$made" -eq 200 ]
tap $? "descheduled in the program: 200 periods of 100000" "$made"
spin yes
n=$(perf stat -x, -e instructions:u ./loop20m 2>&1 | stat_share)
unspin
within "${n% *}" $want 0.01 && always "$n"
tap $? "descheduled: the count is exact" "${n:-nothing}"

# foreign OPTIONS...: five NMIs from QEMU while perf stat counts; prints how many the kernel
# found to be nobody's
unknown() { dmesg | grep -c 'Dazed and confused'; }
foreign() {
	before=$(unknown)
	perf stat -a -o /tmp/stat "$@" sh -c 'for i in 1 2 3 4 5; do host mon nmi; usleep 20000; done' > /dev/null
	echo $(($(unknown) - before))
}
for events in instructions instructions:u,cycles:k,task-clock; do
	n=$(expected foreign -e $events)
	[ "$n" = 5 ]
	tap $? "foreign: none of five NMIs is claimed while $events count" "$n were nobody's"
done
tap_end
