#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# perf lends the whole PMU to a VM with a mediated vPMU. That VM gets no hardware events of
# pvperf, nor does any other VM while it runs, and the log names each VM that is refused.
# It needs a kernel that has such a vPMU (7.x), and a PMU that can be lent (on AMD:
# PerfMonV2).
. ./lib.sh

need_guest_command
dir=/lab/modules
vendor=amd
grep -qw vmx /proc/cpuinfo && vendor=intel
parameters=/sys/module/kvm_$vendor/parameters

grep -aq parmtype=enable_mediated_pmu: $dir/kvm-$vendor.ko ||
	tap_skip_all "kvm-$vendor of $(uname -r) has no enable_mediated_pmu"
vpmu=$(cat /sys/module/kvm/parameters/enable_pmu)

# kvm_load ENABLE_PMU ENABLE_MEDIATED_PMU
kvm_load() {
	rmmod pvperf_host
	rmmod kvm_$vendor
	rmmod kvm
	insmod $dir/kvm.ko enable_pmu="$1" &&
		insmod $dir/kvm-$vendor.ko enable_mediated_pmu="$2" &&
		insmod /lab/pvperf_host.ko
}

kvm_restore() {
	kvm_load "$vpmu" N
}

# refusals NAME: how many lines of the host's log refuse VMs of processes of that name
refusals() {
	dmesg | sed '1,/lab: mediated begins/d' |
		grep -c "VM of process [0-9]* ($1) is refused: .*mediated vPMU"
}

kvm_load Y Y || { kvm_restore; tap 1 "KVM loads with a mediated vPMU"; tap_end; }
if [ "$(cat $parameters/enable_mediated_pmu)" != Y ]; then
	kvm_restore
	tap_skip_all "kvm_$vendor can't lend this CPU's PMU (AMD: no PerfMonV2)"
fi
echo 'lab: mediated begins' > /dev/kmsg
trace=/sys/kernel/tracing
echo > $trace/trace
echo 1 > $trace/events/pvperf/pvperf_refuse/enable

program "a mediated vPMU or events of pvperf, not both" ./mediated
# One line for each VM that was refused, however often it asked.
tap $(($(refusals mediated) != 2)) "the log names each refused VM once" "$(refusals mediated) lines"

# A guest with a mediated vPMU, and unmodified perf in it.
echo > $trace/trace
out=$(guest -q '-cpu host' '
	dmesg | sed -n "s/^.*pvperf_guest: the host has lent/line: &/p"
	perf stat -x, -e cycles,pvperf/cycles/,pvperf/host-context-switches/ sleep 0.1 2>&1
	host cat /sys/kernel/debug/pvperf/vms' 2>&1)
printf '%s\n' "$out" | sed 's/^/# /'
said() { printf '%s\n' "$out" | grep -c "$1"; }
tap $(($(said '^line: ') != 1)) "the guest's log says once that the PMU is lent"
tap $(($(said '^[1-9][0-9]*,,cycles,') != 1)) "the guest's own vPMU counts"
tap $(($(said '^<not counted>,,pvperf/cycles/') != 1)) "pvperf is reported as not counted"
tap $(($(said '^[0-9]*,,pvperf/host-context-switches/') != 1)) "the host's software events count"
tap $(($(said 'type=hardware') != 0)) "the host has none of its hardware events"
tap $(($(refusals qemu-system-x86) != 1)) "the log names the VM once" "$(refusals qemu-system-x86) lines"
grep -q 'pvperf_refuse: .* op=open .* error=EOPNOTSUPP' $trace/trace
tap $? "each refusal is traced"
echo 0 > $trace/events/pvperf/pvperf_refuse/enable

kvm_restore
tap $? "KVM is loaded as before"
tap_end
