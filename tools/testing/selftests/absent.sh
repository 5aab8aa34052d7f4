#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# A guest sees the same with access=unavailable as without the host module: nothing.
# With the module loaded normally, the program that checks this must fail.
. ./lib.sh

module=${PVPERF_HOST_KO:-/lab/pvperf_host.ko}
[ -c /dev/kvm ] || tap_skip_all "no /dev/kvm"
[ -f "$module" ] || tap_skip_all "no $module"
lsmod | grep -q '^pvperf_host ' || insmod "$module"

./abi_absent 2>&1 | grep -q '^not ok .*absent'
tap $? "the test for its absence fails while the module is loaded"
rmmod pvperf_host
tap $? "unload"
program "without the module" ./abi_absent
insmod "$module" access=unavailable
tap $? "load with access=unavailable"
program "access=unavailable" ./abi_absent
rmmod pvperf_host

# The module looks names up by kprobes, and arms none: to disarm one needs memory.
tracing=/sys/kernel/tracing
armed() {
	grep -c arm_kprobe $tracing/trace
}
echo '*arm_kprobe*' > $tracing/set_ftrace_filter && echo function > $tracing/current_tracer
insmod "$module"
n=$(armed)
rmmod pvperf_host
echo 'p:absent vfs_read' > $tracing/kprobe_events
echo 1 > $tracing/events/kprobes/absent/enable
echo 0 > $tracing/events/kprobes/absent/enable
[ "$n" = 0 ] && [ "$(armed)" -gt 0 ]
tap $? "load arms no kprobe" "$n, and a kprobe of the tracer's $(armed)"
echo nop > $tracing/current_tracer
echo > $tracing/set_ftrace_filter
echo > $tracing/kprobe_events

# A name is that of the file which the process runs, unless the process has changed it.
insmod "$module"
sh -c "echo 'comm=abi_abs* access=unavailable' > /dev/pvperf_policy"
tap $? "write a rule"
program "a rule denies the process" ./abi_absent
cp abi_absent /tmp/other
/tmp/other 2>&1 | grep -q '^not ok .*absent'
tap $? "a process of another name finds the host side"
rmmod pvperf_host

# Insmod with a parameter out of its range fails, and the log names the parameter.
for bad in access=everyone max_events=0 max_events=65 max_vm_events=0 max_pages=0 \
	   min_period=0 min_period=99 raw=maybe max_calls=99; do
	echo "<6>absent: $bad" > /dev/kmsg
	if insmod "$module" "$bad" 2> /dev/null; then
		rmmod pvperf_host
		tap 1 "$bad is refused" "it loaded"
	else
		dmesg | sed -n "/absent: $bad/,\$p" | grep 'pvperf_host: ' | grep -q "${bad%%=*}=${bad#*=}"
		tap $? "$bad is refused, and the log names it" "$(dmesg | tail -n 1)"
	fi
done

# Limits so low that two vCPUs can reach them.
insmod "$module" max_pages=10
program "max_pages=10" ./abi_open -t pages
rmmod pvperf_host
insmod "$module" max_vm_events=10
program "max_vm_events=10" ./abi_open -t vm_events
rmmod pvperf_host

insmod "$module"
tap $? "load again"
tap_end
