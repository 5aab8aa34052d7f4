// SPDX-License-Identifier: GPL-2.0
/*
 * VMs: their first call, their policy, their end. KVM's room: may know struct kvm, not perf.
 */
#define pr_fmt(fmt) "pvperf_host: " fmt

#include <linux/bits.h>
#include <linux/kvm_host.h>
#include <linux/pid.h>
#include <linux/random.h>
#include <linux/sched.h>
#include <linux/sched/mm.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/wait.h>
#include "../compat/kvm.h"
#include "inject.h"
#include "registry.h"
#include "request.h"
#include "rules.h"
#include "vcpu.h"
#include "vm.h"

static DEFINE_MUTEX(resolve_lock);	/* else an older verdict could overwrite a newer one */
static DECLARE_WAIT_QUEUE_HEAD(vms_left);	/* a VM has left the registry */

static struct pvperf_vm *vm_alloc(struct kvm *kvm)
{
	struct pvperf_vm *vm = kzalloc(sizeof(*vm), GFP_KERNEL_ACCOUNT);

	if (!vm)
		return NULL;
	vm->kvm = kvm;
	vm->mm = kvm->mm;
	mmgrab(vm->mm);
	vm->pid = current->tgid;
	vm->process = get_pid(task_tgid(current));
	vm->clock = get_random_u64() | 1;
	get_task_comm(vm->name, current->group_leader);
	refcount_set(&vm->refs, 1);
	mutex_init(&vm->lock);
	INIT_DELAYED_WORK(&vm->work, pvperf_request_work);
	xa_init_flags(&vm->vcpus, XA_FLAGS_ACCOUNT);
	xa_init_flags(&vm->ids, XA_FLAGS_ACCOUNT);
	return vm;
}

/* Why the VM has nothing, for its page and its operator. */
static void vm_note_reason(struct pvperf_vm *vm, const struct pvperf_verdict *verdict)
{
	if (verdict->policy.word[PVPERF_WORD_ACCESS] < PVPERF_ACCESS_LOCAL)
		WRITE_ONCE(vm->reason, verdict->reason);
}

static int vm_resolve(struct pvperf_vm *vm)
{
	struct pvperf_verdict verdict;
	int err = pvperf_rules_resolve(vm, &verdict);

	vm_note_reason(vm, &verdict);
	vm->policy = verdict.policy;
	vm->rule = verdict.rule;
	vm->version = verdict.version;
	return err;
}

/* Two vCPUs may make the VM's first call at a time. */
static noinline struct pvperf_vm *vm_make(struct kvm *kvm)
{
	struct pvperf_vm *vm = NULL, *fresh = vm_alloc(kvm);

	while (!vm && fresh && !vm_resolve(fresh) && !fatal_signal_pending(current))
		vm = pvperf_vm_add(kvm, fresh);
	if (fresh && vm != fresh)
		pvperf_vm_free(fresh);
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

void pvperf_vm_reset_seen(const struct kvm_vcpu *kvcpu)
{
	struct pvperf_vcpu *vcpu;
	struct pvperf_vm *vm;

	rcu_read_lock();
	vm = pvperf_vm_find(kvcpu->kvm);
	vcpu = vm ? xa_load(&vm->vcpus, pvperf_kvm_index(kvcpu)) : NULL;
	if (vcpu && vcpu->kvcpu == kvcpu) {
		/*
		 * From here on no overflow writes to the guest. To close the events is to
		 * sleep, so the VM's work does it, or the vCPU's next call.
		 */
		WRITE_ONCE(vcpu->dead, true);
		/* Userspace can reset in a loop: not without OPEN or ATTACH in it. */
		if (vcpu->nr_events || vcpu->pin)
			pvperf_request(vm, PVPERF_VM_RESET, PVPERF_VM_LATER);
	}
	rcu_read_unlock();
}

void pvperf_vm_slots_changed(const struct kvm *kvm)
{
	struct pvperf_vm *vm;

	rcu_read_lock();
	vm = pvperf_vm_find(kvm);
	if (vm && READ_ONCE(vm->nr_pages)) {
		WRITE_ONCE(vm->slots_at, jiffies);
		pvperf_request(vm, PVPERF_VM_SLOTS, PVPERF_VM_LATER);
	}
	rcu_read_unlock();
}

/*
 * KVM destroys the VM: no vCPU runs. The process that waits for this may be anybody, so we
 * don't wait for perf: the events end later, in the VM's work, and do nothing until then.
 */
static void vm_abandon(struct pvperf_vm *vm)
{
	/* What has been closed by now has been logged. */
	bool has = atomic_read(&vm->events) || READ_ONCE(vm->nr_pages);

	if (has)
		pvperf_request_ending(vm);
	pvperf_vcpu_mute_all(vm, true);
	/* Overflow handlers, and the VM's work, may not have seen that. */
	pvperf_vm_remove(vm, has);
	pvperf_vcpu_quiesce_all(vm);
	if (has)
		pvperf_request(vm, PVPERF_VM_END, 0);
}

/* The module goes. No call can come in any more, and nobody keeps perf from ending events. */
static void vm_dismiss(struct pvperf_vm *vm)
{
	pvperf_vcpu_clear_all(vm, PVPERF_END_GONE);
	pvperf_vcpu_quiesce_all(vm);
	pvperf_vm_remove(vm, false);
}

/*
 * The end of a VM and the module's exit may meet here; the second waits for the
 * first. Drops the caller's reference.
 */
static void vm_end(struct pvperf_vm *vm, bool destroyed)
{
	if (xchg(&vm->ended, true)) {
		wait_event(vms_left, READ_ONCE(vm->left));
	} else {
		if (destroyed)
			vm_abandon(vm);
		else
			vm_dismiss(vm);
		WRITE_ONCE(vm->left, true);
		wake_up_all(&vms_left);
		pvperf_vm_put(vm);
	}
	pvperf_vm_put(vm);
}

void pvperf_vm_destroyed(struct kvm *kvm)
{
	struct pvperf_vm *vm = pvperf_vm_get_known(kvm);

	if (vm)
		vm_end(vm, true);
}

/* What CPUID tells a guest, which looks again only when its host side has gone. */
#define VM_TOLD		(BIT(PVPERF_WORD_ACCESS) | BIT(PVPERF_WORD_RAW) |	\
			 BIT(PVPERF_WORD_BRANCHES) | BIT(PVPERF_WORD_HOST_EVENTS) |	\
			 BIT(PVPERF_WORD_MAX_EVENTS) | BIT(PVPERF_WORD_MIN_PERIOD))

