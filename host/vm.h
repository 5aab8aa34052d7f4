/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _PVPERF_HOST_VM_H
#define _PVPERF_HOST_VM_H

/*
 * A VM that has asked for something, and the registry of all of them.
 *
 * Lifetime: made by the first call that needs it, in a vCPU's thread; ended by
 * KVM's pre-destroy hook, when no vCPU can run any more, or by the module's
 * exit, when no hook can. We hold no reference on struct kvm: it would keep the
 * VM from ever being destroyed.
 *
 * Locks, outermost first: the registry's, pvperf_vcpu.lock, pvperf_vm.lock.
 */

#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/rcupdate.h>
#include <linux/types.h>
#include <linux/xarray.h>

struct kvm;
struct pvperf_vcpu;
struct seq_file;

/* Counters of what a VM did; each read and written without lock. */
struct pvperf_stats {
	atomic64_t calls;
	atomic64_t ops;
	atomic64_t refused;
	atomic64_t overflows;
	atomic64_t nmis;
};

struct pvperf_vm {
	struct hlist_node node;		/* registry, RCU */
	struct kvm *kvm;		/* the key */
	pid_t pid;
	struct mutex lock;		/* pages and nr_pages */
	struct xarray pages;		/* struct pvperf_page by gfn */
	struct xarray vcpus;		/* struct pvperf_vcpu by index */
	struct xarray ids;		/* struct pvperf_event by id */
	u32 nr_pages;
	bool lent;			/* the last answer was: PMU lent out */
	u32 priority;			/* enum pvperf_priority; any time */
	struct pvperf_stats stats;
	struct rcu_head rcu;
};

/* Under RCU, from any context; NULL if this VM never asked. */
struct pvperf_vm *pvperf_vm_find(const struct kvm *kvm);
/* In a vCPU's thread: find or make. NULL: no memory. */
struct pvperf_vm *pvperf_vm_get(struct kvm *kvm);
/* The VM's own end; nothing is written to it. */
void pvperf_vm_destroyed(struct kvm *kvm);
/* The module's end; hooks are gone. Guests are told. */
void pvperf_vms_exit(void);
/* What is open is opened anew. 0, or -ESRCH if there is no VM of process @pid. */
int pvperf_vm_set_priority(pid_t pid, u32 priority);
/* Calls @show for every VM, with the registry locked. */
void pvperf_vms_for_each(void (*show)(struct pvperf_vm *vm, void *arg), void *arg);

#endif /* _PVPERF_HOST_VM_H */
