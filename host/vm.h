/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _PVPERF_HOST_VM_H
#define _PVPERF_HOST_VM_H

/*
 * The registry of VMs that have made a call.
 *
 * Lifetime: the first call that needs a VM creates it, in a vCPU's thread. KVM's
 * pre-destroy hook ends it, when no vCPU can run any more, or the module's exit,
 * when no hook can. We hold no reference on struct kvm: it would keep the VM from
 * ever being destroyed.
 */

#include <linux/types.h>
#include "state.h"
#include "vcpu.h"

/**
 * pvperf_vms_init() - at load
 *
 * Return: 0 or -ENOMEM.
 */
int pvperf_vms_init(void);

/**
 * pvperf_vms_fini() - at unload, when no VM is left and no hook is installed
 */
void pvperf_vms_fini(void);

/**
 * pvperf_vm_find() - look up a VM; any context, under RCU
 * @kvm: the key
 *
 * Return: the VM, or NULL if it has never made a call.
 */
struct pvperf_vm *pvperf_vm_find(const struct kvm *kvm);

/**
 * pvperf_vm_get() - find or create a VM
 * @kvm: the VM of the vCPU whose thread this is
 *
 * Return: the VM, or NULL if there is no memory, or the process is being killed.
 */
struct pvperf_vm *pvperf_vm_get(struct kvm *kvm);

/**
 * pvperf_vm_reset_seen() - a hook saw that a vCPU is reset; does not sleep
 * @kvcpu: the vCPU, reset by its guest or by userspace
 */
void pvperf_vm_reset_seen(const struct kvm_vcpu *kvcpu);

/**
 * pvperf_vm_slots_changed() - a hook saw that a memory slot is taken away; does not sleep
 * @kvm: the VM
 */
void pvperf_vm_slots_changed(const struct kvm *kvm);

/**
 * pvperf_vm_destroyed() - a VM ends; nothing is written to it
 * @kvm: the VM
 */
void pvperf_vm_destroyed(struct kvm *kvm);

/**
 * pvperf_vms_judge() - apply the rules to the VMs that are known
 * @wait: until the events have ended that a VM may not have any more
 *
 * A VM that may not have all that it has is ended and told so; its guest opens anew what it
 * may. The caller keeps others from doing the same.
 *
 * Return: 0; -EBUSY if perf is held up by a VM's process; then that VM follows later.
 */
int pvperf_vms_judge(bool wait);

/**
 * pvperf_vms_clear() - close the events of all VMs, and tell the guests
 * @forever: wait for each VM for as long as it takes, and say so
 *
 * Calls may still run. They must open nothing any more. From here on no event of any VM
 * overflows.
 *
 * Return: false if perf is held up by a VM's process; then that VM's events end later.
 */
bool pvperf_vms_clear(bool forever);

/**
 * pvperf_vms_end() - end all VMs, and tell the guests
 *
 * When the hooks on the ways in are removed: at the module's exit, and when access=unavailable
 * is written.
 */
void pvperf_vms_end(void);

/* What a VM's work does, in this order. */
enum pvperf_vm_task {
	PVPERF_VM_END,		/* close all events, and tell the guest */
	PVPERF_VM_RESET,	/* close the events of vCPUs that were reset */
	PVPERF_VM_SLOTS,	/* close what lies in memory that is not the guest's any more */
	PVPERF_VM_REOPEN,	/* create host events anew: all, ... */
	PVPERF_VM_LEND,		/* ... those that may have a counter, ... */
	PVPERF_VM_LEND_BACK,	/* ... those that have none */
	PVPERF_VM_TASKS
};

/**
 * pvperf_vms_reopen() - create host events of all VMs anew
 * @task: PVPERF_VM_REOPEN or one of the next
 *
 * Waits for each VM, but not long for one that holds up perf.
 *
 * Return: how many.
 */
u32 pvperf_vms_reopen(enum pvperf_vm_task task);

/**
 * pvperf_vms_vcpus() - look at the vCPUs of all VMs
 * @show: called for each; must neither sleep nor take a lock
 *
 * While it runs KVM frees none of them, so @show may read .kvcpu.
 */
void pvperf_vms_vcpus(void (*show)(const struct pvperf_vcpu *vcpu));

/**
 * pvperf_vms_watched() - pvperf_vms_vcpus_of() may be called from now on, or no more
 * @on: it may
 */
void pvperf_vms_watched(bool on);

/**
 * pvperf_vms_vcpus_of() - look at the vCPUs that a thread runs; does not sleep
 * @tid: the thread
 * @show: called for each, under RCU; may read .kvcpu
 * @arg: for @show
 */
void pvperf_vms_vcpus_of(pid_t tid, void (*show)(const struct pvperf_vcpu *vcpu, void *arg),
			 void *arg);

/**
 * pvperf_vms_for_each() - call a function for every VM; may sleep
 * @show: the function; a reference keeps the VM, but no lock is held
 * @arg: its second argument
 */
void pvperf_vms_for_each(void (*show)(struct pvperf_vm *vm, void *arg), void *arg);

#endif /* _PVPERF_HOST_VM_H */
