/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _PVPERF_HOST_COPY_H
#define _PVPERF_HOST_COPY_H

/* Copies of what a call's arguments point to. */

#include <linux/types.h>

struct kvm;

/**
 * pvperf_copy_in() - copy from a guest, in a vCPU's thread
 * @kvm: the VM
 * @to: where to
 * @gpa: guest-physical; does not cross a page's end
 * @len: how many bytes
 *
 * May wait for userspace without limit, so the caller holds no lock of ours.
 *
 * Return: 0 or -KVM_EFAULT.
 */
int pvperf_copy_in(struct kvm *kvm, void *to, u64 gpa, u32 len);

/**
 * pvperf_copy_out() - copy to a guest, in a vCPU's thread
 * @kvm: the VM
 * @gpa: guest-physical; does not cross a page's end
 * @from: where from
 * @len: how many bytes
 *
 * May wait for userspace without limit, so the caller holds no lock of ours.
 *
 * Return: 0 or -KVM_EFAULT.
 */
int pvperf_copy_out(struct kvm *kvm, u64 gpa, const void *from, u32 len);

#endif /* _PVPERF_HOST_COPY_H */
