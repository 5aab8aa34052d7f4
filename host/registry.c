// SPDX-License-Identifier: GPL-2.0
/*
 * The registry of VMs. KVM's room: may know struct kvm, not perf.
 */
#define pr_fmt(fmt) "pvperf_host: " fmt

#include <linux/hashtable.h>
#include <linux/jiffies.h>
#include <linux/kvm_host.h>
#include <linux/list.h>
#include <linux/pid.h>
#include <linux/rcupdate.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/wait.h>
#include <linux/workqueue.h>
#include "registry.h"
#include "rules.h"
#include "state.h"
#include "vcpu.h"

static DEFINE_SPINLOCK(vms_lock);
static DEFINE_HASHTABLE(vms, 8);
static LIST_HEAD(vms_all);	/* the same, the oldest first */
static u64 last_serial;
static bool watched;	/* pvperf_vms_vcpus() may run */
static atomic_t nr_unfreed;	/* VMs that are, or were, in the registry */
static DECLARE_WAIT_QUEUE_HEAD(vms_freed_wait);

struct workqueue_struct *pvperf_works, *pvperf_end_works;

static void registry_destroy_works(void)
{
	if (pvperf_end_works)
		destroy_workqueue(pvperf_end_works);
	if (pvperf_works)
		destroy_workqueue(pvperf_works);
}

int pvperf_registry_init(void)
{
	pvperf_works = alloc_workqueue("pvperf", WQ_UNBOUND, WQ_MAX_ACTIVE);
	pvperf_end_works = alloc_workqueue("pvperf_end", WQ_UNBOUND, WQ_MAX_ACTIVE);
	if (pvperf_works && pvperf_end_works)
		return 0;
	registry_destroy_works();
	return -ENOMEM;
}

u32 pvperf_vms_unfreed(void)
{
	return atomic_read(&nr_unfreed);
}

void pvperf_registry_exit(void)
{
	/* The last pvperf_vm_put() queues vms_free. */
	while (!wait_event_timeout(vms_freed_wait, !atomic_read(&nr_unfreed), 10 * HZ))
		pr_warn("%d VMs have ended, and their processes keep perf from ending their events; end these processes\n",
			atomic_read(&nr_unfreed));
	registry_destroy_works();
}

struct pvperf_vm *pvperf_vm_find(const struct kvm *kvm)
{
	struct pvperf_vm *vm;

	hash_for_each_possible_rcu(vms, vm, node, (unsigned long)kvm,
				   lockdep_is_held(&vms_lock))
		if (vm->kvm == kvm)
			return vm;
	return NULL;
}

void pvperf_vm_free(struct pvperf_vm *vm)
{
	struct pvperf_vcpu *vcpu;
	unsigned long idx;

	WARN_ON(vm->nr_pages || vm->charged || !xa_empty(&vm->ids));
	xa_for_each(&vm->vcpus, idx, vcpu)
		pvperf_vcpu_free(vcpu);
	mmdrop(vm->mm);
	xa_destroy(&vm->vcpus);
	xa_destroy(&vm->ids);
	put_pid(vm->process);
	kfree(vm->refusals);
	kfree(vm);
}

static LLIST_HEAD(vms_freed);

/* A hook may still be looking at a VM that has left the registry. */
static void vms_free_work(struct work_struct *work)
{
	struct llist_node *freed = llist_del_all(&vms_freed);
	struct pvperf_vm *vm, *next;

	synchronize_rcu();
	llist_for_each_entry_safe(vm, next, freed, freed) {
		pvperf_vm_free(vm);
		atomic_dec(&nr_unfreed);
	}
	wake_up_all(&vms_freed_wait);
}

static DECLARE_WORK(vms_free, vms_free_work);

void pvperf_vm_put(struct pvperf_vm *vm)
{
	if (refcount_dec_and_test(&vm->refs) && llist_add(&vm->freed, &vms_freed))
		queue_work(pvperf_works, &vms_free);
}

struct pvperf_vm *pvperf_vm_add(struct kvm *kvm, struct pvperf_vm *fresh)
{
	struct pvperf_vm *vm;

	spin_lock(&vms_lock);
	vm = pvperf_vm_find(kvm);
	if (!vm && fresh->version == pvperf_rules_version()) {
		vm = fresh;
		vm->serial = ++last_serial;
		atomic_inc(&nr_unfreed);
		list_add_tail(&vm->all, &vms_all);
		hash_add_rcu(vms, &vm->node, (unsigned long)kvm);
	}
	spin_unlock(&vms_lock);
	return vm;
}

void pvperf_vm_remove(struct pvperf_vm *vm, bool wait)
{
	spin_lock(&vms_lock);
	list_del(&vm->all);
	hash_del_rcu(&vm->node);
	spin_unlock(&vms_lock);
	smp_mb();	/* pairs with pvperf_vms_watched() */
	if (wait || READ_ONCE(watched))
		synchronize_rcu();
}

struct pvperf_vm *pvperf_vm_get_known(const struct kvm *kvm)
{
	struct pvperf_vm *vm;

	spin_lock(&vms_lock);
	vm = pvperf_vm_find(kvm);
	if (vm)
		refcount_inc(&vm->refs);
	spin_unlock(&vms_lock);
	return vm;
}

/* The first VM behind @after, which may have left. */
static struct pvperf_vm *vm_behind(struct pvperf_vm *after)
{
	struct list_head *from = &vms_all;
	struct pvperf_vm *vm;

	lockdep_assert_held(&vms_lock);
	if (after && !hlist_unhashed(&after->node))
		return list_is_last(&after->all, from) ? NULL : list_next_entry(after, all);
	list_for_each_entry(vm, from, all)
		if (!after || vm->serial > after->serial)
			return vm;
	return NULL;
}

struct pvperf_vm *pvperf_vm_next(struct pvperf_vm *after)
{
	struct pvperf_vm *next;

	spin_lock(&vms_lock);
	next = vm_behind(after);
	if (next)
		refcount_inc(&next->refs);
	spin_unlock(&vms_lock);
	if (after)
		pvperf_vm_put(after);
	return next;
}

void pvperf_vms_watched(bool on)
{
	WRITE_ONCE(watched, on);
	smp_mb();	/* pairs with pvperf_vm_remove() */
}

void pvperf_vms_vcpus(pid_t tgid, void (*show)(const struct pvperf_vcpu *vcpu, void *arg),
		      void *arg)
{
	struct pvperf_vcpu *vcpu;
	struct pvperf_vm *vm;
	unsigned long idx;
	int bucket;

	rcu_read_lock();
	hash_for_each_rcu(vms, bucket, vm, node) {
		if (tgid && vm->pid != tgid)
			continue;
		xa_for_each(&vm->vcpus, idx, vcpu)
			show(vcpu, arg);
	}
	rcu_read_unlock();
}
