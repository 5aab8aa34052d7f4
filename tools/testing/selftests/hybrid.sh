#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Unmodified perf in a guest whose vCPU runs on a P core (the host's CPU 0), on an E core (CPU 1),
# and now here, now there. Of the instructions a P core takes an eighth for branches and a quarter for
# loads, an E core a quarter and half.
. ./lib.sh

need_host_command
host '[ -d /sys/bus/event_source/devices/cpu_atom ]' || tap_skip_all "the host's cores are of one kind"
vms=/sys/kernel/debug/pvperf/vms
devices=/sys/bus/event_source/devices
want=20000004
each=pvperf/vcpu-instructions/u,pvperf/vcpu-instructions,kind=1/u,pvperf/vcpu-instructions,kind=2/u
sum=pvperf/vcpu-instructions/u
branches=pvperf/vcpu-branch-instructions/u

[ -e $devices/cpu_core ] && [ -e $devices/cpu_atom ] && [ ! -e $devices/cpu ]
tap $? "the PMUs have the names of the host's" "$(ls $devices | paste -sd ' ')"
[ "$(cat $devices/cpu_core/cpus $devices/cpu_atom/cpus | paste -sd ' ')" = "0 0" ]
tap $? "each of them is every CPU's"
perf stat -e $sum true 2> /dev/null	# the host knows the VM from its first call on
vmm=$(host "sed -n 's/.*pid=\([0-9]*\).*/\1/p' $vms | head -n 1")

# runs_on CPU: the VMM, all its threads
runs_on() {
	host "taskset -a -p -c $1 $vmm > /dev/null"
}

# counts EVENTS COMMAND...: of each event, as counted, one a line; - where there is none
counts() {
	events=$1
	shift
	perf stat --no-scale -x, -o /tmp/stat -e "$events" "$@"
	sed -n 's/^<not counted>.*/-/p; s/^\([0-9]*\),.*/\1/p' /tmp/stat | paste -sd ' '
}

# by_name EVENTS: the counts of these of ./loop20m, cpu_core's first; of the names that perf makes two
by_name() {
	perf stat --no-scale -x, -o /tmp/stat -e "$1" ./loop20m
	awk -F, 'NF > 4 { n = $1 ~ /^[0-9]/ ? $1 : "-"
			if ($3 ~ /cpu_core/) core = core " " n; else atom = atom " " n }
		 END { print core atom }' /tmp/stat | cut -c 2-
}

# sees CPU NAME COUNTS NAMED SHARE: all that is on that core, of the instructions one in SHARE for
# branches
sees() {
	runs_on "$1"
	got=$(counts "$each" ./loop20m)
	[ "$got" = "$3" ]
	tap $? "on $2" "$got"
	got=$(by_name instructions:u)
	[ "$got" = "$4" ]
	tap $? "instructions on $2: one row for each kind" "$got"
	n=$(count -e $branches ./loop20m)
	within "${n:-0}" $((want / $5)) 0.001
	tap $? "branches as $2 sees them" "$n"
	got=$(by_name cpu_core/mem_inst_retired.all_loads/u,cpu_atom/mem_uops_retired.all_loads/u)
	n=$(echo "$got" | tr -d ' -')
	within "${n:-0}" $((want * 2 / $5)) 0.001
	tap $? "loads, by perf's names for this CPU, on $2" "$got"
	perf stat -o /tmp/stat ./loop20m 2> /tmp/err && [ ! -s /tmp/err ] &&
		[ "$(grep -c '^ *[0-9].*cpu_.*/instructions/' /tmp/stat)" = 1 ] &&
		[ "$(grep -c 'not counted.*cpu_.*/instructions/' /tmp/stat)" = 1 ]
	tap $? "perf stat without events, on $2" "$(cat /tmp/err /tmp/stat)"
}

sees 0 "a P core" "$want $want -" "$want -" 8
retiring=$(sed -n 's/.* \([0-9.][0-9.]*\) *%  tma_retiring.*/\1/p' /tmp/stat | head -n 1)
within "${retiring:-0}" 50 30
tap $? "half of a P core's slots retire" "$retiring"
sees 1 "an E core" "$want - $want" "- $want" 4

