/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _PVPERF_HOST_SLOTS_H
#define _PVPERF_HOST_SLOTS_H

/* KVM's memory slots: where a guest's memory is, and the log of what was written to it. */

#include <linux/types.h>

struct kvm;

/**
 * pvperf_slots_hva() - where userspace has an address of a guest
 * @kvm: the VM, which has not ended
 * @gpa: guest-physical
 * @write: the guest must be allowed to write there
 *
 * Context: may sleep.
 * Return: the address; 0 if there is no such memory.
 */
unsigned long pvperf_slots_hva(struct kvm *kvm, u64 gpa, bool write);

/**
 * pvperf_slots_log() - enter a page into KVM's log of dirty pages
 * @kvm: the VM, which has not ended
 * @gfn: the guest frame number of a page that the host has written to
 *
 * The log is the bitmap of a memory slot. Dirty rings are not supported, as pushing needs a
 * running vCPU and a function that newer kernels export to KVM alone; the guest ignores stale
 * memory after a migration instead.
 *
 * Context: any but NMI.
 * Return: false if there is no such log.
 */
bool pvperf_slots_log(struct kvm *kvm, u64 gfn);

#endif /* _PVPERF_HOST_SLOTS_H */
