// SPDX-License-Identifier: GPL-2.0
/*
 * Resets of vCPUs. KVM's room: may know struct kvm_vcpu, not perf.
 */
#include <linux/kvm_host.h>
#include "../compat/kvm.h"
#include "reset.h"
#include "state.h"

bool pvperf_reset_real_mode_nmi(const struct kvm_vcpu *kvcpu)
{
	return pvperf_kvm_is_real_mode(kvcpu);
}

bool pvperf_reset_alive_nmi(const struct pvperf_vcpu *vcpu)
{
	return !READ_ONCE(vcpu->mute) && !pvperf_reset_real_mode_nmi(vcpu->kvcpu);
}

void pvperf_reset_mark(struct pvperf_vcpu *vcpu)
{
	/*
	 * From here on no overflow writes to the guest. To close the events is to
	 * sleep, so the VM's work does it, or the vCPU's next call.
	 */
	WRITE_ONCE(vcpu->dead, true);
}
