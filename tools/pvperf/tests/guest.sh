# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0
# Tests of guests with one thing wrong each. The file check describes look.

look guest-fits machine_guest : counting ok 0 'cycles event counts'
look guest-fits-pmus machine_guest : pmus ok 0 'perf needs no option'
look guest-limits machine_guest : limits ok 0 \
	'64 events a vCPU, 6 counters, 64 operations a batch, sampling periods from 1000'
look guest-features machine_guest : features ok 0 \
	'page batch times sampling raw host-software read-many'
look guest-not-kvm machine_guest \
	'cpuid_set 40000000 0 61774d56 4d566572 65726177' \
	hypervisor problem 1 "it says 'VMwareVMware'"
look guest-kvm-behind-hyperv machine_guest \
	'cpuid_set 40000000 0 7263694d 666f736f 76482074
	 cpuid_set 40000100 0 4b4d564b 564b4d56 4d' hypervisor ok 0 'guest of KVM'
look guest-no-vm machine_host : hypervisor problem 1 'not a virtual machine' --guest
look guest-sev-snp machine_guest 'mkdir -p sys/class/misc/sev-guest' \
	memory problem 1 'encrypted (SEV)'
look guest-sev-perhaps machine_guest \
	'cpuid_set 8000001f 2 0 0 0; unload pvperf_guest pvperf_guest.ko' \
	memory unknown 1 'only the kernel knows'
look guest-tdx machine_guest 'cpuid_set 21 0 65746e49 20202020 5844546c' \
	memory problem 1 'encrypted (TDX)'
look guest-no-host-side machine_guest 'sed -i /^4000ff/d cpuid' \
	host-side problem 1 "ask the VM's operator to load pvperf_host"
# An Intel CPU returns another leaf for one that it lacks.
look guest-half-a-signature machine_guest \
	'cpuid_set 4000ff00 4000ff02 65507650 76506672 0' host-side problem 1 'does not offer pvperf'
look guest-abi machine_guest 'cpuid_set 4000ff01 20000 3f 50565046 0' \
	abi problem 1 'ABI version 2.0, this guest 1'
look guest-abi-minor machine_guest 'cpuid_set 4000ff01 10007 3f 50565046 0' \
	abi ok 0 'ABI version 1.7'
look guest-hypercall machine_guest 'cpuid_set 4000ff01 10000 3f 5 0' \
	abi problem 1 'hypercall number, 0x5'
look guest-features-lacking machine_guest 'cpuid_set 4000ff01 10000 3d 50565046 0' \
	features problem 1 'needs: batch'
look guest-limits-none machine_guest 'cpuid_set 4000ff02 0 40 6 3e8' \
	limits problem 1 'allows no events'
look guest-cpu machine_guest 'cpuid_set 4000ff01 10004 47f 50565046 0; cpuid_set 1 800f12 0 80000000 0
	 cpuid_set 4000ff08 800f11 68747541 444d4163 69746e65' cpu ok 0 "model of the host's CPU"
look guest-cpu-untold machine_guest : cpu ok 0 'does not tell'
look guest-cpu-other machine_guest 'cpuid_set 4000ff01 10004 47f 50565046 0; cpuid_set 1 800f12 0 80000000 0
	 cpuid_set 4000ff08 a20f12 68747541 444d4163 69746e65' cpu problem 1 'what their codes mean at the host'
look guest-samples machine_guest : samples ok 0 'periods from 1000 on (-c); not :p'
look guest-samples-none machine_guest 'cpuid_set 4000ff01 10001 77 50565046 0' \
	samples problem 1 'no hardware samples'
look guest-groups machine_guest : groups ok 0 'up to 6 hardware events in a group'
look guest-groups-unknown machine_guest 'cpuid_set 4000ff02 40 40 0 3e8' \
	groups ok 0 'does not report'
look guest-raw machine_guest : raw ok 0 'other bits are ignored'
look guest-raw-none machine_guest 'cpuid_set 4000ff01 10001 6f 50565046 0' \
	raw ok 0 'to allow them (raw=yes)'
look guest-raw-intel machine_guest 'cpuid_set 0 10 756e6547 6c65746e 49656e69' \
	raw ok 0 'not AnyThread'
look guest-functions machine_guest 'sed -i /took/d proc/kallsyms' \
	functions problem 1 'lacks functions of perf: perf_sample_event_took'
look guest-functions-6.12 machine_guest 'sed -i /nop_void/d proc/kallsyms' \
	functions ok 0 'that the module needs'
look guest-functions-6.1 machine_guest \
	'sed -i /nop_void/d proc/kallsyms; put proc/sys/kernel/osrelease 6.1.0-9-amd64' \
	functions problem 1 'perf_pmu_nop_void'
look guest-module-late machine_guest 'unload pvperf_guest pvperf_guest.ko' \
	module problem 1 '-> modprobe pvperf_guest; if'
look guest-module-too-early machine_guest \
	'unload pvperf_guest pvperf_guest.ko; sed -i /^4000ff/d cpuid' \
	module problem 1 'once the host offers pvperf'
look guest-pmu-of-its-own machine_guest 'rm -r sys/bus/event_source/devices/cpu/caps' \
	pmus ok 0 "-cpu ...,pmu=off (libvirt: <pmu state='off'/>), or, for all VMs of the host, to load kvm with enable_pmu=0"
look guest-pmus-of-kinds machine_guest \
	'mv sys/bus/event_source/devices/cpu sys/bus/event_source/devices/cpu_atom' \
	pmus ok 0 'cpu_core and cpu_atom'
look guest-pmu-missing machine_guest 'rm -r sys/bus/event_source/devices/*' \
	pmus problem 1 'the PMU pvperf is missing'
look guest-not-counted machine_guest 'put perf_event 0 0 500 0' \
	counting problem 1 'the host does not count it'
look guest-not-opened machine_guest 'put perf_event 2' \
	counting problem 1 'No such file or directory'

# A VM that has KVM loaded is a guest, and a host if it has the module; in a VM of another
# hypervisor, a host only.
look nested-is-guest machine_guest 'mkdir dev; : > dev/kvm' counting ok 0 cycles
look nested-is-host machine_guest 'mkdir dev; : > dev/kvm; put usr/src/pvperf-host-0.1/dkms.conf' \
	kvm problem 1 'nested'
look nested-is-loaded-host machine_guest \
	'mkdir dev; : > dev/kvm; put sys/module/pvperf_host/initstate live' kvm problem 1 'nested'
look nested-in-other machine_host \
	'cpuid_set 1 0 0 80000000 0; cpuid_set 40000000 0 54474354 43544743 47435447' \
	module ok 0 pvperf_host
