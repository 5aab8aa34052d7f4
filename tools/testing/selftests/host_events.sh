#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# The host's own events about this vCPU: they count, they sample by NMIs, they go
# and come back with the host's module. Neither side needs a PMU for them.
. ./lib.sh

events=/sys/bus/event_source/devices/pvperf/events
[ -e $events/host-cpu-clock ] || tap_skip_all "no PMU pvperf with events of the host"
command -v hot > /dev/null || tap_skip_all "no program hot, of tools/testing/lab/bin"
period=1000000
# so that there are samples enough, on a CPU that is ten times as fast, too
work=1
emulated || work=10

# host_event EVENT COMMAND...: what perf stat says, or nothing
host_event() {
	event=$1
	shift
	count -e "pvperf/$event/" "$@"
}
nmis() { awk '/NMI:/ { print $2 }' /proc/interrupts; }

few=$(host_event host-cpu-clock hot $work)
many=$(host_event host-cpu-clock hot $((5 * work)))
awk -v f="${few:-0}" -v m="${many:-0}" 'BEGIN { exit !(f > 0 && m > 2 * f && m < 10 * f) }'
tap $? "five times the work takes the host's CPU some five times" "$few, $many ns"
n=$(host_event host-context-switches -a sleep 0.5)
[ "${n:-0}" -gt 0 ]
tap $? "an idle vCPU is switched away from" "${n:-nothing}"

before=$(nmis)
perf record -q -e pvperf/host-cpu-clock/ -c $period -o /tmp/perf.data hot $((5 * work)) > /tmp/err 2>&1
tap $? "perf record by the host's clock" "$(cat /tmp/err)"
n=$(samples /tmp/perf.data)
# A timer is never early. It may be late; then it fires less often.
awk -v n="$n" -v most="$(awk -v m="${many:-0}" -v p=$period 'BEGIN { print 1.5 * m / p + 3 }')" \
	'BEGIN { exit !(n >= 10 && n <= most) }'
tap $? "a sample each $period ns" "$n of $many ns"
after=$(nmis)
[ "$((after - before))" -ge 10 ] && [ "$((after - before))" -le "$((n + 10))" ]
tap $? "each by an NMI" "$((after - before)) NMIs, $n samples"
perf report -i /tmp/perf.data --stdio --no-children -s symbol 2> /dev/null |
	grep -vE '^(#|$)' > /tmp/report
share=$(awk '$3 == "hot" { sub("%", "", $1); print $1 }' /tmp/report)
awk -v s="${share:-0}" 'BEGIN { exit !(s > 60) }'
tap $? "they show where the time went" "$(head -n 2 /tmp/report | tr '\n' ' ')"

in_lab guest || { tap_skip "the host's module goes" "no lab, so no command host"; tap_end; }
host rmmod pvperf_host
tap $? "the host's module goes"
n=$(host_event host-cpu-clock true)
[ -z "$n" ] || [ "$n" = 0 ]
tap $? "nothing is counted without it" "$n"
host insmod /lab/pvperf_host.ko
tap $? "it comes back"
n=$(host_event host-cpu-clock hot $work)
awk -v f="${few:-0}" -v n="${n:-0}" 'BEGIN { exit !(n > f / 2 && n < 2 * f) }'
tap $? "and counts as before" "$few, ${n:-nothing}"
tap_end
