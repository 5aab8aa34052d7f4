#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# A count that has left its counter leaves it running at the host, for the next one
# that wants it. What others did meanwhile is nobody's; and it ends.
. ./lib.sh

need_host_command
want=20000004
vms=/sys/kernel/debug/pvperf/vms
u6=cycles:u,instructions:u,branches:u,branch-misses:u,cache-references:u,cache-misses:u
all6=cycles,instructions,branches,branch-misses,cache-references,cache-misses

need_count

# value FILE EVENT: the count, if it was there all the time
value() { grep -F ",$2," "$1" | stat_share | sed -n 's/ 100\.00$//p'; }

exact_in() { # NAME FILE
	n=$(value "$2" instructions:u)
	within "${n:-0}" $want 0.01 && [ "$n" = "$(value "$2" cycles:u)" ]
	tap $? "$1" "$(tail -n +3 "$2" | tr '\n' ' ')"
}

(while :; do :; done) &
spinner=$!
before=$(host_total calls)
perf stat -x, -o /tmp/a -e $u6 ./loop20m
made=$(($(host_total calls) - before))
kill $spinner
exact_in "beside a task that nobody counts" /tmp/a
[ $made -gt 8 ]
tap $? "which took its turns" "$made calls"

perf stat -x, -o /tmp/b -e $u6 ./loop20m &
perf stat -x, -o /tmp/a -e $u6 ./loop20m
wait
exact_in "beside one that counts the same" /tmp/a
exact_in "and that one, too" /tmp/b

perf stat -x, -o /tmp/b -e $all6 ./loop20m &
perf stat -x, -o /tmp/a -e $u6 ./loop20m
wait
exact_in "beside one that counts something else" /tmp/a
n=$(value /tmp/b instructions)
[ "${n:-0}" -ge $want ] && [ "$n" = "$(value /tmp/b cycles)" ]
tap $? "and that one, too" "$(tail -n +3 /tmp/b | tr '\n' ' ')"

# What runs on is not to take the counters that the host has left.
# The guest hears of it with a READ: until then some milliseconds are lost, to each.
host "perf stat -a -o /dev/null -e instructions:D,instructions:D,instructions:D sleep 4 > /dev/null 2>&1 &"
sleep 2
first=instructions:u,cycles:u,branches:u
second=cache-references:u,cache-misses:u,branch-misses:u
# least_share FILE: of the event that had the least
least_share() { stat_share "$1" | awk '{ print $NF }' | sort -n | head -n 1; }
perf stat -x, -o /tmp/b -e $second ./loop100m &
perf stat -x, -o /tmp/a -e $first ./loop100m
wait
for file in /tmp/a /tmp/b; do
	n=$(least_share $file)
	[ "${n%.*}" -ge 90 ]
	tap $? "three of the host's counters are enough for three at a time" "$n %"
done
sleep 3

counting() { host "grep -c state=counting $vms"; }
perf stat -o /tmp/a -e instructions:u sleep 4 &
sleep 0.5
n=$(counting)
[ "$n" -gt 0 ]
tap $? "a counter runs on" "$n"
sleep 3
n=$(counting)
[ "$n" -eq 0 ]
tap $? "not for ever" "$n"
wait
tap_end
