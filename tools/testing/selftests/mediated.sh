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
		chmod 666 /dev/kvm &&	# a new file, and QEMU is an ordinary user's
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
# One line for each VM that was refused, each time that the PMU was lent.
tap $(($(refusals mediated) != 6)) "the log names each refused VM once" "$(refusals mediated) lines"

# A guest with a mediated vPMU, and unmodified perf in it.
echo > $trace/trace
out=$(guest -q '-cpu host' '
	dmesg | sed -n "s/^.*pvperf_guest: the host gives no event of this kind now/line: &/p"
	perf stat -x, -e cycles,pvperf/vcpu-cycles/,pvperf/host-context-switches/ sleep 0.1 2>&1
	host cat /sys/kernel/debug/pvperf/vms' 2>&1)
printf '%s\n' "$out" | sed 's/^/# /'
said() { printf '%s\n' "$out" | grep -c "$1"; }
tap $(($(said '^line: ') != 1)) "the guest's log says once that the PMU is lent"
tap $(($(said '^[1-9][0-9]*,,cycles,') != 1)) "the guest's own vPMU counts"
tap $(($(said '^<not counted>,,pvperf/vcpu-cycles/') != 1)) "pvperf is reported as not counted"
tap $(($(said '^[0-9]*,,pvperf/host-context-switches/') != 1)) "the host's software events count"
tap $(($(said 'type=hardware') != 0)) "the host has none of its hardware events"
tap $(($(refusals qemu-system-x86) != 1)) "the log names the VM once" "$(refusals qemu-system-x86) lines"
grep -q 'pvperf_refuse: .* op=open .* error=EOPNOTSUPP' $trace/trace
tap $? "each refusal is traced"
echo 0 > $trace/events/pvperf/pvperf_refuse/enable

# A guest whose VMM wants no PMU counts when a VM comes that borrows the host's.
out=$(LD_PRELOAD=$PWD/no_pmu.so guest 'cd /t
	yield=/sys/module/pvperf_host/parameters/yield
	cat > /tmp/lend <<- EOF
		host "rm -f /run/borrowed; cd /t
			./borrow /run/borrowed > /run/borrow 2>&1 < /dev/null & child=\\\$!
			until [ -e /run/borrowed ]; do [ -d /proc/\\\$child ] || exit 1; usleep 1000; done"
		echo \$? > /tmp/lent
	EOF
	cat > /tmp/get_back <<- EOF
		host "rm /run/borrowed; while pidof borrow > /dev/null; do usleep 1000; done"
	EOF
	stat() { perf stat -x, -o /tmp/stat -e instructions:u "$@" > /dev/null 2>&1
		awk -F, "NF > 4 { print \$1, \$5 }" /tmp/stat; }
	stat sh -c "./loop100m; sh /tmp/lend; ./loop100m" > /tmp/line
	echo "refused: $(cat /tmp/line) $(cat /tmp/lent)"
	host "echo 1 > $yield"
	stat sh -c "./loop100m; sh /tmp/lend; ./loop100m; ./loop100m" > /tmp/line
	echo "lent: $(cat /tmp/line) $(cat /tmp/lent)"
	echo "new: $(stat ./loop100m)"
	sh /tmp/get_back
	i=0
	until stat ./loop100m | grep -q "^1" || [ $((i += 1)) -gt 20 ]; do usleep 200000; done
	echo "again: $(stat ./loop100m)"
	# Long, as the commands between the loops take time, too, but few instructions.
	two="./loop100m; ./loop100m"
	stat sh -c "$two; sh /tmp/lend; $two; sh /tmp/get_back; $two" > /tmp/line
	echo "between: $(cat /tmp/line)"
	host "echo 0 > $yield"' 2>&1)
printf '%s\n' "$out" | sed 's/^/# /'
# line WORD: what the guest printed
line() { printf '%s\n' "$out" | sed -n "s/^$1: //p"; }
# counted WORD MILLIONS LOW HIGH: so many before perf scaled them, in LOW to HIGH percent of the
# time, which perf cuts to whole percent. How good the estimate is depends on what the
# commands between the loops take: time with hardly any instructions, and more of it where the
# kernel checks itself.
counted() {
	line "$1" | awk -v want="$2" -v low="$3" -v high="$4" '{ one = $1 / 1e8 }
		END { exit !(one * $2 < want * 1.01 && one * ($2 + ($2 < 100)) > want * 0.99 &&
			     $2 >= low && $2 <= high) }'
}
counted refused 200 100 100 && [ "$(line refused | cut -d ' ' -f 3)" = 1 ]
tap $? "without yield a guest that counts keeps the VM from starting" "$(line refused)"
most=45
[ ! -e /proc/lockdep_stats ] && [ ! -e /sys/kernel/debug/kcsan ] || most=65
counted lent 100 25 $most && [ "$(line lent | cut -d ' ' -f 3)" = 0 ]
tap $? "with yield the VM starts, and perf in the guest scales what it counted" "$(line lent)"
[ "$(line new | cut -d ' ' -f 1,2)" = '<not counted>' ]
tap $? "perf says that what began meanwhile is not counted" "$(line new)"
exactly "$(line again | cut -d ' ' -f 1)" 100000004
tap $? "it counts again when the VM has gone" "$(line again)"
counted between 400 50 80
tap $? "an event that was there before and after says how long it was away" "$(line between)"

kvm_restore
tap $? "KVM is loaded as before"
tap_end