/* It may count alone only, and is not alone: a claim has failed, or the rule is new. */
static bool vm_counts_beside(const struct pvperf_vm *vm)
{
	return vm->policy.word[PVPERF_WORD_ACCESS] > PVPERF_ACCESS_GLOBAL &&
	       atomic_read(&vm->events);
}

static bool vm_has_too_much(const struct pvperf_vm *vm)
{
	return vm_counts_beside(vm) ||
	       atomic_read(&vm->events) > vm->policy.word[PVPERF_WORD_MAX_VM_EVENTS] ||
	       READ_ONCE(vm->charged) > vm->policy.word[PVPERF_WORD_MAX_PAGES];
}

static void vm_end_events(struct pvperf_vm *vm, u32 reason)
{
	WRITE_ONCE(vm->reason, reason);
	pvperf_vcpu_mute_all(vm, false);
	pvperf_request(vm, PVPERF_VM_END, 0);
}

/* The guest opens anew what it still may have. */
static void vm_follow(struct pvperf_vm *vm, const struct pvperf_verdict *verdict)
{
	u32 changed = pvperf_policy_assign(&vm->policy, &verdict->policy);

	vm_note_reason(vm, verdict);
	WRITE_ONCE(vm->rule, verdict->rule);
	/* Full: an OPEN sees this, or the work finds its event. */
	atomic_inc_return(&vm->changes);
	if (changed && vm->policy.word[PVPERF_WORD_ACCESS] < PVPERF_ACCESS_LOCAL)
		vm_end_events(vm, verdict->reason);
	else if (changed & VM_TOLD || vm_has_too_much(vm))
		vm_end_events(vm, KVM_PERF_REASON_POLICY);
	else if (changed & BIT(PVPERF_WORD_PRIORITY))
		pvperf_request(vm, PVPERF_VM_REOPEN, 0);
}

int pvperf_vms_apply_rules(bool wait)
{
	struct pvperf_verdict verdict;
	struct pvperf_vm *vm = NULL;
	int err = 0;

	mutex_lock(&resolve_lock);
	while ((vm = pvperf_vm_next(vm))) {
		if (!pvperf_rules_resolve(vm, &verdict)) {
			vm_follow(vm, &verdict);
			continue;
		}
		err = -ENOMEM;
		pr_err("VM of process %d (%s) keeps its policy: no memory; write the rules again\n",
		       vm->pid, vm->name);
	}
	mutex_unlock(&resolve_lock);
	if (wait && !pvperf_requests_settle(false))
		err = err ?: -EBUSY;
	return err;
}

bool pvperf_vms_clear(bool forever)
{
	struct pvperf_vm *vm = NULL;

	while ((vm = pvperf_vm_next(vm)))
		vm_end_events(vm, KVM_PERF_REASON_NONE);
	return pvperf_requests_settle(forever);
}

void pvperf_vms_end(void)
{
	struct pvperf_vm *vm;

	/* vm_end() takes it out of the registry, and drops the reference. */
	while ((vm = pvperf_vm_next(NULL)))
		vm_end(vm, false);
}
