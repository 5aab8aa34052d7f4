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
[ "$(echo "$n" | grep -c .)" = 1 ] && [ "$n" -ge $want ]
tap $? "perf counts what the host does, and adds its CPUs up" "$n, $(cat /tmp/error)"
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
