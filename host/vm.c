// SPDX-License-Identifier: GPL-2.0
/*
 * The registry of VMs. KVM's room: may know struct kvm, not perf.
 */
#define pr_fmt(fmt) "pvperf_host: " fmt

#include <linux/bits.h>
#include <linux/hashtable.h>
#include <linux/kvm_host.h>
#include <linux/module.h>
#include <linux/pid.h>
#include <linux/random.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/wait.h>
#include <linux/workqueue.h>
#include "../compat/kvm.h"
#include "alone.h"
#include "event.h"
#include "reset.h"
#include "rules.h"
#include "vcpu.h"
#include "vm.h"

static DEFINE_MUTEX(judge_lock);	/* or a verdict by older rules could come last */
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
	works = alloc_workqueue("pvperf", WQ_UNBOUND, WQ_MAX_ACTIVE);
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

static void vm_work(struct work_struct *work);

static struct pvperf_vm *vm_alloc(struct kvm *kvm)
{
	struct pvperf_vm *vm = kzalloc(sizeof(*vm), GFP_KERNEL_ACCOUNT);

	if (!vm)
		return NULL;
	vm->kvm = kvm;
	vm->mm = kvm->mm;
	vm->pid = current->tgid;
	vm->process = get_pid(task_tgid(current));
	vm->clock = get_random_u64() | 1;
	get_task_comm(vm->name, current->group_leader);
	refcount_set(&vm->refs, 1);
	mutex_init(&vm->lock);
	INIT_DELAYED_WORK(&vm->work, vm_work);
	xa_init_flags(&vm->vcpus, XA_FLAGS_ACCOUNT);
	xa_init_flags(&vm->ids, XA_FLAGS_ACCOUNT);
	return vm;
}

/* A change of the rules comes before this, or finds the VM. Returns NULL if it came before. */
static struct pvperf_vm *vm_add(struct kvm *kvm, struct pvperf_vm *fresh)
{
	struct pvperf_vm *vm;

	mutex_lock(&vms_lock);
	vm = pvperf_vm_find(kvm);
	if (!vm && fresh->version == pvperf_rules_version()) {
		vm = fresh;
		vm->serial = ++last_serial;
		atomic_inc(&nr_unfreed);
		hash_add_rcu(vms, &vm->node, (unsigned long)kvm);
	}
	mutex_unlock(&vms_lock);
	return vm;
}

static int vm_judge(struct pvperf_vm *vm)
{
	struct pvperf_verdict verdict;
	int err = pvperf_alone_judge(vm, &verdict);

	vm->policy = verdict.policy;
	vm->rule = verdict.rule;
	vm->version = verdict.version;
	return err;
}

/* Two vCPUs may make the VM's first call at a time. */
static noinline struct pvperf_vm *vm_make(struct kvm *kvm)
{
	struct pvperf_vm *vm = NULL, *fresh = vm_alloc(kvm);

	while (!vm && fresh && !vm_judge(fresh) && !fatal_signal_pending(current))
		vm = vm_add(kvm, fresh);
	if (fresh && vm != fresh)
		vm_free(fresh);
	return vm;
}

struct pvperf_vm *pvperf_vm_get(struct kvm *kvm)
{
	struct pvperf_vm *vm;

	rcu_read_lock();
	vm = pvperf_vm_find(kvm);
	rcu_read_unlock();
	/* It cannot be destroyed while a vCPU runs. */
	return likely(vm) ? vm : vm_make(kvm);
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

static u32 vm_reopen(struct pvperf_vm *vm, unsigned long todo)
{
	static pvperf_which * const which[PVPERF_VM_TASKS] = {
		[PVPERF_VM_LEND] = pvperf_event_has_counter,
		[PVPERF_VM_LEND_BACK] = pvperf_event_has_nothing,
	};
	u32 moved = 0;
	int task;

	for (task = PVPERF_VM_REOPEN; task < PVPERF_VM_TASKS; task++)
		if (todo & BIT(task))
			moved += pvperf_vcpu_reopen_all(vm, which[task]);
	return moved;
}

/*
 * What others than the VM itself want of it. Each VM has a work of its own, so one whose
 * process holds up perf keeps nobody else waiting. The reference on the module lets rmmod
 * fail meanwhile, instead of waiting.
 */
static void vm_work(struct work_struct *work)
{
	struct pvperf_vm *vm = container_of(to_delayed_work(work), struct pvperf_vm, work);
	bool held = try_module_get(THIS_MODULE);
	int asked = atomic_read(&vm->asked);
	/* After .asked was read: what was asked for until then is in here. */
	unsigned long todo = xchg(&vm->todo, 0);

	if (todo & BIT(PVPERF_VM_END))
		pvperf_vcpu_clear_all(vm, PVPERF_END_GONE);
	if (todo & BIT(PVPERF_VM_RESET))
		pvperf_vcpu_clear_dead(vm);
	if (todo & BIT(PVPERF_VM_SLOTS))
		pvperf_vcpu_clear_lost(vm);
	WRITE_ONCE(vm->moved, vm_reopen(vm, todo));
	smp_store_release(&vm->done, asked);	/* pairs with vm_is_done() */
	wake_up_all(&vms_gone);
	if (held)
		module_put(THIS_MODULE);
	vm_put(vm);
}

/* The caller has a reference, or is under RCU. */
static void vm_ask(struct pvperf_vm *vm, enum pvperf_vm_task task, unsigned long delay)
{
	if (!refcount_inc_not_zero(&vm->refs))
		return;
	set_bit(task, &vm->todo);
	atomic_inc_return(&vm->asked);
	if (delay ? !queue_delayed_work(works, &vm->work, delay) :
		    mod_delayed_work(works, &vm->work, 0))
		vm_put(vm);	/* it was queued already, with a reference */
}

/*
 * A guest can reset its vCPUs in a loop. Nothing waits for their events. And userspace may
 * take a slot away only to make two of it.
 */
#define VM_LATER	(HZ / 10)

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
			vm_ask(vm, PVPERF_VM_RESET, VM_LATER);
	}
	rcu_read_unlock();
}

