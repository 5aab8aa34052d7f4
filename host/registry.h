/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _PVPERF_HOST_REGISTRY_H
#define _PVPERF_HOST_REGISTRY_H

/*
 * The registry of VMs, see vm.h.
 *
 * A VM is in it from its first call that needs one until KVM destroys it, or until the module
 * goes. We hold no reference on struct kvm meanwhile: that would keep the VM from ever being
 * destroyed.
 */

#include <linux/types.h>
#include "state.h"

struct workqueue_struct;

/* Private and unbound: works that block here stall nobody else's. */
extern struct workqueue_struct *pvperf_works;
extern struct workqueue_struct *pvperf_end_works;	/* of VMs that have ended */

/* How many VMs are in the registry, or have left it and still have events or pages. */
u32 pvperf_vms_unfreed(void);

/* At load. Returns 0 or -ENOMEM. */
int pvperf_registry_init(void);

/* At unload, when no VM is left and no hook is installed. */
void pvperf_registry_exit(void);

/* Look up a VM; any context, under RCU. Returns the VM, or NULL if it is not in the registry. */
struct pvperf_vm *pvperf_vm_find(const struct kvm *kvm);

/* pvperf_vm_find() with a reference. Returns the VM, or NULL. */
struct pvperf_vm *pvperf_vm_get_known(const struct kvm *kvm);

/*
 * Enter a VM, unless it is there. @fresh: the VM, with a policy by the rules of fresh->version.
 * Returns @fresh, or the VM that is there; NULL if the rules have changed since. Whoever
 * changes them after this finds the VM.
 */
struct pvperf_vm *pvperf_vm_add(struct kvm *kvm, struct pvperf_vm *fresh);

/*
 * A VM leaves; may sleep. @wait: also for whoever is under RCU now. When this returns nobody
 * dereferences its .kvm or .kvcpu who has found them here.
 */
void pvperf_vm_remove(struct pvperf_vm *vm, bool wait);

/*
 * Go through all VMs. @after: the VM before, whose reference is dropped; NULL: begin. Returns
 * the VM, with a reference, as callers may take long; NULL: there is no other.
 */
struct pvperf_vm *pvperf_vm_next(struct pvperf_vm *after);

/* Drop a reference; does not sleep. */
void pvperf_vm_put(struct pvperf_vm *vm);

/* Free a VM that nobody else knows; may sleep. */
void pvperf_vm_free(struct pvperf_vm *vm);

/* pvperf_vms_vcpus() may be called from now on, or no more. @on: it may. */
void pvperf_vms_watched(bool on);

/*
 * Look at the vCPUs of a process's VMs; does not sleep. @tgid: the process; 0: all; @show:
 * called for each, under RCU; may read .kvcpu; @arg: for @show.
 */
void pvperf_vms_vcpus(pid_t tgid, void (*show)(const struct pvperf_vcpu *vcpu, void *arg),
		      void *arg);

#endif /* _PVPERF_HOST_REGISTRY_H */
