#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# The clock events of host and guest: they name each other, and with them each event that
# the guest recorded lies where the host's KVM says that its vCPU ran.
. ./lib.sh

need_host_command
tracing=/sys/kernel/tracing
[ -d $tracing/events/pvperf/pvperf_guest_clock ] || mount -t tracefs none $tracing
on="echo 1 > $tracing/tracing_on; echo > $tracing/trace; echo x86-tsc > $tracing/trace_clock"

host "$on; for e in kvm/kvm_entry kvm/kvm_exit pvperf/pvperf_clock; do
	echo 1 > $tracing/events/\$e/enable; done"
eval "$on"
for e in sched/sched_switch pvperf/pvperf_guest_clock; do echo 1 > $tracing/events/$e/enable; done
i=0
while [ $((i += 1)) -le 26 ]; do usleep 100000; done
echo 0 > $tracing/tracing_on
cat $tracing/trace > /tmp/guest.trace
echo 0 > $tracing/events/enable
host "echo 0 > $tracing/tracing_on; cat $tracing/trace; echo 0 > $tracing/events/enable" > /tmp/host.trace

# field NAME FILE EVENT: of each such event
field() { sed -n "s/.* $3: .*\b$1=\([0-9a-f]*\).*/\1/p" "$2"; }

n=$(field clock /tmp/host.trace pvperf_clock | wc -l)
tap $((n < 3 || n > 5)) "the host tells the vCPU's clock at once, and each second" "$n times"
n=$(field clock /tmp/guest.trace pvperf_guest_clock | wc -l)
tap $((n < 3 || n > 5)) "the guest tells its clock at once, and each second" "$n times"
names=$(field clock /tmp/host.trace pvperf_clock | sort -u)
[ "$names" = "$(field clock /tmp/guest.trace pvperf_guest_clock | sort -u)" ] &&
	[ "$(echo "$names" | wc -w)" = 1 ] && [ "$names" != 0000000000000000 ]
tap $? "both give the VM the same name" "$names"

apic=$(field apic /tmp/host.trace pvperf_clock | sort -u)
[ -n "$apic" ] && [ "$apic" = "$(field apic /tmp/guest.trace pvperf_guest_clock | sort -u)" ]
tap $? "both give the vCPU the same APIC id" "$apic"

offset=$(field offset /tmp/host.trace pvperf_clock | sort -u)
ratio=$(field ratio /tmp/host.trace pvperf_clock | sort -u)
frac=$(field frac /tmp/host.trace pvperf_clock | sort -u)
echo "# offset $offset, ratio $ratio, frac $frac"
[ "$(echo "$offset" "$ratio" "$frac" | wc -w)" = 3 ] && [ "$ratio" = $((1 << frac)) ]
tap $? "one offset, and no scaling"

# inside SHIFT: the share of the guest's events that lie between an entry and an exit, if the
# guest's clock is shifted. busybox has 64 bits, and awk 53: the TSC is small here.
inside() {
	{
		sed -n 's/.* \([0-9]*\): kvm_\(entry\|exit\): .*/\1 \2/p' /tmp/host.trace
		sed -n 's/.* \([0-9]*\): sched_switch: .*/\1/p' /tmp/guest.trace |
			while read -r t; do echo $((t - offset + $1)) event; done
	} | sort -n | awk '
		$2 == "event" && in_guest != "" { n++; good += in_guest }
		$2 == "entry" { in_guest = 1 }
		$2 == "exit" { in_guest = 0 }
		END { print n + 0, good + 0 }'
}
all=$(inside 0)
[ "${all% *}" -gt 20 ] && [ "${all% *}" = "${all#* }" ]
tap $? "all events of the guest lie between its vCPU's entries and exits" "$all"
shifted=$(inside -1000000000)
[ "${shifted#* }" -lt "${shifted% *}" ]
tap $? "with a clock that is wrong they do not" "$shifted"
# rounds: how often within 1.5 s the host's module looks for what it should tell
rounds() {
	host "echo 1 > $tracing/events/workqueue/workqueue_execute_start/enable
		echo > $tracing/trace; echo 1 > $tracing/tracing_on; usleep 1500000
		grep -c 'function round_work' $tracing/trace; echo 0 > $tracing/events/enable"
}
n=$(rounds)
tap $((n != 0)) "the host looks for nothing when the event is disabled" "$n times"
host "echo 1 > $tracing/events/pvperf/pvperf_clock/enable"
n=$(rounds)
tap $((n == 0)) "and again when it is enabled" "$n times"
tap_end
