#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# The host's own perf takes counters from the guest: before the guest starts to count,
# while it counts, for a part of the time, or some of the counters. The guest's number
# is scaled to within 2 % of the truth, or is reported as not counted; it is never
# silently short. The host schedules the flexible events of a CPU before those of any
# task, so they starve a guest as pinned events do.
. ./lib.sh
. ./scarce.sh

need_host_command
counters=$(instruction_counters || echo 6)
one=100000004 six=600000024
sizes="1 $counters"

# honest NAME TRUTH LOW HIGH: the counts are within 2 % of TRUTH, and the share of the
# time is from LOW to HIGH
honest() {
	awk -v want="$2" -v low="$3" -v high="$4" '
		/not counted/ { if (low > 0) exit 1; next }
		{ d = $1 - want; if (d < 0) d = -d
		  if (d > want * 0.02 || $NF < low || $NF > high) exit 1 }' /tmp/numbers &&
		[ -s /tmp/numbers ]
	tap $? "$1" "$(tr '\n' ';' < /tmp/numbers)"
}

stat instructions:u ./loop100m > /tmp/numbers
honest "no other user: all is counted" $one 100 100

for kind in pinned flexible; do
	m=
	[ $kind = flexible ] || m=:D
	arm "$counters" $m
	for n in $sizes; do
		events=$(times "$n" instructions:u)
		taker_take
		stat "$events" ./loop100m > /tmp/numbers
		honest "the host's $kind events came first, $n of the guest's" $one 0 0
		later taker_give
		run "$events" > /tmp/numbers
		honest "the host's $kind events go, $n of the guest's" $six 10 95
		wait
		later taker_take
		run "$events" > /tmp/numbers
		honest "the host's $kind events come, $n of the guest's" $six 10 95
		wait
		taker_give
	done
	taker_end
	arm $((counters / 2)) $m
	taker_take
	run "$(times "$counters" instructions:u)" > /tmp/numbers
	honest "the host's $kind events take half, $counters of the guest's" $six 30 70
	taker_end
done

# Intervals show it, although only perf's reading makes the guest ask the host.
arm "$counters" :D
later taker_take
perf stat -I 100 -x, -o /tmp/intervals -e instructions:u sh -c \
	'echo > /tmp/started; ./loop100m; ./loop100m; ./loop100m; ./loop100m; ./loop100m; ./loop100m; ./loop100m; ./loop100m'
taker_end
awk -F, '/not counted/ { none++ } $2 ~ /^[0-9]/ && $6 == "100.00" { full++ }
	END { exit !(full >= 1 && none >= 2) }' /tmp/intervals
tap $? "intervals show when the host took the counters" "$(cut -d , -f 2,6 /tmp/intervals | tr '\n' ';')"

# A pinned event counts all of the time, or is in error until it is enabled again.
stat instructions:uD ./loop100m > /tmp/numbers
honest "the guest's pinned event is counted" $one 100 100
arm "$counters" :D
taker_take
stat instructions:uD ./loop100m > /tmp/numbers
honest "without a counter it is not counted at all" $one 0 0
stat '{instructions:uD,instructions:u}' ./loop100m > /tmp/numbers
honest "nor is its group" $one 0 0
later taker_give
run instructions:uD > /tmp/numbers
honest "nor when the counters are free again, as it stays in error" $six 0 0
wait
stat '{instructions:uD,instructions:u}' ./loop100m > /tmp/numbers
honest "a new one is counted then" $one 100 100
stat instructions:ue,instructions:u ./loop100m > /tmp/numbers
honest "an exclusive event waits for its turn" $one 20 80

# A program that is over before the host's events take turns: its leader counted all of
# the time, its sibling never, and a group has one share of the time for all.
taker_end
arm $((counters - 1)) :D
taker_take
stat '{instructions:u,branches:u}' true > /tmp/numbers
[ "$(grep -c . /tmp/numbers)" = 2 ] && ! grep -q ' 100\.00$' /tmp/numbers
tap $? "a leader answers for a sibling without a counter" "$(tr '\n' ';' < /tmp/numbers)"

# The host's admin decides whose events go first.
vm=$(vm_process)
taker_end
arm "$counters"
taker_take
host "echo pid=$vm priority=pinned > /dev/pvperf_policy"
tap $? "the VM of process $vm may go first"
run "$(times "$counters" instructions:u)" > /tmp/numbers
honest "then the host's flexible events wait" $six 99 100
taker_give
later taker_take
run "$(times "$counters" instructions:u)" > /tmp/numbers
honest "and so do those that come while the guest counts" $six 99 100
wait
taker_end
arm "$counters" :D
later taker_take
run "$(times "$counters" instructions:u)" > /tmp/numbers
honest "the host's pinned events take the counters while the guest counts" $six 10 95
wait
stat instructions:u ./loop100m > /tmp/numbers
honest "nor do they wait if they came first" $one 0 0
later taker_give
run instructions:u > /tmp/numbers
honest "the guest counts again when those go" $six 10 95
wait
taker_end
host "echo pid=$vm priority=flexible > /dev/pvperf_policy"
arm "$counters"
taker_take
stat instructions:u ./loop100m > /tmp/numbers
honest "as flexible it waits again" $one 0 0
taker_end
! host "echo pid=$vm priority=maybe > /dev/pvperf_policy" 2> /dev/null &&
	! host "echo pid=99999999 priority=pinned > /dev/pvperf_policy" 2> /dev/null
tap $? "another value, or a process that is not there, is refused"
tap_end
