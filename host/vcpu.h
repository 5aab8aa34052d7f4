/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _PVPERF_HOST_VCPU_H
#define _PVPERF_HOST_VCPU_H

/* What a vCPU has: its thread, its events, its page; how they begin and end. */

#include <linux/types.h>
#include "state.h"

/*
 * Find or create the state of a vCPU. @kvcpu: the vCPU whose thread this is. Returns the vCPU,
 * or NULL: pvperf_vcpu_error() says why.
 */
struct pvperf_vcpu *pvperf_vcpu_get(struct pvperf_vm *vm, struct kvm_vcpu *kvcpu);

/*
 * Why has the current thread no vCPU, or none of its own, in a call? Returns -KVM_ENOMEM;
 * -KVM_EPERM, after a message, if another process than that of the VM's first call makes the
 * call.
 */
int pvperf_vcpu_error(struct pvperf_vm *vm);

/* Free a vCPU. @vcpu: nobody has it any more. */
void pvperf_vcpu_free(struct pvperf_vcpu *vcpu);

/*
 * Take the vCPU's lock for a call. @vcpu: the vCPU whose thread this is. Finishes a reset that
 * a hook has seen, and moves the events to the current thread if userspace has given the vCPU
 * to another one. If that is not possible the vCPU has no events any more, and vcpu->thread is
 * not the current one.
 */
void pvperf_vcpu_enter(struct pvperf_vcpu *vcpu);

/* Release the vCPU's lock after a call. */
void pvperf_vcpu_leave(struct pvperf_vcpu *vcpu);

/*
 * Set the vCPU's page. @vcpu: the vCPU whose thread this is, locked; @addr: guest-physical,
 * aligned to a page; @pin: the memory there; the caller's reference becomes the vCPU's.
 */
void pvperf_vcpu_attach(struct pvperf_vcpu *vcpu, u64 addr, struct pvperf_pin *pin);

/* Close all events of a vCPU and put its page. @vcpu: locked; @end: why. */
void pvperf_vcpu_clear(struct pvperf_vcpu *vcpu, enum pvperf_end end);

/*
 * Clear every vCPU of a VM. @vm: the VM; the caller holds none of its locks; @end: why; a vCPU
 * that was reset gets PVPERF_END_SILENT.
 */
void pvperf_vcpu_clear_all(struct pvperf_vm *vm, enum pvperf_end end);

/*
 * No event of a VM overflows any more; takes no lock. @vm: the VM, until pvperf_vcpu_clear_mute()
 * or its vCPU's next call; @dead: nor is anything written, and none of its vCPUs makes calls.
 */
void pvperf_vcpu_mute_all(struct pvperf_vm *vm, bool dead);

/*
 * Wait until nothing touches KVM's vCPUs any more. @vm: the VM; no overflow handler of its
 * events runs any more, or none gets that far.
 */
void pvperf_vcpu_quiesce_all(struct pvperf_vm *vm);

/* Clear every mute vCPU of a VM. @vm: the VM; the caller holds none of its locks. */
void pvperf_vcpu_clear_mute(struct pvperf_vm *vm);

/*
 * Close what lies in memory that the guest does not have any more. @vm: the VM; the caller
 * holds none of its locks.
 */
void pvperf_vcpu_clear_lost(struct pvperf_vm *vm);

/*
 * Take a vCPU's lock, or give up after 0.1 s. perf may hold up a holder of the lock for as long
 * as the VMM likes. Returns true if the caller has the lock.
 */
bool pvperf_vcpu_lock_soon(struct pvperf_vcpu *vcpu);

/* Which events? */
typedef bool (pvperf_which)(const struct pvperf_host_event *event);

/*
 * Create host events of a VM anew. @vm: the VM; the caller holds none of its locks; @which:
 * these. Returns how many.
 */
u32 pvperf_vcpu_reopen_all(struct pvperf_vm *vm, pvperf_which *which);

#endif /* _PVPERF_HOST_VCPU_H */
