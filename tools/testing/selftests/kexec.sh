#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# In the host: a guest boots another kernel, by kexec and after a crash, while perf counts
# in it. The host can't tell this from normal operation, so the guest has to call RESET.
# The next kernel finds no events of the first one.
#
# kexec.sh [kexec|crash]: one of the two; both take long.
. ./lib.sh

need_guest_command
tracing=/sys/kernel/tracing
[ -d $tracing/events/pvperf ] || tap_skip_all "no trace events of pvperf"
command -v kexec > /dev/null || tap_skip_all "no kexec"

# In the guest: load its own kernel and root file system again, without perf and its
# libraries, because kexec computes checksums of everything, which takes time.
cat > /run/again << 'END'
again() { # kexec's OPTIONS...
	host cat /lab/guest.vmlinuz > /tmp/vmlinuz
	(cd / && find . -xdev ! -path "*/usr/lib/*/*" ! -name perf ! -name strace |
		cpio -o -H newc 2> /dev/null) > /tmp/initrd
	kexec --initrd=/tmp/initrd "$@" /tmp/vmlinuz && echo loaded
	rm /tmp/initrd /tmp/vmlinuz
}
load() {
	perf stat -a -o /dev/null -e cycles,instructions sleep 1000 &
	perf record -q -a -o /dev/null -e cycles -F 999 sleep 1000 &
	tries=0 open=0
	until [ $open -ge 6 ] || [ $((tries += 1)) -gt 50 ]; do
		sleep 0.2
		open=$(host "sed -n 's/^events //p' /sys/kernel/debug/pvperf/totals")
	done
	echo open $open
}
counts() {
	sleep 3	# until the events that the module tried at its load are closed
	host head -n 4 /sys/kernel/debug/pvperf/totals
	/t/pmu_count 2>&1 | tail -n 1
}
END

# A crash is a complaint to the lab, so keep it out of the lab's log and judge it here.
quiet=/run/guest-ports.lock
mkdir $quiet || tap_skip_all "another guest runs"
trap 'rmdir $quiet' EXIT

# run ARGUMENTS COMMAND: with two vCPUs, as the two end in different ways
run() {
	rm -f /run/guest.boots
	# Another test's guests have a log as well, which the lab reads at the end.
	[ ! -e /run/guests.log ] || mv /run/guests.log /run/guests.before
	echo > $tracing/trace
	echo 1 > $tracing/events/pvperf/pvperf_teardown/enable
	echo 1 > $tracing/events/pvperf/pvperf_call/enable
	guest -a "$1" -q '-smp 2 -m 1024' "$(cat /run/again)
$2" > /tmp/out 2>&1
	echo 0 > $tracing/events/pvperf/enable
	cp $tracing/trace /tmp/trace
	mv /run/guests.log /tmp/log
	[ ! -e /run/guests.before ] || mv /run/guests.before /run/guests.log
}

# complaints: what a kernel complains of in its log, but for the crash that we ask for
complaints() {
	sed '/sysrq.* crash/,/Linux version/d' /tmp/log |
		grep -E 'BUG:|WARNING:|Oops|Kernel panic|Call Trace|unknown reason|rcu.*stall'
}

# judge NAME: the results of a run
judge() {
	name=$1
	grep -qx loaded /tmp/out
	tap $? "$name: the next kernel is loaded" "$(tail -n 3 /tmp/out | tr '\n' ' ')"
	open=$(sed -n 's/^open //p' /tmp/out)
	[ "${open:-0}" -ge 6 ]
	tap $? "$name: six events were open" "${open:-nothing}"
	grep -q 'pvperf_call: .* op=reset .*result=0' /tmp/trace
	tap $? "$name: the guest calls RESET"
	grep -q 'pvperf_teardown: .*why=closed' /tmp/trace &&
		! grep 'pvperf_teardown: ' /tmp/trace | grep -v 'why=closed' | grep -qv 'events=0 '
	tap $? "$name: the VM's end finds no event" \
		"$(grep 'pvperf_teardown: ' /tmp/trace | tail -n 1)"
	grep -qx 'events 0' /tmp/out
	tap $? "$name: the next kernel finds no events at the host" "$(tr '\n' ' ' < /tmp/out)"
	grep -q 'pass:[1-9][0-9]* fail:0' /tmp/out
	tap $? "$name: the next kernel counts" "$(tail -n 1 /tmp/out)"
	[ -z "$(complaints)" ]
	tap $? "$name: no kernel complains" "$(complaints | head -n 1)"
}

by_kexec() {
	# shellcheck disable=SC2016 # for the guest's shell
	run '' 'case $LAB_BOOT in
	1)	again -l --reuse-cmdline; load; kexec -e; sleep 1000;;
	*)	counts;;
	esac'
	judge kexec
}

by_crash() {
	# shellcheck disable=SC2016 # for the guest's shell
	run crashkernel=320M 'case $LAB_BOOT in
	1)	again -p --reuse-cmdline --append="nr_cpus=1 reset_devices"; load
		echo c > /proc/sysrq-trigger; sleep 1000;;
	*)	counts;;
	esac'
	judge crash
	grep -q 'sysrq triggered crash' /tmp/log
	tap $? "crash: the kernel crashed"
}

for way in ${1:-kexec crash}; do by_"$way"; done
tap_end