void pvperf_vm_slots_changed(const struct kvm *kvm)
{
	struct pvperf_vm *vm;

	rcu_read_lock();
	vm = pvperf_vm_find(kvm);
	if (vm && READ_ONCE(vm->nr_pages))
		vm_ask(vm, PVPERF_VM_SLOTS, VM_LATER);
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

/* How long one VM may take when all others are done. */
#define VM_WAIT		(10 * HZ)

/* Has the work done what it was asked for until @asked? */
static bool vm_is_done(const struct pvperf_vm *vm, int asked)
{
	/* Pairs with vm_work(): its .moved is that of this run. */
	return smp_load_acquire(&vm->done) - asked >= 0;
}

static bool vm_settle(struct pvperf_vm *vm, long wait)
{
	int asked = atomic_read(&vm->asked);

	if (wait_event_timeout(vms_gone, vm_is_done(vm, asked), wait))
		return true;
	pr_warn("process %d (%s) keeps perf from ending its events: another thread of it holds the lock of a vCPU's thread (perf_event_open, and memory that does not arrive); end that process\n",
		vm->pid, vm->name);
	return false;
}

/* Waits for all VMs' works. A VM that has held us up leaves little time to the next one. */
static bool vms_settle(bool forever, u32 *moved)
{
	struct pvperf_vm *vm = NULL;
	bool all = true, done;

	while ((vm = vm_next(vm))) {
		do
			done = vm_settle(vm, all || forever ? VM_WAIT : 1);
		while (!done && forever);
		all &= done;
		*moved += READ_ONCE(vm->moved);
	}
	return all;
}

/* What CPUID tells a guest, which looks again only when its host side has gone. */
#define VM_TOLD		(BIT(PVPERF_WORD_ACCESS) | BIT(PVPERF_WORD_RAW) |	\
			 BIT(PVPERF_WORD_HOST_EVENTS) |				\
			 BIT(PVPERF_WORD_MAX_EVENTS) | BIT(PVPERF_WORD_MIN_PERIOD))

static bool vm_has_too_much(const struct pvperf_vm *vm)
{
	return atomic_read(&vm->events) > vm->policy.word[PVPERF_WORD_MAX_VM_EVENTS] ||
	       READ_ONCE(vm->held) > vm->policy.word[PVPERF_WORD_MAX_PAGES];
}

static void vm_end_events(struct pvperf_vm *vm, u32 reason)
{
	WRITE_ONCE(vm->reason, reason);
	pvperf_vcpu_mute_all(vm);
	vm_ask(vm, PVPERF_VM_END, 0);
}

/* The guest opens anew what it still may have. */
static void vm_follow(struct pvperf_vm *vm, const struct pvperf_verdict *verdict)
{
	u32 changed = pvperf_policy_assign(&vm->policy, &verdict->policy);

	WRITE_ONCE(vm->rule, verdict->rule);
	/* Full: an OPEN sees this, or the work finds its event. */
	atomic_inc_return(&vm->changes);
	if (changed && vm->policy.word[PVPERF_WORD_ACCESS] < PVPERF_ACCESS_LOCAL)
		vm_end_events(vm, verdict->reason);
	else if (changed & VM_TOLD || vm_has_too_much(vm))
		vm_end_events(vm, KVM_PERF_REASON_POLICY);
	else if (changed & BIT(PVPERF_WORD_PRIORITY))
		vm_ask(vm, PVPERF_VM_REOPEN, 0);
}

int pvperf_vms_judge(bool wait)
{
	struct pvperf_verdict verdict;
	struct pvperf_vm *vm = NULL;
	u32 moved = 0;
	int err;

	mutex_lock(&judge_lock);
	while ((vm = vm_next(vm))) {
		err = pvperf_alone_judge(vm, &verdict);
		if (!err)
			vm_follow(vm, &verdict);
		else if (err != -ESRCH)
			pr_err("VM of process %d (%s) keeps its policy: no memory; write the rules again\n",
			       vm->pid, vm->name);
	}
	mutex_unlock(&judge_lock);
	return !wait || vms_settle(false, &moved) ? 0 : -EBUSY;
}

bool pvperf_vms_clear(bool forever)
{
	struct pvperf_vm *vm = NULL;
	u32 moved = 0;

	while ((vm = vm_next(vm)))
		vm_end_events(vm, KVM_PERF_REASON_NONE);
	return vms_settle(forever, &moved);
}

void pvperf_vms_end(void)
{
	struct pvperf_vm *vm;

	/* vm_end() takes it out of the registry, and drops the reference. */
	while ((vm = vm_next(NULL)))
		vm_end(vm, PVPERF_END_GONE);
}

u32 pvperf_vms_reopen(enum pvperf_vm_task task)
{
	struct pvperf_vm *vm = NULL;
	u32 moved = 0;

	while ((vm = vm_next(vm)))
		vm_ask(vm, task, 0);
	vms_settle(false, &moved);
	return moved;
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
