#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# rows.sh REPEATS TRIPS: runs in the guest. Two processes on one CPU pass a word back and
# forth through pipes. Runs with nothing counted and runs with six events alternate, so
# that a CPU which changes its speed does so in both. Prints marks as the bench does, in
# ticks of the TSC; repeat 0 is the warm-up.

repeats=$1 trips=$2
six=cycles,instructions,branches,branch-misses,cache-references,cache-misses

r=0
while [ $r -le "$repeats" ]; do
	for n in $((trips / 10)) "$trips"; do
		taskset -c 0 pipe "pipe.plain.$n.$r" "$n" /dev/null
		taskset -c 0 perf stat -o /tmp/stat -e $six pipe "pipe.six.$n.$r" "$n" /dev/null
	done
	r=$((r + 1))
done | grep QM
grep -E 'not (counted|supported)' /tmp/stat | sed 's/^/@@silicon uncounted /'
exit 0
