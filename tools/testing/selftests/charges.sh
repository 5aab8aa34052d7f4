#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# What the module allocates for a VM is charged to the memory cgroup of the VM's process,
# as the kernel's trace of each allocation says, and all of it is given back. What is still charged to a cgroup that is removed is charged
# to its parent from then on: so each program here runs in a cgroup of its own, and the
# parent must end up without charges for kernel objects.
#   charges.sh PROGRAM...
. ./lib.sh

module=${PVPERF_HOST_KO:-/lab/pvperf_host.ko}
[ -c /dev/kvm ] || tap_skip_all "no /dev/kvm"
lsmod | grep -q '^pvperf_host ' || insmod "$module" || tap_skip_all "pvperf_host is not loaded"
top=/sys/fs/cgroup parent=/sys/fs/cgroup/vms
grep -q " $top cgroup2 " /proc/mounts || mount -t cgroup2 none $top 2> /dev/null
echo +memory > $top/cgroup.subtree_control 2> /dev/null
grep -qw memory $top/cgroup.subtree_control 2> /dev/null ||
	tap_skip_all "no memory cgroups (cgroup v2)"

# inside CGROUP COMMAND...
inside() {
	sh -c 'echo $$ > "$0/cgroup.procs"; exec "$@"' "$@" > /tmp/charges 2>&1
}

charged() {
	sed -n 's/^slab_unreclaimable //p' $parent/memory.stat
}

# The kernel keeps some memory ready for the cgroup that was charged last, on each CPU:
# this is another one from now on. Kernels from 7.x on also keep what kfree_rcu() is to free
# until there is more of it, unless the slab is told to shrink.
flush() {
	for slab in /sys/kernel/slab/kmalloc*/shrink; do echo 1 > "$slab"; done
	for cpu in /sys/devices/system/cpu/cpu[0-9]*; do
		inside $top/flush taskset -c "${cpu##*cpu}" ls /proc
	done
}

# settled: the bytes that are still charged fall to less than two events have
settled() {
	tries=0
	while flush; n=$(charged); [ "$n" -gt $least ]; do
		[ $((tries += 1)) -le 40 ] || return 1
		usleep 200000
	done
}

events=/sys/kernel/tracing/events/kmem trace=/sys/kernel/tracing/trace
[ -d $events ] || mount -t tracefs none /sys/kernel/tracing
echo 32768 > /sys/kernel/tracing/buffer_size_kb

# allocates 1|0: note what is allocated, and by whom
allocates() {
	[ "$1" = 0 ] || echo > $trace
	for event in kmalloc kmem_cache_alloc; do
		echo "$1" > $events/$event/enable
	done
}

least=3000
mkdir -p $top/flush $parent
echo +memory > $parent/cgroup.subtree_control
for program in "$@"; do
	mkdir $parent/$program
	allocates 1
	inside $parent/$program ./$program
	passed=$?
	allocates 0
	grep -h '^overrun' /sys/kernel/tracing/per_cpu/cpu*/stats > /tmp/overrun
	rmdir $parent/$program
	tap $passed "$program in a memory cgroup of its own" "$(grep '^not ok' /tmp/charges)"
	# The trial of the hooks at a load is the admin's.
	sed -n 's/.*call_site=\([a-z_]*\).*pvperf_host.* accounted=/\1 /p' $trace |
		grep -v '^pvperf_door_open ' | sort -u > /tmp/allocated
	grep -qx 'pvperf_event_open true' /tmp/allocated && ! grep -qv ' true$' /tmp/allocated
	tap $? "$program: each allocation of the module is charged" "$(cat /tmp/allocated)"
	grep -q 'overrun: 0' /tmp/overrun && ! grep -qv 'overrun: 0' /tmp/overrun
	tap $? "$program: the trace has all allocations" "$(cat /tmp/overrun)"
	settled
	tap $? "$program leaves nothing charged" "$n bytes"
done
rmdir $parent $top/flush
tap_end
