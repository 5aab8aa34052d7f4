# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0
# Machines without a problem, made of files in the current directory.

# put FILE WORD...: a file with one line
put() {
	mkdir -p "$(dirname "$1")"
	echo "${*:2}" > "$1"
}

machine_common() {
	put proc/sys/kernel/osrelease 6.12.1-amd64
	put proc/sys/kernel/ftrace_enabled 1
	put sys/kernel/security/lsm capability,lockdown
	put sys/kernel/security/lockdown '[none] integrity confidentiality'
	put sys/module/module/parameters/sig_enforce N
	put perf_event 0 1000 500 500
	put lib/modules/6.12.1-amd64/build/Makefile
}

hooks="kvm_emulate_hypercall kvm_cpuid kvm_arch_pre_destroy_vm kvm_vcpu_reset
	kvm_arch_vcpu_ioctl_set_regs kvm_arch_vcpu_ioctl_set_mpstate
	kvm_arch_flush_shadow_memslot"

# An AMD host that is no VM.
machine_host() {
	machine_common
	printf '%s\n' '0 10 68747541 444d4163 69746e65' '1 0 0 0 0' \
		'80000001 0 0 4 0' > cpuid
	mkdir -p dev sys/module/kvm sys/kernel/tracing
	: > dev/kvm
	put sys/module/kvm/initstate live
	put sys/module/kvm_amd/initstate live
	printf '0000000000000000 t %s\t[kvm]\n' $hooks > proc/kallsyms
	printf '%s [kvm]\n' $hooks > sys/kernel/tracing/available_filter_functions
	: > sys/kernel/tracing/enabled_functions
	put sys/module/pvperf_host/initstate live
	put sys/module/pvperf_host/version 0.1
	put sys/module/pvperf_host/parameters/access local
	put sys/kernel/debug/pvperf/totals vms 0
}

# A guest of KVM with pvperf's leaves: 64 events, batches of 64, 6 counters, and a
# minimal period of 1000.
machine_guest() {
	machine_common
	printf '%s\n' '0 10 68747541 444d4163 69746e65' '1 0 0 80000000 0' \
		'40000000 40000001 4b4d564b 564b4d56 4d' \
		'4000ff00 4000ff02 65507650 76506672 66726550' \
		'4000ff01 10001 7f 50565046 0' '4000ff02 40 40 6 3e8' > cpuid
	printf '0000000000000000 T %s\n' perf_event_overflow \
		perf_sample_event_took perf_pmu_nop_void perf_pmu_nop_txn \
		perf_pmu_nop_int > proc/kallsyms
	put sys/module/pvperf_guest/initstate live
	put sys/bus/event_source/devices/cpu/caps/min_period 1000
	put sys/bus/event_source/devices/pvperf/caps/min_period 1000
}

# cpuid_set LEAF EAX EBX ECX EDX: what the CPU returns for LEAF
cpuid_set() {
	sed -i "/^$1 /d" cpuid
	echo "$@" >> cpuid
}

# unload MODULE [NAME]: it is not loaded; depmod has it in the file NAME
unload() {
	rm -r "sys/module/$1"
	[ -z "${2:-}" ] || put lib/modules/6.12.1-amd64/modules.dep "updates/dkms/$2:"
}
