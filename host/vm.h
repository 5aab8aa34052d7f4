/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _PVPERF_HOST_VM_H
#define _PVPERF_HOST_VM_H

/*
 * The registry of VMs that have made a call.
 *
 * Lifetime: made by the first call that needs it, in a vCPU's thread; ended by
 * KVM's pre-destroy hook, when no vCPU can run any more, or by the module's
 * exit, when no hook can. We hold no reference on struct kvm: it would keep the
 * VM from ever being destroyed.
 */

#include <linux/types.h>
#include "state.h"

/* Under RCU, from any context; NULL if this VM never asked. */
struct pvperf_vm *pvperf_vm_find(const struct kvm *kvm);
/* In a vCPU's thread: find or make. NULL: no memory. */
struct pvperf_vm *pvperf_vm_get(struct kvm *kvm);
/* From a hook, under RCU: this vCPU was reset by guest or userspace. */
void pvperf_vm_reset_seen(const struct kvm_vcpu *kvcpu);
/* The VM's own end; nothing is written to it. */
void pvperf_vm_destroyed(struct kvm *kvm);
/* The module's end; hooks are gone. Guests are told. */
void pvperf_vms_exit(void);
/* What is open is opened anew. 0, or -ESRCH if there is no VM of process @pid. */
int pvperf_vm_set_priority(pid_t pid, u32 priority);
/* Calls @show for every VM, with the registry locked. */
void pvperf_vms_for_each(void (*show)(struct pvperf_vm *vm, void *arg), void *arg);

#endif /* _PVPERF_HOST_VM_H */
