#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Groups while the host's own perf has some of the counters. The host knows no groups, so
# the events of a group starve unequally there. Each count is scaled to within 2 % of the
# truth, or the whole group is reported as not counted. The truth is what a run without
# takers counts, and for events that need no counter what they count beside the group.
. ./lib.sh
. ./scarce.sh

need_host_command
all=$(instruction_counters)
[ "${all:-0}" -ge 4 ] || tap_skip_all "the host does not say how many counters it has"
# The host takes so many that the group of four just fits. On Intel cycles have a fixed one.
left=4
! grep -qs cycles /sys/bus/event_source/devices/pvperf/caps/fixed_counters || left=3
taken=$((all - left))

six=cycles:u,instructions:u,branches:u,branch-misses:u,cache-references:u,cache-misses:u
four=cycles:u,instructions:u,branches:u,branch-misses:u

own=$(echo "$six" | sed 's/branches/branch-instructions/; s|\([a-z-]*\):u|pvperf/vcpu-\1/u|g')

short() { stat "$1" ./loop100m; }

# syscalls EVENTS: a program with many, at a steady rate. A short one would have too few turns
# of the host's events: what is scaled is a sample.
syscalls() { stat "$1" dd if=/dev/zero of=/dev/null bs=1 count=300000 2> /dev/null; }

# like NAME LOW HIGH: each count of /tmp/numbers is that of /tmp/truth, and all have the
# same share of the time, from LOW to HIGH; or none has a count
like() {
	awk -v low="$2" -v high="$3" '
		NR == FNR { want[FNR] = $1; lines = FNR; next }
		{ seen++; share[$NF]++ }
		/not counted/ { none++; next }
		{ d = $1 - want[FNR]; if (d < 0) d = -d
		  if (d > want[FNR] * 0.02 || $NF < low || $NF > high) bad = 1 }
		END { for (s in share) shares++
		      exit !(seen == lines && (none == seen ? low == 0 : !none && !bad && shares == 1)) }' \
		/tmp/truth /tmp/numbers
	tap $? "$1" "$(paste -d ' ' /tmp/numbers /tmp/truth | tr '\n' ';')"
}

# twin NAME PERCENT: the first event of /tmp/numbers is in a group, and the last one is the
# same event outside of it; the counts differ by so much at most
twin() {
	awk -v percent="$2" '{ count[NR] = $1; share = NR == 1 ? $NF : share }
		END { d = count[1] - count[NR]; if (d < 0) d = -d
		      exit !(NR > 1 && share < 100 && d <= count[NR] * percent / 100) }' /tmp/numbers
	tap $? "$1" "$(tr '\n' ';' < /tmp/numbers)"
}

# cases KIND
cases() {
	for program in short run; do
		for group in $four $six; do
			n=$(echo $group | tr , '\n' | grep -c .)
			low=0 high=95
			[ "$n" -gt 4 ] || low=100 high=100
			[ $program = short ] || [ $low = 100 ] || low=20
			$program "$group" | cut -d ' ' -f 1 > /tmp/truth
			taker_take
			$program "{$group}" > /tmp/numbers
			like "$1, $program: a group of $n" $low $high
			$program "{task-clock,$group}" | sed 1d > /tmp/numbers
			like "$1, $program: a group of $n that task-clock leads" $low $high
			taker_give
		done
	done
	taker_take
	run "{task-clock,$six},task-clock" > /tmp/numbers
	twin "$1: task-clock, as the leader" 2
	run "{cycles:u,task-clock,${six#*,}},task-clock" | sed 1d > /tmp/numbers
	twin "$1: task-clock, as a member" 2
	syscalls "{raw_syscalls:sys_enter,$six},raw_syscalls:sys_enter" > /tmp/numbers
	twin "$1: a tracepoint, as the leader" 2
	taker_give
}

# changes KIND: core schedules the group anew while the host has taken counters
changes() {
	# another perf opens events of the same process in the middle
	taker_take
	rm -f /tmp/started
	sh -c 'echo > /tmp/started
		./loop100m; ./loop100m; ./loop100m; ./loop100m; ./loop100m; ./loop100m' &
	program=$!
	perf stat -x, -o /tmp/stat -e "{cycles:u,task-clock,${six#*,}},task-clock" -p $program &
	for _ in 1 2 3; do
		sleep 0.3
		perf stat -o /dev/null -e cycles -p $program sleep 0.1
	done
	wait
	stat_share /tmp/stat | sed 1d > /tmp/numbers
	twin "$1: task-clock in a group, while another perf comes and goes" 2
	# three groups, of which the host's counters leave room for fewer
	run "{task-clock,$four},{task-clock,$four},{task-clock,$four},task-clock" |
		awk 'NR % 5 == 1' > /tmp/numbers
	twin "$1: task-clock, as the leader of one of three groups that take turns" 5
	# The PMU with names of its own: on 6.1 its groups are in another context than those of "cpu".
	run "{task-clock,$own},task-clock" > /tmp/numbers
	twin "$1: task-clock, as the leader of events of pvperf" 2
	taker_give
	run "$own" | cut -d ' ' -f 1 > /tmp/truth
	taker_take
	run "{$own}" > /tmp/numbers
	like "$1: a group of events of pvperf" 20 95
	taker_give
}

# joined KIND: what pmu_joined says, scaled, is what it says if the host takes nothing
joined() {
	./pmu_joined > /tmp/truth
	taker_take
	./pmu_joined > /tmp/numbers
	taker_give
	awk 'NR == FNR { want = $1; next } { d = $1 * $2 / $3 - want; if (d < 0) d = -d
		good = $3 < $2 * 0.97 && d <= want * 0.03 } END { exit !(want > 0 && good) }' /tmp/truth /tmp/numbers
	tap $? "$1: an event that gets a group while its task waits" "$(cat /tmp/truth /tmp/numbers | tr '\n' ';')"
}

for kind in pinned flexible; do
	arm $taken "$([ $kind = flexible ] || echo :D)"
	cases $kind
	changes $kind
	joined $kind
	taker_end
done

# All counters are taken: before the group begins, or after.
arm "$all" :D
taker_take
for group in $four "task-clock,$four"; do
	short "{$group}" > /tmp/numbers
	[ "$(grep -c 'not counted' /tmp/numbers)" -ge 4 ]
	tap $? "without counters {${group%%,*},...} is not counted" "$(tr '\n' ';' < /tmp/numbers)"
done
taker_give
run $four | cut -d ' ' -f 1 > /tmp/truth
for group in $four "task-clock,$four"; do
	later taker_take
	run "{$group}" | tail -n 4 > /tmp/numbers
	like "the host takes all counters from {${group%%,*},...}" 10 95
	wait
	taker_give
done
taker_end
tap_end
