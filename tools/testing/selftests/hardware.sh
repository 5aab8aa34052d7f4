#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# In the host: boots guests with different virtual hardware, one after the other. Each
# counts a program of known instructions exactly, and samples it without a loss. What
# this host's CPU lacks is skipped by name.
. ./lib.sh

need_guest_command

# What each guest runs.
cat > /run/measure << 'END'
cd /t
. ./lib.sh
n=$(count -e instructions:u ./loop5m)
perf record -q -c 100000 -e instructions:u -o /tmp/d ./loop5m
echo "count $n samples $(samples /tmp/d) cpus $(nproc)"
END

# runs NAME OPTIONS...: a guest with these options of `guest`, and with $cpus CPUs
cpus=1
runs() {
	name=$1
	shift
	guest "$@" "$(cat /run/measure)" > /tmp/out 2>&1
	line=$(grep '^count ' /tmp/out)
	echo "$line" | awk -v c="$cpus" '
		{ exit !($2 >= 5000004 && $2 <= 5000010 && $4 == 50 && $6 == c) }'
	tap $? "$name" "${line:-$(tail -n 2 /tmp/out | tr '\n' ' ')}"
}

# reload PARAMETERS...: load KVM with other parameters, and pvperf_host again
reload() {
	rmmod pvperf_host kvm_amd kvm &&
		insmod /lab/modules/kvm.ko enable_pmu=0 &&
		insmod /lab/modules/kvm-amd.ko "$@" &&
		chmod 666 /dev/kvm &&
		insmod /lab/pvperf_host.ko
}

has() { grep -qw "$1" /proc/cpuinfo; }

thp=/sys/kernel/mm/transparent_hugepage/enabled
runs "nested paging, x2APIC, anonymous memory"
[ "$(cat /sys/module/kvm_amd/parameters/npt)" = Y ] || [ "$(cat /sys/module/kvm_amd/parameters/npt)" = 1 ]
tap $? "KVM says that this was nested paging"
runs "xAPIC" -a nox2apic
echo always > $thp
runs "transparent huge pages"
echo never > $thp
runs "no huge pages"
echo madvise > $thp
runs "memfd" -q "-machine memory-backend=m -object memory-backend-memfd,id=m,size=${LAB_GUEST_MEM:-512}M,share=on"
mkdir -p /run/huge
echo 300 > /proc/sys/vm/nr_hugepages
if mount -t hugetlbfs -o mode=1777 huge /run/huge && [ "$(cat /proc/sys/vm/nr_hugepages)" -ge 280 ]; then
	runs "hugetlbfs" -q "-machine memory-backend=m -object memory-backend-file,id=m,size=512M,mem-path=/run/huge,share=on"
else
	tap_skip "hugetlbfs" "the host has no 280 huge pages"
fi
echo 0 > /proc/sys/vm/nr_hugepages
cpus=2
runs "2 vCPUs" -q "-smp 2"
cpus=8
runs "8 vCPUs on $(nproc)" -q "-smp 8"
cpus=1
reload npt=0
tap $? "KVM is loaded without nested paging"
runs "shadow paging"
for what in avic vnmi; do
	if has $what && [ -e /sys/module/kvm_amd/parameters/$what ]; then
		reload $what=1 && runs $what
	else
		tap_skip "$what" "this host's CPU has no $what"
	fi
done
reload
tap $? "KVM is loaded as before"
host_is_empty
tap_end
