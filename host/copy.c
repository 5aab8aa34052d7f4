// SPDX-License-Identifier: GPL-2.0
/*
 * Copies of what a call's arguments point to. KVM's room.
 */
#include <linux/kvm_host.h>
#include <linux/kvm_pvperf.h>
#include <linux/module.h>
#include <linux/uaccess.h>
#include "copy.h"
#include "slots.h"

int pvperf_copy_in(struct kvm *kvm, void *to, u64 gpa, u32 len)
{
	const void __user *from = (void __user *)pvperf_slots_hva(kvm, gpa, false);
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

int pvperf_copy_out(struct kvm *kvm, u64 gpa, const void *from, u32 len)
{
	void __user *to = (void __user *)pvperf_slots_hva(kvm, gpa, true);
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
	pvperf_slots_log(kvm, gpa >> PAGE_SHIFT);
	return 0;
}
