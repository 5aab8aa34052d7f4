// SPDX-License-Identifier: GPL-2.0
/*
 * NMIs for a guest, and resets of its vCPUs. KVM's room.
 */
#include <linux/irq_work.h>
#include <linux/kvm_host.h>
#include "../compat/kvm.h"
#include "dirty.h"
#include "inject.h"
#include "state.h"

bool pvperf_reset_alive_nmi(const struct pvperf_vcpu *vcpu)
{
	return !READ_ONCE(vcpu->mute) && !pvperf_inject_is_other(vcpu) &&
	       !pvperf_kvm_is_real_mode(vcpu->kvcpu);
}

/*
 * The request alone can come too late: between KVM's last look at its requests
 * (interrupts off) and the entry to the guest, or while the vCPU goes to sleep in
 * HLT. The interrupt of the irq_work helps in both cases: it is pending at the
 * entry and makes the guest exit at once, and its handler wakes a sleeping vCPU.
 * Neither case is possible if the interrupt of the overflow itself has just made
 * the guest exit, which is nearly always so: then KVM looks at its requests later.
 */
void pvperf_inject_nmi(struct pvperf_vcpu *vcpu, const struct pvperf_pin *written)
{
	struct kvm_vcpu *kvcpu = vcpu->kvcpu;
	const bool logged = pvperf_dirty_overflow_nmi(vcpu, written);

	pvperf_kvm_nmi(kvcpu);
	if (logged || !pvperf_kvm_has_left(kvcpu))
		irq_work_queue(&vcpu->wake);
}

bool pvperf_inject_is_other(const struct pvperf_vcpu *vcpu)
{
	const struct kvm_vcpu *running = pvperf_kvm_running();

	return running && running != vcpu->kvcpu;
}

bool pvperf_inject_is_running(void)
{
	return pvperf_kvm_running();
}

void pvperf_inject_wake(struct irq_work *work)
{
	struct pvperf_vcpu *vcpu = container_of(work, struct pvperf_vcpu, wake);

	pvperf_dirty_wake(vcpu);
	__kvm_vcpu_wake_up(vcpu->kvcpu);
}
