#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# The host's own perf takes counters from the guest: before it starts to count,
# while it counts, for a part of the time, or some of them. The guest's number is
# scaled to within 2 % of the truth, or said not to be counted; never silently
# short. The host's flexible events of a CPU come before those of any task, so
# they starve a guest as pinned ones do.
#
# honest.sh report: the five cases only, as what perf says, judged by nobody; for
# any PMU (tools/testing/lab/accuracy).
. ./lib.sh

need_host_command
report=$1
counters=$(counters || echo 6)
one=100000004 six=600000024
sizes="1 $counters"
[ -z "$report" ] || sizes=1

# times N EVENT: that event N times
times() {
	echo "$2" | awk -v n="$1" '{ for (i = 1; i < n; i++) printf "%s,", $1; print $1 }'
}

# arm N MODIFIER: the host's perf will take N counters of every CPU
arm() {
	taker_start "$(times "$1" "instructions$2")"
}

# stat EVENTS COMMAND...: what perf says, an event a line: count, share
stat() {
	events=$1
	shift
	perf stat -x, -o /tmp/stat -e "$events" "$@"
	stat_share /tmp/stat
}

# honest NAME TRUTH LOW HIGH: the numbers right; the share of time in a range
honest() {
	if [ "$report" ]; then
		echo "@@case|$1|$2|$(tr '\n' ';' < /tmp/numbers)"
		return
	fi
	awk -v want="$2" -v low="$3" -v high="$4" '
		/not counted/ { if (low > 0) exit 1; next }
		{ d = $1 - want; if (d < 0) d = -d
		  if (d > want * 0.02 || $NF < low || $NF > high) exit 1 }' /tmp/numbers &&
		[ -s /tmp/numbers ]
	tap $? "$1" "$(tr '\n' ';' < /tmp/numbers)"
}

# later COMMAND...: while the program counts
later() {
	(sleep 0.2; "$@") &
}
run() {
	stat "$1" sh -c './loop100m; ./loop100m; ./loop100m; ./loop100m; ./loop100m; ./loop100m'
}

stat instructions:u ./loop100m > /tmp/numbers
honest "nobody else: all is counted" $one 100 100

for kind in pinned flexible; do
	m=
	[ $kind = flexible ] || m=:D
	arm "$counters" $m
	for n in $sizes; do
		events=$(times "$n" instructions:u)
		taker_take
		stat "$events" ./loop100m > /tmp/numbers
		honest "the host's $kind were there, $n of the guest's" $one 0 0
		later taker_give
		run "$events" > /tmp/numbers
		honest "the host's $kind go, $n of the guest's" $six 10 95
		wait
		later taker_take
		run "$events" > /tmp/numbers
		honest "the host's $kind come, $n of the guest's" $six 10 95
		wait
		taker_give
	done
	taker_end
	arm $((counters / 2)) $m
	taker_take
	run "$(times "$counters" instructions:u)" > /tmp/numbers
	honest "the host's $kind have half, $counters of the guest's" $six 30 70
	taker_end
done

[ -z "$report" ] || exit 0

# It shows in each interval, though nothing but the reading makes the guest ask.
arm "$counters" :D
later taker_take
perf stat -I 100 -x, -o /tmp/intervals -e instructions:u sh -c \
	'./loop100m; ./loop100m; ./loop100m; ./loop100m; ./loop100m; ./loop100m'
taker_end
awk -F, '/not counted/ { none++ } $2 ~ /^[0-9]/ && $6 == "100.00" { full++ }
	END { exit !(full >= 1 && none >= 2) }' /tmp/intervals
tap $? "intervals tell when they came" "$(cut -d , -f 2,6 /tmp/intervals | tr '\n' ';')"

# A pinned event is all of the time, or in error; and a new start may mend that.
stat instructions:uD ./loop100m > /tmp/numbers
honest "a pinned one of the guest's is counted" $one 100 100
arm "$counters" :D
taker_take
stat instructions:uD ./loop100m > /tmp/numbers
honest "or not at all" $one 0 0
stat '{instructions:uD,instructions:u}' ./loop100m > /tmp/numbers
honest "nor is its group" $one 0 0
later taker_give
run instructions:uD > /tmp/numbers
honest "nor later, as an error stays one" $six 0 0
wait
stat '{instructions:uD,instructions:u}' ./loop100m > /tmp/numbers
honest "but is when they are gone" $one 100 100
stat instructions:ue,instructions:u ./loop100m > /tmp/numbers
honest "an exclusive one waits for its turn" $one 20 80

# The admin decides who wins.
priority=/sys/module/pvperf_host/parameters/priority
vm=$(vm_process)
taker_end
arm "$counters"
taker_take
host "echo $vm=pinned > $priority"
tap $? "the VM of process $vm may go first"
run "$(times "$counters" instructions:u)" > /tmp/numbers
honest "then the host's flexible ones wait" $six 99 100
taker_end
arm "$counters" :D
taker_take
stat instructions:u ./loop100m > /tmp/numbers
honest "not its pinned ones" $one 0 0
later taker_give
run instructions:u > /tmp/numbers
honest "and when those go it recovers" $six 10 95
wait
taker_end
host "echo $vm=flexible > $priority"
arm "$counters"
taker_take
stat instructions:u ./loop100m > /tmp/numbers
honest "and it waits again" $one 0 0
taker_end
! host "echo $vm=maybe > $priority" 2> /dev/null && ! host "echo 1=pinned > $priority" 2> /dev/null
tap $? "no other word, and no other process"
tap_end