moves() {
	host "for i in 0 1 0 1 0 1 0 1 0 1; do taskset -a -p -c \$i $vmm; usleep 10000; done > /dev/null"
}

moves &
got=$(counts "$each" ./loop100m)
wait
echo "# $got"
echo "$got" | awk '{ exit !($1 == 100000004 && $2 > 1000000 && $3 > 1000000 && $2 + $3 == $1) }'
tap $? "moved ten times: the sum is exact, and that of the kinds" "$got"
[ "$(stat_share /tmp/stat | awk 'NR == 1 { print $2 }')" = 100.00 ]
tap $? "counted all the time" "$(cat /tmp/stat)"

runs_on 0
perf stat -o /tmp/stat -e instructions:uD sh -c "./loop20m; host taskset -a -p -c 1 $vmm > /dev/null; ./loop20m"
[ "$(grep -c '^ *[0-9].*cpu_.*/instructions' /tmp/stat)" = 2 ]
tap $? "a pinned event of a kind waits for such a core" "$(cat /tmp/stat)"

# Of each kind more than there are slots.
many=$(seq 20 | sed 's/.*/instructions:u,branches:u,cycles:u,cache-misses:u/' | paste -sd ,)
for on in "0 cpu_core" "1 cpu_atom"; do
	runs_on "${on% *}"
	perf stat -o /tmp/stat -e "$many" sh -c './loop100m; ./loop100m'
	n=$(grep -c "^ *[0-9].*${on#* }" /tmp/stat)
	echo "# $n of 80"
	[ "$n" -ge 45 ]
	tap $? "80 events of ${on#* } have turns beside 80 of the other kind" "$n"
done

runs_on 1
perf stat -x, -o /tmp/stat -e "$(times 31 cpu_core/cycles/u),$(times 33 pvperf/vcpu-cycles/u),cpu_atom/branches/u" ./loop20m
grep -q '^[0-9].*cpu_atom/branches/u' /tmp/stat
tap $? "one of cpu_atom has a slot beside 31 of cpu_core and 33 sums" "$(tail -n 1 /tmp/stat)"

perf record -q -o $data -c 100000 -e $sum ./loop20m
n=$(samples $data)
[ "$n" -eq $((want / 100000)) ]
tap $? "samples on an E core" "$n"

# recorded OPTIONS...: how many samples, of a vCPU that moves
recorded() {
	moves &
	perf record -q -o $data "$@" ./loop100m
	wait
	samples $data
}

for e in "$sum" instructions:u; do
	n=$(recorded -c 100000 -e $e)
	[ "$n" -ge 998 ] && [ "$n" -le 1000 ]
	tap $? "$e in periods, on a vCPU that moves" "$n"
	n=$(recorded -F 2000 -e $e)
	[ "$n" -ge 150 ] && [ "$n" -le 300 ]
	tap $? "$e at a frequency, on a vCPU that moves" "$n"
done

moves &
got=$(counts "{$sum,$branches}" ./loop100m)
wait
echo "$got" | awk '{ exit !($1 == 100000004 && $2 > $1 / 8 && $2 < $1 / 4) }'
tap $? "a group of sums, on a vCPU that moves" "$got"
runs_on 0
got=$(counts "{cpu_core/instructions/u,cpu_core/branches/u}" ./loop20m)
[ "${got% *}" = "$want" ] && within "${got#* }" $((want / 8)) 0.001
tap $? "a group of P cores' events" "$got"

n=$(count -e r00c0:u ./loop20m)
[ "$n" = "$want" ]
tap $? "a raw code that means the same everywhere" "$n"
perf stat -x, -e r01a8:u true > /tmp/stat 2>&1
grep -q 'not supported' /tmp/stat
tap $? "one that does not is refused" "$(cat /tmp/stat)"
dmesg | grep 'refused: raw event 0x1a8' | grep -q 'pvperf/config=0x1a8,kind=1/'
tap $? "the log has the way out"
runs_on 1
perf stat -x, -o /tmp/stat -e pvperf/config=0xc0,kind=2/u ./loop20m
[ "$(stat_value /tmp/stat)" = "$want" ]
tap $? "which works" "$(cat /tmp/stat)"
tap_end
