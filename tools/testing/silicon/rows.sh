#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# rows.sh REPEATS TRIPS: in the guest, two processes on one CPU hand a word to and fro,
# with nothing counted and with six events, in turn, so that a CPU that changes its speed
# does so to both. Marks as those of the bench, in ticks of the TSC; repeat 0 warms up.

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
