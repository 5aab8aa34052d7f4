/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _PVPERF_HOST_VM_H
#define _PVPERF_HOST_VM_H

/*
 * VMs. The first call that needs one creates it, in a vCPU's thread, or with rules the first look
 * at pvperf's CPUID leaves or PROBE.
 * KVM's pre-destroy hook ends it, when no vCPU can run any more, or the module's exit, when no
 * hook can.
 */

#include <linux/types.h>
#include "state.h"
#include "vcpu.h"

/*
 * Find or create a VM. @kvm: the VM of the vCPU whose thread this is. Returns the VM, or NULL
 * if there is no memory, or the process is being killed.
 */
struct pvperf_vm *pvperf_vm_get(struct kvm *kvm);

/*
 * A hook saw that a vCPU is reset; does not sleep. @kvcpu: the vCPU, reset by its guest or by
 * userspace.
 */
void pvperf_vm_reset_seen(const struct kvm_vcpu *kvcpu);

/* A hook saw that a memory slot is taken away; does not sleep. */
void pvperf_vm_slots_changed(const struct kvm *kvm);

/* A VM ends; nothing is written to it. */
void pvperf_vm_destroyed(struct kvm *kvm);

/*
 * Apply the rules to the VMs that are known. @wait: until the events have ended that a VM may
 * not have any more. A VM that may not have all that it has is ended and told so; its guest
 * opens anew what it may. Callers may come at a time: the last one's rules hold. Returns 0;
 * -EBUSY if perf is held up by a VM's process; then that VM follows later.
 */
int pvperf_vms_apply_rules(bool wait);

/*
 * Close the events of all VMs, and tell the guests. @forever: wait for each VM for as long as
 * it takes, and say so. Calls may still run. They must open nothing any more. From here on no
 * event of any VM overflows. Returns false if perf is held up by a VM's process; then that VM's
 * events end later.
 */
bool pvperf_vms_clear(bool forever);

/*
 * End all VMs, and tell the guests. When the hooks on the ways in are removed: at the module's
 * exit, and when access=unavailable is written.
 */
void pvperf_vms_end(void);

#endif /* _PVPERF_HOST_VM_H */
