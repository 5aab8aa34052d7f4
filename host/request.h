/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _PVPERF_HOST_REQUEST_H
#define _PVPERF_HOST_REQUEST_H

/*
 * Requests to a VM: by the admin, by hooks, by other VMs. Each VM has a work that serves them,
 * so who requests something need not wait for a VM whose process holds up perf.
 */

#include <linux/jiffies.h>
#include <linux/types.h>

struct pvperf_vm;
struct work_struct;

/* What a VM's work does, in this order. */
enum pvperf_vm_task {
	PVPERF_VM_END,		/* close all events, and tell the guest */
	PVPERF_VM_RESET,	/* close the events of vCPUs that were reset */
	PVPERF_VM_SLOTS,	/* close what lies in memory that is not the guest's any more */
	PVPERF_VM_REOPEN,	/* create host events anew: those that have a priority, ... */
	PVPERF_VM_LEND,		/* ... those that may have a counter, ... */
	PVPERF_VM_LEND_BACK,	/* ... those that have none */
	PVPERF_VM_TASKS
};

/* A guest can reset its vCPUs in a loop, and userspace take a slot away only to make two of it. */
#define PVPERF_VM_LATER	(HZ / 10)

/* The function of pvperf_vm.work. */
void pvperf_request_work(struct work_struct *work);

/*
 * Request something of a VM; does not sleep. @vm: the VM; the caller has a reference, or is
 * under RCU; @task: what; @delay: not before so many jiffies, and nobody waits for it.
 */
void pvperf_request(struct pvperf_vm *vm, enum pvperf_vm_task task, unsigned long delay);

/*
 * Wait until all VMs have done what was requested without a delay; may sleep. @forever: wait for
 * each VM for as long as it takes, and say so. Returns false if perf is held up by a VM's process.
 */
bool pvperf_requests_settle(bool forever);

/* Request something of all VMs that have events; does not wait. @task: what. */
void pvperf_vms_request(enum pvperf_vm_task task);

/*
 * Have all VMs give up hardware events; waits, but not long for one that holds up perf. Returns
 * how many.
 */
u32 pvperf_vms_lend(void);

/* A VM ends, and until it has served PVPERF_VM_END it may have events. @vm: the VM. */
void pvperf_request_ending(struct pvperf_vm *vm);

/* Wait until VMs that have ended have no events, for 1 s at most. */
void pvperf_requests_settle_ended(void);

#endif /* _PVPERF_HOST_REQUEST_H */
