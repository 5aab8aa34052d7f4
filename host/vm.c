// SPDX-License-Identifier: GPL-2.0
/*
 * The registry of VMs. KVM's room: may know struct kvm, not perf.
 */
#include <linux/hashtable.h>
#include <linux/kvm_host.h>
#include <linux/random.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/wait.h>
#include <linux/workqueue.h>
#include "../compat/kvm.h"
#include "caps.h"
#include "names.h"
#include "reset.h"
#include "vcpu.h"
#include "vm.h"

static DEFINE_MUTEX(vms_lock);
static DEFINE_HASHTABLE(vms, 8);
static u64 last_serial;
static bool watched;	/* pvperf_vms_vcpus_of() may run */
static atomic_t nr_unfreed;	/* VMs that are, or were, in the registry */
static DECLARE_WAIT_QUEUE_HEAD(vms_gone);	/* a VM has left the registry, or is freed */

/* Private and unbound: works that block here stall nobody else's. */
static struct workqueue_struct *works;

int pvperf_vms_init(void)
{
	works = alloc_workqueue("pvperf", WQ_UNBOUND, 0);
	return works ? 0 : -ENOMEM;
}

void pvperf_vms_fini(void)
{
	/* The last vm_put() queues vms_free. */
	wait_event(vms_gone, !atomic_read(&nr_unfreed));
	destroy_workqueue(works);
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

static void vm_free(struct pvperf_vm *vm)
{
	struct pvperf_vcpu *vcpu;
	unsigned long idx;

	xa_for_each(&vm->vcpus, idx, vcpu)
		pvperf_vcpu_free(vcpu);
	xa_destroy(&vm->vcpus);
	xa_destroy(&vm->ids);
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
		vm_free(vm);
		atomic_dec(&nr_unfreed);
	}
	wake_up_all(&vms_gone);
}

static DECLARE_WORK(vms_free, vms_free_work);

static void vm_put(struct pvperf_vm *vm)
{
	if (refcount_dec_and_test(&vm->refs) && llist_add(&vm->freed, &vms_freed))
		queue_work(works, &vms_free);
}

static struct pvperf_vm *vm_alloc(struct kvm *kvm)
{
	struct pvperf_vm *vm = kzalloc(sizeof(*vm), GFP_KERNEL_ACCOUNT);

	if (!vm)
		return NULL;
	vm->kvm = kvm;
	vm->mm = kvm->mm;
	vm->pid = current->tgid;
	vm->clock = get_random_u64() | 1;
	get_task_comm(vm->name, current->group_leader);
	vm->priority = READ_ONCE(pvperf_policy.priority);
	refcount_set(&vm->refs, 1);
	mutex_init(&vm->lock);
	xa_init_flags(&vm->vcpus, XA_FLAGS_ACCOUNT);
	xa_init_flags(&vm->ids, XA_FLAGS_ACCOUNT);
	return vm;
}

struct pvperf_vm *pvperf_vm_get(struct kvm *kvm)
{
	struct pvperf_vm *vm, *fresh;

	rcu_read_lock();
	vm = pvperf_vm_find(kvm);
	rcu_read_unlock();
	if (likely(vm))
		return vm;	/* cannot be destroyed while a vCPU runs */

	/* Two vCPUs may make the VM's first call at a time. */
	fresh = vm_alloc(kvm);
	mutex_lock(&vms_lock);
	vm = pvperf_vm_find(kvm);
	if (!vm && fresh) {
		vm = fresh;
		fresh = NULL;
		vm->serial = ++last_serial;
		/* Here: a change of the names comes before this, or finds the VM. */
		vm->left_out = pvperf_names_match(vm->name);
		atomic_inc(&nr_unfreed);
		hash_add_rcu(vms, &vm->node, (unsigned long)kvm);
	}
	mutex_unlock(&vms_lock);
	if (fresh)
		vm_free(fresh);
	return vm;
}

/*
 * The VM that follows @after, or the first, with a reference; drops that of @after.
 * Callers use the VM without vms_lock: that may take long.
 */
static struct pvperf_vm *vm_next(struct pvperf_vm *after)
{
	u64 serial = after ? after->serial : 0;
	struct pvperf_vm *vm, *next = NULL;
	int bucket;

	mutex_lock(&vms_lock);
	hash_for_each(vms, bucket, vm, node)
		if (vm->serial > serial && (!next || vm->serial < next->serial))
			next = vm;
	if (next)
		refcount_inc(&next->refs);
	mutex_unlock(&vms_lock);
	if (after)
		vm_put(after);
	return next;
}

static void vms_reset_work(struct work_struct *work)
{
	struct pvperf_vm *vm = NULL;

	while ((vm = vm_next(vm)))
		pvperf_vcpu_clear_dead(vm);
}

static DECLARE_WORK(vms_reset, vms_reset_work);

void pvperf_vm_reset_seen(const struct kvm_vcpu *kvcpu)
{
	struct pvperf_vcpu *vcpu;
	struct pvperf_vm *vm;

	rcu_read_lock();
	vm = pvperf_vm_find(kvcpu->kvm);
	vcpu = vm ? xa_load(&vm->vcpus, pvperf_kvm_index(kvcpu)) : NULL;
	if (vcpu && vcpu->kvcpu == kvcpu) {
		pvperf_reset_mark(vcpu);
		/* Userspace can reset in a loop: not without OPEN or ATTACH in it. */
		if (vcpu->nr_events || vcpu->pin)
			queue_work(works, &vms_reset);
	}
	rcu_read_unlock();
}

