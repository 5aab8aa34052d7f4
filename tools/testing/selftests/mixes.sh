#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Which events fit together: the same in a guest as on its host, for all groups of six
# kinds of event, and for mixes of single events, pinned ones and pinned groups, each right after another one. Also
# while the host's NMI watchdog has a counter of its own.
. ./lib.sh

need_host_command
need_count
here=$PWD
mux=/sys/bus/event_source/devices/cpu/perf_event_mux_interval_ms
watchdog=/proc/sys/kernel/nmi_watchdog

# A mix takes less than a millisecond, all of them some seconds. perf must not rotate
# events meanwhile: on the host another event would have the counter of a guest's pinned one. A rotation
# timer that runs keeps its old interval: wait for its end.
rotate_every()
{
	echo "$1" > $mux
	host "echo $2 > $mux"
}

# compare WHEN: run the mixes in the guest and on the host.
compare()
{
	./pmu_mixes > /tmp/mixes
	host "cd $here && ./pmu_mixes > /tmp/mixes"
	[ "$(grep -c 'counts: ' /tmp/mixes)" -gt 100 ]
	tap $? "$1: mixes were counted" "$(tail -n 1 /tmp/mixes)"
	host "cat /tmp/mixes" > /tmp/mixes.host
	diff /tmp/mixes.host /tmp/mixes > /tmp/mixes.diff
	tap $? "$1: it is as on the host" "$(head -n 20 /tmp/mixes.diff | tr '\n' ';')"
}

mux_here=$(cat $mux) mux_there=$(host "cat $mux")
watchdog_there=$(host "cat $watchdog")
trap 'host "echo $watchdog_there > $watchdog"; rotate_every "$mux_here" "$mux_there"; sleep 20' EXIT
rotate_every 20000 20000

host "echo 0 > $watchdog"
compare "no watchdog"
largest=$(sed -n 's/^the largest group: //p' /tmp/mixes)
[ "$largest" -gt 3 ]
tap $? "groups are of up to $largest events"

host "echo 1 > $watchdog"
[ "$(host "cat $watchdog")" = 1 ]
tap $? "the host's watchdog runs"
compare "watchdog"
tap_end
