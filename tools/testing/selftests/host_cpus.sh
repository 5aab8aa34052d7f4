#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# The host's operator lets this VM count the host's CPUs. Each becomes a PMU in the guest that
# runs. Unmodified perf adds them up, and they count what others do there.
. ./lib.sh

need_host_command
need_count
rules=/dev/pvperf_policy
pmus=/sys/bus/event_source/devices
want=100000004
cpus=$(host nproc)

# there: how many CPUs of the host are PMUs
there() {
	set -- "$pmus"/pvperf_host_*
	[ -e "$1" ] && echo $# || echo 0
}

# loop_on_host EVENT: count it while the host runs the loop of $want instructions
loop_on_host() {
	perf stat -a -x, -o /tmp/stat -e "$1" sh -c 'host /t/loop100m' 2> /tmp/error
	stat_value /tmp/stat
}

[ "$(there)" = 0 ]
tap $? "access=local: there is no CPU of the host"
second=/sys/devices/system/cpu/cpu1/online
[ "$cpus" = 1 ] || host "echo 0 > $second"
host "echo access=global > $rules"
sleep 5
if [ "$cpus" -gt 1 ]; then
	[ "$(there)" = $((cpus - 1)) ]
	tap $? "a CPU that is offline is not there" "$(there) of $cpus"
	host "echo 1 > $second"
	sleep 4
fi
[ "$(there)" = "$cpus" ]
tap $? "access=global: each CPU of the host is a PMU" "$(there) of $cpus"
dmesg | grep -q 'lets this VM count all that its CPUs do'
tap $? "the guest's log says so"

n=$(loop_on_host pvperf_host/host-instructions/)
[ "$(echo "$n" | grep -c .)" = 1 ] && [ "$n" -ge $want ] && [ "$n" -lt $((2 * want)) ]
tap $? "perf counts what the host does, once, and adds its CPUs up" "$n, $(cat /tmp/error)"
[ "$(stat_share /tmp/stat | cut -d ' ' -f 2)" = 100.00 ]
tap $? "nothing was missed" "$(cat /tmp/stat)"
n=$(loop_on_host instructions)
[ "${n:-$want}" -lt $want ]
tap $? "the guest's own events do not count that" "$n"
n=$(loop_on_host '{pvperf_host_0/host-cycles/,pvperf_host_0/host-instructions/}' | grep -c .)
[ "$n" = 2 ]
tap $? "a group of one CPU's events counts" "$(cat /tmp/stat /tmp/error)"
n=$(loop_on_host pvperf_host_0/host-instructions/u)
[ -z "$n" ]
tap $? "a CPU is counted as a whole: no filter" "$n"
! timeout 10 perf record -q -a -o /dev/null -e pvperf_host_0/host-cycles/ true 2> /tmp/error &&
	dmesg | grep -q 'samples of a CPU of the host: it is only counted'
tap $? "the host's CPUs are not sampled, and the guest's log says why" "$(tail -n 3 /tmp/error)"

if [ "$cpus" -gt 1 ]; then
	perf stat -a -x, -o /tmp/stat -e pvperf_host_0/host-instructions/,pvperf_host_1/host-instructions/ \
		sh -c 'host taskset -c 1 /t/loop100m'
	stat_value /tmp/stat > /tmp/two
	awk -v want=$want '{ n[NR] = $1 } END { exit !(n[1] < want && n[2] >= want && n[2] < 2 * want) }' /tmp/two
	tap $? "each counts what its own CPU does" "$(tr '\n' ' ' < /tmp/two)"
fi

# One CPU goes offline while perf counts, and comes back: it is counted again.
if [ "$cpus" -gt 1 ]; then
	perf stat -a -x, -o /tmp/stat -e pvperf_host_1/host-instructions/ sleep 9 &
	sleep 1
	host "echo 0 > $second"
	sleep 2
	host "echo 1 > $second"
	sleep 3
	host 'taskset -c 1 /t/loop100m'
	wait
	stat_share /tmp/stat > /tmp/share
	read -r n share < /tmp/share
	[ "${n:-0}" -ge $want ] && [ "${share%.*}" -lt 95 ]
	tap $? "a CPU that was offline counts again, and perf says which part was counted" "$n, $share"
fi

# More events than can be in slots would wait for ever.
host "echo access=global max_events=2 > $rules"
sleep 3
perf stat -a -x, -o /tmp/stat -e pvperf_host_0/host-instructions/,pvperf_host_0/host-cycles/ true 2> /tmp/error
[ "$(stat_value /tmp/stat | grep -c .)" = 1 ] && dmesg | grep -q "more than 1 events of the host's CPUs at a time"
tap $? "more events than there is room for are refused, and the guest's log says why" "$(cat /tmp/stat /tmp/error)"
host "echo access=global > $rules"
sleep 3

# Events that the host's CPU serves in turn only do not make those of the guest dear.
# calls: how many operations a thousand switches take, half of which are to an event's task
calls() {
	perf bench sched pipe -l 1000000 > /dev/null &
	bench=$!
	perf stat -o /dev/null -e instructions,cycles -p $bench &
	counter=$!
	sleep 1
	calls=$(host_total ops)
	switches=$(awk '$1 == "ctxt" { print $2 }' /proc/stat)
	sleep 1
	switches=$(($(awk '$1 == "ctxt" { print $2 }' /proc/stat) - switches))
	calls=$((($(host_total ops) - calls) * 1000 / switches))
	kill -INT $counter
	kill $bench
	wait $counter $bench
}
if [ "$cpus" -gt 1 ]; then
	host "taskset -p 1 $(vcpu_thread)" > /dev/null
	calls
	alone=$calls
	perf stat -a -o /dev/null -e "$(times 9 pvperf_host_1/host-instructions/)" sleep 5 &
	sleep 1
	calls
	wait
	host "taskset -p 3 $(vcpu_thread)" > /dev/null
	[ "$alone" -gt 500 ] && [ $((calls * 10)) -le $((alone * 12)) ]
	tap $? "beside starving events of another CPU of the host a switch makes as many operations" \
		"of a thousand $alone alone, $calls beside"
fi

# Taken back while perf counts: what was counted until then, and no more.
perf stat -a -x, -o /tmp/stat -e pvperf_host/host-instructions/ sleep 4 &
sleep 1
host "echo > $rules"
wait
stat_share /tmp/stat > /tmp/share
read -r n share < /tmp/share
[ -n "$n" ] && [ "${share%.*}" -lt 60 ]
tap $? "the rule goes while perf counts: perf says which part was counted" "$(cat /tmp/stat)"
n=$(loop_on_host pvperf_host_0/host-instructions/)
[ -z "$n" ] && dmesg | grep -q 'a CPU of the host: the host does not allow that .*(access=global)'
tap $? "it is refused then, and the guest's log says why" "$n"
host "echo access=global > $rules"
sleep 3
n=$(loop_on_host pvperf_host/host-instructions/)
[ "${n:-0}" -ge $want ]
tap $? "the rule comes back: it counts again" "$n"
host "echo > $rules"
tap_end