/*
 * No call can come in any more. The VM stays in the registry until nothing touches
 * KVM's structures: once it is unhashed KVM may free struct kvm.
 */
static void vm_quiesce(struct pvperf_vm *vm, enum pvperf_end end)
{
	struct pvperf_vcpu *vcpu;
	unsigned long idx;

	/* While resets are still seen: a reset guest must not be written to. */
	pvperf_vcpu_clear_all(vm, end);
	xa_for_each(&vm->vcpus, idx, vcpu)
		pvperf_vcpu_quiesce(vcpu);
	WARN_ON(vm->nr_pages || vm->held || !xa_empty(&vm->ids));
	mutex_lock(&vms_lock);
	hash_del_rcu(&vm->node);
	mutex_unlock(&vms_lock);
	smp_mb();	/* pairs with pvperf_vms_watched() */
	if (READ_ONCE(watched))
		synchronize_rcu();
	wake_up_all(&vms_gone);
}

/*
 * The end of a VM and the module's exit may meet here; the second waits for the
 * first. Drops the caller's reference.
 */
static void vm_end(struct pvperf_vm *vm, enum pvperf_end end)
{
	if (xchg(&vm->ended, true)) {
		wait_event(vms_gone, hlist_unhashed_lockless(&vm->node));
	} else {
		vm_quiesce(vm, end);
		vm_put(vm);
	}
	vm_put(vm);
}

void pvperf_vm_destroyed(struct kvm *kvm)
{
	struct pvperf_vm *vm;

	mutex_lock(&vms_lock);
	vm = pvperf_vm_find(kvm);
	if (vm)
		refcount_inc(&vm->refs);
	mutex_unlock(&vms_lock);
	if (vm)
		vm_end(vm, PVPERF_END_SILENT);
}

bool pvperf_vm_left_out(const struct kvm *kvm)
{
	const struct pvperf_vm *vm;
	char name[TASK_COMM_LEN];
	bool known, out = false;

	rcu_read_lock();
	vm = pvperf_vm_find(kvm);
	known = vm;
	if (known)
		out = READ_ONCE(vm->left_out);
	rcu_read_unlock();
	if (known)
		return out;
	get_task_comm(name, current->group_leader);
	return pvperf_names_match(name);
}

void pvperf_vms_leave_out(void)
{
	struct pvperf_vm *vm = NULL;
	bool out;

	while ((vm = vm_next(vm))) {
		out = pvperf_names_match(vm->name);
		if (out == vm->left_out)
			continue;
		WRITE_ONCE(vm->left_out, out);
		if (out)
			pvperf_vcpu_clear_all(vm, PVPERF_END_GONE);
	}
}

void pvperf_vms_clear(void)
{
	struct pvperf_vm *vm = NULL;

	while ((vm = vm_next(vm)))
		pvperf_vcpu_clear_all(vm, PVPERF_END_GONE);
}

void pvperf_vms_end(void)
{
	struct pvperf_vm *vm;

	/* vm_end() takes it out of the registry, and drops the reference. */
	while ((vm = vm_next(NULL)))
		vm_end(vm, PVPERF_END_GONE);
}

int pvperf_vm_set_priority(pid_t pid, u32 priority)
{
	struct pvperf_vm *vm = NULL;
	int err = -ESRCH;

	while ((vm = vm_next(vm))) {
		if (vm->pid != pid)
			continue;
		WRITE_ONCE(vm->priority, priority);
		pvperf_vcpu_reopen_all(vm, NULL);
		err = 0;
	}
	return err;
}

u32 pvperf_vms_reopen(pvperf_which *which)
{
	struct pvperf_vm *vm = NULL;
	u32 n = 0;

	while ((vm = vm_next(vm)))
		n += pvperf_vcpu_reopen_all(vm, which);
	return n;
}

void pvperf_vms_vcpus(void (*show)(const struct pvperf_vcpu *vcpu))
{
	struct pvperf_vcpu *vcpu;
	struct pvperf_vm *vm;
	unsigned long idx;
	int bucket;

	/* A VM that ends leaves the registry before KVM frees its vCPUs. */
	mutex_lock(&vms_lock);
	hash_for_each(vms, bucket, vm, node)
		xa_for_each(&vm->vcpus, idx, vcpu)
			show(vcpu);
	mutex_unlock(&vms_lock);
}

void pvperf_vms_watched(bool on)
{
	WRITE_ONCE(watched, on);
	smp_mb();	/* pairs with vm_quiesce() */
}

void pvperf_vms_vcpus_of(pid_t tid, void (*show)(const struct pvperf_vcpu *vcpu, void *arg),
			 void *arg)
{
	struct pvperf_vcpu *vcpu;
	struct pvperf_vm *vm;
	unsigned long idx;
	int bucket;

	rcu_read_lock();
	hash_for_each_rcu(vms, bucket, vm, node)
		xa_for_each(&vm->vcpus, idx, vcpu)
			if (READ_ONCE(vcpu->tid) == tid)
				show(vcpu, arg);
	rcu_read_unlock();
}

void pvperf_vms_for_each(void (*show)(struct pvperf_vm *vm, void *arg), void *arg)
{
	struct pvperf_vm *vm = NULL;

	while ((vm = vm_next(vm))) {
		lockdep_assert_not_held(&vms_lock);
		show(vm, arg);
	}
}
