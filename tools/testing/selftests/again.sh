#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# A task that the guest's module has counted is counted by the module that is loaded next, at another
# place in memory. Up to 6.1 perf keeps the first one's struct pmu in the task.
. ./lib.sh

filler=/lab/modules/msr.ko
[ -f /lab/pvperf_guest.ko ] && [ -f $filler ] || tap_skip_all "no /lab/pvperf_guest.ko, or no $filler"

sh -c 'while :; do :; done' &
task=$!
n=$(count -e instructions -p $task sleep 0.1)
[ "${n:-0}" -gt 0 ]
tap $? "a task is counted" "${n:-nothing}"
# place: the module's address
place() { awk '$1 == "pvperf_guest" { print $6 }' /proc/modules; }
place=$(place)
guest_unload
insmod $filler
insmod /lab/pvperf_guest.ko
[ -n "$place" ] && [ "$(place)" != "$place" ]
tap $? "the module is at another place" "$place, $(place)"
n=$(count -e '{instructions,cycles}' -p $task sleep 0.1 | wc -l)
[ "$n" = 2 ]
tap $? "the task is counted again" "$n events"
kill $task
tap_end
