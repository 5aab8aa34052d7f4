#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# perf's own tests of hardware events: each that passes on the host, with its real PMU,
# passes in the guest. The others are skipped with a reason.
. ./lib.sh

# Names as in `perf test list`.
cases='mmap interface tests
Parse event definition strings
PERF_RECORD_. events & perf_sample fields
Sysfs PMU tests
Breakpoint overflow signal handler
Breakpoint overflow sampling
Breakpoint accounting
Software clock events period values
Object code reading
Use a dummy software event to keep tracking
Parse with no sample_id_all bit set
Track with sched_switch
Event times
Read backward ring buffer
Convert perf time to TSC
Sigtrap
Event groups
.*Sample parsing
AMD IBS via core pmu
x86 hybrid
Number of exit events of a simple workload'

# one NAME NUMBER. perf waits for the exit of a task by 1000 polls, which return at once when
# the task's events end. Its parent may have interrupted the task there, so that the polls
# are over before the task's. Neither interrupts the other with SCHED_FIFO.
one() {
	case $1 in
	"Number of exit events"*) chrt -f 1 timeout 60 perf test "$2";;
	*) timeout 60 perf test "$2";;
	esac < /dev/null 2>&1
}

# measure: a line "number: verdict: name" for each case, and for each part of a case
measure() {
	perf test list > /tmp/list 2>&1
	echo "$cases" | while read -r name; do
		numbers=$(sed -n "s/^ *\([0-9]*\): $name\$/\1/p" /tmp/list)
		[ -n "$numbers" ] || echo " 0: $name : missing"
		for number in $numbers; do
			one "$name" "$number" || echo " $number: $name : timed out"
		done
	done | grep -v ': Running' | sed 's/\x1b\[[0-9;]*m//g' |
		sed -n 's/^ *\([0-9.]*\): \(.*[^ ]\) *: \([^: ][^:]*\)$/\1: \3: \2/p'
}

if [ "$1" = measure ]; then
	measure
	exit
fi

# why NAME: the reason why no guest can pass this test
why() {
	case $1 in
	"User space counter reading"*)
		echo "the guest has no counter that RDPMC could read";;
	"Perf time to TSC")
		echo "the guest uses KVM's clock, not the TSC";;
	esac
}

need_host_command
command -v perf > /dev/null || tap_skip_all "no perf"
measure > /tmp/here
host "cd /t && ./perf_test.sh measure" > /tmp/there
[ -s /tmp/there ]
tap $? "perf test runs on the host"
while IFS= read -r line; do
	number=${line%%: *}
	rest=${line#*: }
	host_says=${rest%%: *}
	name=${rest#*: }
	here=$(sed -n "s/^$number: \([^:]*\): .*/\1/p" /tmp/here)
	case $host_says/$here in
	Ok*/Ok*)
		tap 0 "perf test $number: $name";;
	Ok*/Skip*)
		reason=$(why "$name")
		if [ -n "$reason" ]; then
			tap_skip "perf test $number: $name" "$reason"
		else
			tap 1 "perf test $number: $name" "host: $host_says, guest: $here"
		fi;;
	Ok*)
		tap 1 "perf test $number: $name" "host: $host_says, guest: ${here:-nothing}";;
	*)
		tap_skip "perf test $number: $name" "host: $host_says, guest: ${here:-nothing}";;
	esac
done < /tmp/there
tap_end
