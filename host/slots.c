// SPDX-License-Identifier: GPL-2.0
/*
 * KVM's memory slots. KVM's room: only this file reads them, by the inlines of kvm_host.h,
 * which need no export.
 */
#include <linux/kvm_host.h>
#include "../compat/kvm.h"
#include "slots.h"

unsigned long pvperf_slots_hva(struct kvm *kvm, u64 gpa, bool write)
{
	int idx = srcu_read_lock(&kvm->srcu);
	unsigned long hva = pvperf_kvm_hva(kvm, gpa >> PAGE_SHIFT, write);

	srcu_read_unlock(&kvm->srcu, idx);
	return hva ? hva + (gpa & ~PAGE_MASK) : 0;
}

bool pvperf_slots_log(struct kvm *kvm, u64 gfn)
{
	int idx = srcu_read_lock(&kvm->srcu);
	bool logged = pvperf_kvm_log(kvm, gfn);

	srcu_read_unlock(&kvm->srcu, idx);
	return logged;
}
