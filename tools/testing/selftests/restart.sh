#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# In the host: a guest restarts while perf counts in it. The host must not write to the
# memory of what runs there next, nor send it an NMI.
. ./lib.sh

need_guest_command
tracing=/sys/kernel/tracing
[ -d $tracing/events/pvperf ] || tap_skip_all "no trace events of pvperf"

# In the guest, once the events that the module tried at its load are closed, until the host has three.
open="until host cat $totals | grep -q '^events 0'; do usleep 50000; done
	perf stat -a -o /dev/null -e cycles,instructions sleep 1000 &
	perf record -q -a -o /dev/null -e cycles -F 999 sleep 1000 &
	until host cat $totals | grep -q '^events [3-9]'; do usleep 50000; done"

trace_begin() {
	echo > $tracing/trace
	echo 1 > $tracing/events/pvperf/pvperf_teardown/enable
	echo 1 > $tracing/events/pvperf/pvperf_call/enable
}
trace_end() {
	echo 0 > $tracing/events/pvperf/enable
	cp $tracing/trace /tmp/trace
}

# A reboot: the reboot notifier closes all events before the kernel ends.
trace_begin
guest "$open" > /tmp/out 2>&1
tap $? "a guest reboots while three events are open" "$(tail -n 1 /tmp/out)"
trace_end
grep -q 'pvperf_call: .* op=reset .*result=0' /tmp/trace
tap $? "the guest calls RESET"
closed=$(grep -o 'pvperf_teardown: .*why=closed' /tmp/trace | sed 's/.*events=//; s/ .*//' |
	awk '{ n += $1 } END { print n + 0 }')
[ "$closed" -ge 3 ]
tap $? "RESET closes all events" "$closed"
! grep 'pvperf_teardown: ' /tmp/trace | grep -v 'why=closed' | grep -qv 'events=0 '
tap $? "the VM's end finds no event" \
	"$(grep 'pvperf_teardown: ' /tmp/trace | tail -n 1)"
host_is_empty

# A reset, as by a button: the guest does not tell the host.
trace_begin
rm -f /run/guest.boots
guest -q '-action reboot=reset' 'case $LAB_BOOT in
1)	'"$open"'
	host mon system_reset; sleep 1000;;
2)	sleep 3	# until the events that the module tried at its load are closed
	host head -n 4 '$totals'
	perf stat -x, -e instructions:u /t/loop100m 2>&1;;
*)	host mon quit; sleep 1000;;
esac' > /tmp/out 2>&1
trace_end
grep -q '^100000[0-9]*,' /tmp/out
tap $? "a guest that was reset counts again" "$(tr '\n' ' ' < /tmp/out)"
grep -q '^events 0' /tmp/out
tap $? "the host has none of its old events" "$(tr '\n' ' ' < /tmp/out)"
grep 'pvperf_teardown: ' /tmp/trace | grep 'why=reset or end' | grep -q 'events=[1-9]'
tap $? "the host closed them" "$(grep 'pvperf_teardown: ' /tmp/trace | head -n 1)"
host_is_empty
tap_end
