// SPDX-License-Identifier: GPL-2.0
/*
 * A guest's memory. KVM's room: only this file reads KVM's memory slots, by the inlines of
 * kvm_host.h, which need no export.
 */
#include <linux/kvm_host.h>
#include <linux/kvm_pvperf.h>
#include <linux/module.h>
#include <linux/uaccess.h>
#include "../compat/kvm.h"
#include "memory.h"

unsigned long pvperf_memory_hva(struct kvm *kvm, u64 gpa, bool write)
{
	int idx = srcu_read_lock(&kvm->srcu);
	unsigned long hva = pvperf_kvm_hva(kvm, gpa >> PAGE_SHIFT, write);

	srcu_read_unlock(&kvm->srcu, idx);
	return hva ? hva + (gpa & ~PAGE_MASK) : 0;
}

bool pvperf_memory_log(struct kvm *kvm, u64 gfn)
{
	int idx = srcu_read_lock(&kvm->srcu);
	bool logged = pvperf_kvm_log(kvm, gfn);

	srcu_read_unlock(&kvm->srcu, idx);
	return logged;
}

int pvperf_memory_copy_in(struct kvm *kvm, void *to, u64 gpa, u32 len)
{
	const void __user *from = (void __user *)pvperf_memory_hva(kvm, gpa, false);
	unsigned long left = len;

	if (!from)
		return -KVM_EFAULT;
	if (!copy_from_user_nofault(to, from, len))
		return 0;
	if (try_module_get(THIS_MODULE)) {
		left = copy_from_user(to, from, len);
		module_put(THIS_MODULE);
	}
	return left ? -KVM_EFAULT : 0;
}

int pvperf_memory_copy_out(struct kvm *kvm, u64 gpa, const void *from, u32 len)
{
	void __user *to = (void __user *)pvperf_memory_hva(kvm, gpa, true);
	unsigned long left = len;

	if (!to)
		return -KVM_EFAULT;
	if (!copy_to_user_nofault(to, from, len)) {
		left = 0;
	} else if (try_module_get(THIS_MODULE)) {
		left = copy_to_user(to, from, len);
		module_put(THIS_MODULE);
	}
	if (left)
		return -KVM_EFAULT;
	pvperf_memory_log(kvm, gpa >> PAGE_SHIFT);
	return 0;
}
