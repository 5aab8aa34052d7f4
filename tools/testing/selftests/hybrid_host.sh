#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# perf itself, on a host whose CPU 0 is a P core and CPU 1 an E core: what the tests of guests there
# rest on. Of the instructions a P core takes an eighth for branches, an E core a quarter.
. ./lib.sh

[ -d /sys/bus/event_source/devices/cpu_atom ] || tap_skip_all "this CPU is not hybrid"
both=cpu_core/instructions/u,cpu_atom/instructions/u,cpu_core/branches/u,cpu_atom/branches/u

# counts EVENTS COMMAND...: its counts, one a line; - where there is none
counts() {
	events=$1
	shift
	perf stat -x, -o /tmp/stat -e "$events" "$@" > /dev/null 2>&1
	sed -n 's/^<not counted>.*/-/p; s/^\([0-9]*\),.*/\1/p' /tmp/stat | paste -sd ' '
}

dmesg | grep -q 'Alderlake Hybrid'
tap $? "the kernel knows the CPU"
[ "$(cat /sys/devices/cpu_core/cpus) $(cat /sys/devices/cpu_atom/cpus)" = "0 1" ]
tap $? "CPU 0 is a P core, CPU 1 an E core"

# shares P E: with the counts of $got, each core has its share of branches, and at least P and E
# instructions; taskset and the shell add some on either
shares() {
	echo "# $got"
	echo "$got" | awk -v p="$1" -v e="$2" '
		function off(a, b) { return (a > b ? a - b : b - a) / b }
		{ exit !($1 + 0 >= p && $2 + 0 >= e && $1 + $2 >= 20000004 &&
			 ($1 == "-" || off($3 * 8, $1) < 0.001) && ($2 == "-" || off($4 * 4, $2) < 0.001)) }'
}

got=$(counts "$both" taskset -c 0 ./loop20m)
shares 20000004 0
tap $? "CPU 0: the counts of a P core" "$got"
got=$(counts "$both" taskset -c 1 ./loop20m)
shares 0 20000004
tap $? "CPU 1: the counts of an E core" "$got"
got=$(counts "$both" sh -c './loop100m & for i in 1 2 3 4 5 6 7 8; do
	usleep 5000; taskset -p -c $((i % 2)) $! > /dev/null; done; wait')
shares 10000000 10000000 && echo "$got" | awk '{ exit !($1 + $2 >= 100000004) }'
tap $? "moved eight times: each core counts its part" "$got"

got=$(counts '{cpu_core/instructions/u,cpu_core/branches/u},{cpu_atom/instructions/u,cpu_atom/branches/u}' \
	taskset -c 1 ./loop20m)
echo "$got" | awk '{ exit !($3 >= 20000004 && $4 * 4 > $3 * 0.999) }'
tap $? "groups" "$got"

perf record -q -o $data -c 100000 -e cpu_core/instructions/u,cpu_atom/instructions/u taskset -c 1 ./loop20m
n=$(perf script -i $data -F event,ip 2> /dev/null | grep -c cpu_atom/instructions)
[ "$n" -ge 200 ]
tap $? "samples of the E core" "$n"
perf stat -o /tmp/stat true && grep -q 'cpu_core/instructions/' /tmp/stat
tap $? "perf stat without events" "$(cat /tmp/stat)"
tap_end
