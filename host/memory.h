/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _PVPERF_HOST_MEMORY_H
#define _PVPERF_HOST_MEMORY_H

/*
 * A guest's memory, by KVM's memory slots: where it is, copies of what a call's arguments point
 * to, and the log of what was written to it.
 */

#include <linux/types.h>

struct kvm;

/*
 * Copy from a guest, in a vCPU's thread. @gpa: guest-physical; does not cross a page's end. May
 * wait for userspace without limit, so the caller holds no lock of ours. Returns 0 or
 * -KVM_EFAULT.
 */
int pvperf_memory_copy_in(struct kvm *kvm, void *to, u64 gpa, u32 len);

/*
 * Copy to a guest, in a vCPU's thread. @gpa: guest-physical; does not cross a page's end. May
 * wait for userspace without limit, so the caller holds no lock of ours. Returns 0 or
 * -KVM_EFAULT.
 */
int pvperf_memory_copy_out(struct kvm *kvm, u64 gpa, const void *from, u32 len);

/*
 * Where userspace has an address of a guest. @kvm: the VM, which has not ended; @write: the
 * guest must be allowed to write there. Returns the address; 0 if there is no such
 * memory.
 */
unsigned long pvperf_memory_hva(struct kvm *kvm, u64 gpa, bool write);

/*
 * Enter a page into KVM's log of dirty pages. @kvm: the VM, which has not ended; @gfn: the
 * guest frame number of a page that the host has written to. The log is the bitmap of a memory
 * slot. Dirty rings are not supported, as pushing needs a running vCPU and a function that
 * newer kernels export to KVM alone; the guest ignores stale memory after a migration instead.
 * Not in an NMI. Returns false if there is no such log.
 */
bool pvperf_memory_log(struct kvm *kvm, u64 gfn);

#endif /* _PVPERF_HOST_MEMORY_H */
