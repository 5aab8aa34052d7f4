#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Unmodified perf in a guest whose vCPU runs on a P core (the host's CPU 0), on an E core (CPU 1),
# and now here, now there. Of the instructions a P core takes an eighth for branches, an E core a
# quarter.
. ./lib.sh

need_host_command
host '[ -d /sys/bus/event_source/devices/cpu_atom ]' || tap_skip_all "the host's cores are of one kind"
vms=/sys/kernel/debug/pvperf/vms
want=20000004
each=instructions:u,pvperf/vcpu-instructions,kind=1/u,pvperf/vcpu-instructions,kind=2/u

perf stat -e instructions:u true 2> /dev/null	# the host knows the VM from its first call on
vmm=$(host "sed -n 's/.*pid=\([0-9]*\).*/\1/p' $vms | head -n 1")

# runs_on CPU: the VMM, all its threads
runs_on() {
	host "taskset -a -p -c $1 $vmm > /dev/null"
}

# counts COMMAND...: of each event, as counted, one a line; - where there is none
counts() {
	perf stat --no-scale -x, -o /tmp/stat -e "$each" "$@"
	sed -n 's/^<not counted>.*/-/p; s/^\([0-9]*\),.*/\1/p' /tmp/stat | paste -sd ' '
}

# sees CPU NAME COUNTS SHARE: all that is on that core, of the instructions one in SHARE for branches
sees() {
	runs_on "$1"
	got=$(counts ./loop20m)
	[ "$got" = "$3" ]
	tap $? "on $2" "$got"
	n=$(count -e branches:u ./loop20m)
	within "${n:-0}" $((want / $4)) 0.001
	tap $? "branches as $2 sees them" "$n"
}

sees 0 "a P core" "$want $want -" 8
sees 1 "an E core" "$want - $want" 4

moves() {
	host "for i in 0 1 0 1 0 1 0 1 0 1; do taskset -a -p -c \$i $vmm; usleep 10000; done > /dev/null"
}

moves &
got=$(counts ./loop100m)
wait
echo "# $got"
echo "$got" | awk '{ exit !($1 == 100000004 && $2 > 1000000 && $3 > 1000000 && $2 + $3 == $1) }'
tap $? "moved ten times: the sum is exact, and that of the kinds" "$got"
[ "$(stat_share /tmp/stat | awk 'NR == 1 { print $2 }')" = 100.00 ]
tap $? "counted all the time" "$(cat /tmp/stat)"

runs_on 1
perf record -q -o $data -c 100000 -e instructions:u ./loop20m
n=$(samples $data)
[ "$n" -eq $((want / 100000)) ]
tap $? "samples on an E core" "$n"
moves &
perf record -q -o $data -c 100000 -e instructions:u ./loop100m
wait
n=$(samples $data)
[ "$n" -ge 998 ] && [ "$n" -le 1000 ]
tap $? "samples of a vCPU that moves" "$n"

n=$(count -e r00c0:u ./loop20m)
[ "$n" = "$want" ]
tap $? "a raw code that means the same everywhere" "$n"
perf stat -x, -e r01a8:u true > /tmp/stat 2>&1
grep -q 'not supported' /tmp/stat
tap $? "one that does not is refused" "$(cat /tmp/stat)"
dmesg | grep 'refused: raw event 0x1a8' | grep -q 'pvperf/config=0x1a8,kind=1/'
tap $? "the log has the way out"
perf stat -x, -o /tmp/stat -e pvperf/config=0xc0,kind=2/u ./loop20m
[ "$(stat_value /tmp/stat)" = "$want" ]
tap $? "which works" "$(cat /tmp/stat)"
tap_end
