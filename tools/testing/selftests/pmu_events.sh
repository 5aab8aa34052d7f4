#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# The PMU in sysfs: its names, its format; and each event that it lists can be opened.
. ./lib.sh

devices=/sys/bus/event_source/devices
[ -d $devices/pvperf ] || tap_skip_all "no PMU named pvperf"

for pmu in cpu pvperf; do
	[ -d $devices/$pmu ] || continue
	for f in type format/event caps/max_precise; do
		[ -s $devices/$pmu/$f ]
		tap $? "$pmu has $f"
	done
	[ "$(cat $devices/$pmu/caps/max_precise)" = 0 ]
	tap $? "$pmu says that it is not precise"
	for event in $devices/$pmu/events/*; do
		case $event in *.unit|*.scale|*.snapshot) continue;; esac
		name=$pmu/${event##*/}/
		perf stat -x, -e "$name" -o /tmp/stat true 2> /tmp/err
		grep -qE '^[0-9]+,|not counted' /tmp/stat
		tap $? "$name opens" "$(cat /tmp/stat /tmp/err | tr '\n' ' ')"
	done
done

# perf from 7.x on opens a name at each PMU that lists it.
here=$(cd $devices/pvperf/events && echo *)
others=
for event in $here; do
	for pmu in "$devices"/*/events/"$event"; do
		case $pmu in */pvperf/*) ;; *) [ ! -e "$pmu" ] || others="$others $pmu";; esac
	done
done
[ -z "$others" ] && [ -e $devices/pvperf/events/vcpu-instructions ]
tap $? "no other PMU has a name of pvperf's" "$others"

perf list hw 2> /dev/null | grep -q 'instructions'
tap $? "perf list hw names instructions"
perf list 2> /dev/null | grep -q 'pvperf/'
tap $? "perf list names pvperf's events"

# The events of "pvperf" are in a software context, where older kernels let none take turns;
# the host's perf does that.
n=$(($(instruction_counters) + 1))
events=$(times $n pvperf/vcpu-instructions/u)
perf stat -x, -e "$events" -o /tmp/stat sh -c './loop100m; ./loop100m; ./loop100m' 2> /tmp/err
stat_share /tmp/stat > /tmp/shares
awk -v n=$n '$1 >= 300000012 * 0.95 && $1 <= 300000012 * 1.05 && $2 > 50 && $2 < 100 { good++ }
	END { exit good != n }' /tmp/shares
tap $? "$n events take turns" "$(tr '\n' ';' < /tmp/shares)"
tap_end
