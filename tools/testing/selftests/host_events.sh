#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# The host's software events about this vCPU count, sample by NMIs, and go and come back
# with the host's module. Neither side needs a PMU for them.
. ./lib.sh

events=/sys/bus/event_source/devices/pvperf/events
[ -e $events/host-cpu-clock ] || tap_skip_all "no PMU pvperf with events of the host"
command -v hot > /dev/null || tap_skip_all "no program hot, of tools/testing/lab/bin"
period=1000000
# A real CPU is ten times as fast: without ten times the work there are too few samples.
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
tap $? "five times the work takes about five times the host's CPU time" "$few, $many ns"
n=$(host_event host-context-switches -a sleep 0.5)
[ "${n:-0}" -gt 0 ]
tap $? "the host switches away from an idle vCPU" "${n:-nothing}"

before=$(nmis)
perf record -q -e pvperf/host-cpu-clock/ -c $period -o /tmp/perf.data hot $((5 * work)) > /tmp/err 2>&1
tap $? "perf record by the host's clock" "$(cat /tmp/err)"
n=$(samples /tmp/perf.data)
# A timer never fires early. If it fires late, there are fewer samples.
awk -v n="$n" -v most="$(awk -v m="${many:-0}" -v p=$period 'BEGIN { print 1.5 * m / p + 3 }')" \
	'BEGIN { exit !(n >= 10 && n <= most) }'
tap $? "one sample every $period ns" "$n of $many ns"
after=$(nmis)
[ "$((after - before))" -ge 10 ] && [ "$((after - before))" -le "$((n + 10))" ]
tap $? "one NMI for each sample" "$((after - before)) NMIs, $n samples"
perf report -i /tmp/perf.data --stdio --no-children -s symbol 2> /dev/null |
	grep -vE '^(#|$)' > /tmp/report
share=$(awk '$3 == "hot" { sub("%", "", $1); print $1 }' /tmp/report)
awk -v s="${share:-0}" 'BEGIN { exit !(s > 60) }'
tap $? "the samples show where the time went" "$(head -n 2 /tmp/report | tr '\n' ' ')"

# The clock runs in both modes, but a sample is of the mode that it is asked for.
kernel='dd if=/dev/zero of=/dev/null bs=1M count=1000'
perf record -q -e pvperf/host-cpu-clock/ -c $period -o /tmp/a $kernel > /dev/null 2>&1
perf record -q -e pvperf/host-cpu-clock/u -c $period -o /tmp/b $kernel > /dev/null 2>&1
[ "$(samples /tmp/a)" -gt $((4 * $(samples /tmp/b))) ] && [ "$(lost /tmp/b)" = 0 ]
tap $? "user mode only: few samples of a program of the kernel's" \
	"$(samples /tmp/b) of $(samples /tmp/a), $(lost /tmp/b) lost"
# periods FILE: what its samples stand for
periods() { perf script -i "$1" -F period 2> /dev/null | awk '{ n += $1 } END { print n + 0 }'; }
# The same programs with and without the kernel's work: the shell's and dd's starts are user time, too.
for out in b c; do
	perf record -q -e pvperf/host-cpu-clock/u -F 1000 -o /tmp/$out \
		sh -c "$kernel; hot $((3 * work))" > /dev/null 2>&1
	kernel='dd if=/dev/zero of=/dev/null bs=1M count=0'
done
[ "$(samples /tmp/c)" -gt 3 ] &&
	within "$(periods /tmp/b)" "$(periods /tmp/c)" 300
tap $? "user mode only, a frequency: samples stand for the program's time" \
	"$(periods /tmp/b), want $(periods /tmp/c)"

in_lab guest || { tap_skip "the host's module is unloaded" "outside of the lab there is no command host"; tap_end; }
host rmmod pvperf_host
tap $? "the host's module is unloaded"
n=$(host_event host-cpu-clock true)
[ -z "$n" ] || [ "$n" = 0 ]
tap $? "without it nothing is counted" "$n"
host insmod /lab/pvperf_host.ko
tap $? "it is loaded again"
# A CPU looks for its host once in 100 ms, and this count is over sooner.
sleep 0.2
n=$(host_event host-cpu-clock hot $work)
awk -v f="${few:-0}" -v n="${n:-0}" 'BEGIN { exit !(n > f / 2 && n < 2 * f) }'
tap $? "the event counts as before" "$few, ${n:-nothing}"
tap_end
