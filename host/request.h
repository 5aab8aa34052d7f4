/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _PVPERF_HOST_REQUEST_H
#define _PVPERF_HOST_REQUEST_H

/*
 * Requests to a VM: by the admin, by hooks, by other VMs. Each VM has a work that serves them,
 * so who requests something need not wait for a VM whose process holds up perf.
 */

#include <linux/types.h>

struct pvperf_vm;
struct work_struct;

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
 * pvperf_request_work() - a VM's .work
 * @work: it
 */
void pvperf_request_work(struct work_struct *work);

/**
 * pvperf_request() - request something of a VM; does not sleep
 * @vm: the VM; the caller has a reference, or is under RCU
 * @task: what
 * @delay: not before so many jiffies
 */
void pvperf_request(struct pvperf_vm *vm, enum pvperf_vm_task task, unsigned long delay);

/**
 * pvperf_requests_settle() - wait until all VMs have done what was requested; may sleep
 * @forever: wait for each VM for as long as it takes, and say so
 * @moved: counts the events that were reopened
 *
 * Return: false if perf is held up by a VM's process.
 */
bool pvperf_requests_settle(bool forever, u32 *moved);

/**
 * pvperf_vms_reopen() - create host events of all VMs anew
 * @task: PVPERF_VM_REOPEN or one of the next
 *
 * Waits for each VM, but not long for one that holds up perf.
 *
 * Return: how many.
 */
u32 pvperf_vms_reopen(enum pvperf_vm_task task);

#endif /* _PVPERF_HOST_REQUEST_H */
