#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# BPF programs at the return of the functions that the host's module hooks. Their trampoline
# goes on where ftrace's callbacks say, by an indirect call: with IBT that has to be an
# ENDBR, also when the module leaves the call to KVM.
. ./lib.sh

module=/lab/pvperf_host.ko
[ -e "$module" ] || tap_skip_all "no $module"
functions="kvm_emulate_hypercall kvm_cpuid kvm_arch_pre_destroy_vm kvm_vcpu_reset
	kvm_arch_vcpu_ioctl_set_regs kvm_arch_vcpu_ioctl_set_mpstate
	kvm_arch_flush_shadow_memslot"

tap_begin
# The lab's Intel has IBT, and each kernel that has been built for it uses it.
if grep -q GenuineIntel /proc/cpuinfo && grep -q ' ibt_save$' /proc/kallsyms; then
	dmesg | grep -q 'Indirect Branch Tracking enabled'
	tap $? "with IBT"
else
	echo "# without IBT"
fi

# attach BTF FUNCTION...: sets $fexit
attach() {
	./fexit "$@" > /tmp/fexit 2>&1 &
	fexit=$!
	until [ -s /tmp/fexit ]; do usleep 10000; done
	if grep -q attached /tmp/fexit; then
		sed 's/^/# /' /tmp/fexit
		return
	fi
	wait $fexit
	[ $? != 4 ] || tap_skip_all "$(cat /tmp/fexit)"
	tap 1 "programs are attached to $*" "$(cat /tmp/fexit)"
	tap_end
}

detach() {
	kill $fexit
	wait $fexit
} 2> /dev/null

# calls WHEN: guests make calls that are the module's, and others
calls() {
	program "$1: the module answers" ./abi_flow
	program "$1: KVM answers the others" ./exits
}

# shellcheck disable=SC2086 # a list
attach kvm $functions
calls "attached to hooked functions"
rmmod pvperf_host
tap $? "the module leaves them"
insmod $module
tap $? "the module hooks what they are attached to"
calls "hooked under programs"
detach
calls "without programs"
tap_end
