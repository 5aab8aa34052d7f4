#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# When an event leaves its counter, the counter runs on at the host for the next event
# that wants it. What it counts meanwhile belongs to no event, and it stops after a while.
. ./lib.sh
. ./scarce.sh

need_host_command
want=20000004
vms=/sys/kernel/debug/pvperf/vms
u6=cycles:u,instructions:u,branches:u,branch-misses:u,cache-references:u,cache-misses:u
all6=cycles,instructions,branches,branch-misses,cache-references,cache-misses

need_count

# value FILE EVENT: the count, if it was counted all of the time
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
exact_in "beside a task that is not counted" /tmp/a
[ $made -gt 8 ]
tap $? "that task ran, too" "$made calls"

perf stat -x, -o /tmp/b -e $u6 ./loop20m &
perf stat -x, -o /tmp/a -e $u6 ./loop20m
wait
exact_in "beside a program that counts the same events" /tmp/a
exact_in "that program, too" /tmp/b

perf stat -x, -o /tmp/b -e $all6 ./loop20m &
perf stat -x, -o /tmp/a -e $u6 ./loop20m
wait
exact_in "beside a program that counts other events" /tmp/a
n=$(value /tmp/b instructions)
[ "${n:-0}" -ge $want ] && [ "$n" = "$(value /tmp/b cycles)" ]
tap $? "that program, too" "$(tail -n +3 /tmp/b | tr '\n' ' ')"

# Counters that run on must not take the three that the host's own perf leaves. The guest
# learns of the loss by a READ, so each program loses some milliseconds.
arm $(($(instruction_counters) - 3)) :D
taker_take
first=instructions:u,cycles:u,branches:u
second=cache-references:u,cache-misses:u,branch-misses:u
# least_share FILE: the smallest share of the time of any event
least_share() { stat_share "$1" | awk '{ print $NF }' | sort -n | head -n 1; }
perf stat -x, -o /tmp/a -e $u6 ./loop20m
n=$(least_share /tmp/a)
[ "${n%.*}" -lt 90 ]
tap $? "the host has taken counters" "$n %"
perf stat -x, -o /tmp/b -e $second ./loop100m &
perf stat -x, -o /tmp/a -e $first ./loop100m
wait
for file in /tmp/a /tmp/b; do
	n=$(least_share $file)
	[ "${n%.*}" -ge 90 ]
	tap $? "three counters are enough for three events at a time" "$n %"
done
taker_end
sleep 3

counting() { host "grep -c state=counting $vms"; }
perf stat -o /tmp/a -e instructions:u sh -c 'echo $$ > /tmp/asleep; exec sleep 100' &
i=0
until n=$(counting) && [ "$n" -gt 0 ] || [ $((i += 1)) -gt 20 ]; do
	sleep 0.1
done
[ "$n" -gt 0 ]
tap $? "a counter runs on" "$n"
sleep 3
n=$(counting)
[ "$n" -eq 0 ]
tap $? "it stops when no event wants it" "$n"
kill "$(cat /tmp/asleep)"
wait
tap_end
