// SPDX-License-Identifier: GPL-2.0
/*
 * Resets of vCPUs. KVM's room: may know struct kvm_vcpu, not perf.
 */
#include <linux/kvm_host.h>
#include "reset.h"
#include "state.h"

/* CR0.PE is never the guest's own bit, so KVM's copy of CR0 always has it. */
bool pvperf_reset_real_mode_nmi(const struct kvm_vcpu *kvcpu)
{
	return !(kvcpu->arch.cr0 & X86_CR0_PE);
}

bool pvperf_reset_alive_nmi(const struct pvperf_vcpu *vcpu)
{
	return !READ_ONCE(vcpu->dead) && !pvperf_reset_real_mode_nmi(vcpu->kvcpu);
}

void pvperf_reset_mark(struct pvperf_vcpu *vcpu)
{
	/*
	 * From here on no overflow writes to the guest. To close the events is to
	 * sleep, so vm.c's work does it, or the vCPU's next call.
	 */
	WRITE_ONCE(vcpu->dead, true);
}
