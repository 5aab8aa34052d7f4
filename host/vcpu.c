// SPDX-License-Identifier: GPL-2.0
/*
 * vCPUs. KVM's room: may know struct kvm_vcpu, not perf.
 */
#define pr_fmt(fmt) "pvperf_host: " fmt

#include <linux/delay.h>
#include <linux/err.h>
#include <linux/kvm_host.h>
#include <linux/slab.h>
#include "../compat/kvm.h"
#include "caps.h"
#include "dirty.h"
#include "event.h"
#include "inject.h"
#include "overflow.h"
#include "pin.h"
#include "thread.h"
#include "trace.h"
#include "vcpu.h"

/*
 * Does a thread of the process that the rules are asked about run this? Another process may
 * have the same memory, and so make calls.
 */
static bool vcpu_is_home(const struct pvperf_vm *vm)
{
	return task_tgid(current) == vm->process;
}

int pvperf_vcpu_error(struct pvperf_vm *vm)
{
	if (vcpu_is_home(vm))
		return -KVM_ENOMEM;
	if (!xchg(&vm->strangers, true))
		pr_notice_ratelimited("VM of process %d (%s) is refused what process %d (%s) calls for: give it the VM only after that has ended, or let one process make all calls\n",
				      vm->pid, vm->name, current->tgid,
				      current->group_leader->comm);
	return -KVM_EPERM;
}

/* Milliseconds. A call takes less, unless perf or memory holds it up. */
#define VCPU_LOCK_TRIES	100

static struct pvperf_vcpu *vcpu_alloc(struct pvperf_vm *vm, struct kvm_vcpu *kvcpu)
{
	struct pvperf_vcpu *vcpu;

	if (!vcpu_is_home(vm))
		return NULL;
	vcpu = kzalloc(sizeof(*vcpu), GFP_KERNEL_ACCOUNT);
	if (!vcpu)
		return NULL;
	vcpu->vm = vm;
	vcpu->kvcpu = kvcpu;
	vcpu->index = pvperf_kvm_index(kvcpu);
	vcpu->tid = current->pid;
	vcpu->thread = pvperf_thread_get();
	if (!vcpu->thread) {
		kfree(vcpu);
		return NULL;
	}
	mutex_init(&vcpu->lock);
	INIT_LIST_HEAD(&vcpu->events);
	/* Hard: pvperf_vcpu_quiesce_all() may not wait for a thread of PREEMPT_RT's. */
	vcpu->wake = IRQ_WORK_INIT_HARD(pvperf_inject_wake);
	return vcpu;
}

struct pvperf_vcpu *pvperf_vcpu_get(struct pvperf_vm *vm, struct kvm_vcpu *kvcpu)
{
	struct pvperf_vcpu *vcpu = xa_load(&vm->vcpus, pvperf_kvm_index(kvcpu));

	if (likely(vcpu))
		return vcpu;
	/* Only this thread, which holds KVM's vcpu->mutex, can add this index. */
	vcpu = vcpu_alloc(vm, kvcpu);
	if (!vcpu)
		return NULL;
	if (xa_err(xa_store(&vm->vcpus, vcpu->index, vcpu, GFP_KERNEL_ACCOUNT))) {
		pvperf_vcpu_free(vcpu);
		return NULL;
	}
	return vcpu;
}

void pvperf_vcpu_free(struct pvperf_vcpu *vcpu)
{
	pvperf_thread_put(vcpu->thread);
	kfree(vcpu);
}

/*
 * KVM lets userspace move a vCPU to another thread. Host events are bound to a
 * thread, so they are created anew for this one.
 */
static void vcpu_rebind(struct pvperf_vcpu *vcpu)
{
	struct pvperf_thread *before = vcpu->thread, *now;
	struct pvperf_host_event *event;

	now = vcpu_is_home(vcpu->vm) ? pvperf_thread_get() : NULL;
	if (!now) {
		/* The old thread may run another vCPU by now. */
		pvperf_vcpu_clear(vcpu, PVPERF_END_GONE);
		return;
	}
	vcpu->thread = now;
	WRITE_ONCE(vcpu->tid, current->pid);
	list_for_each_entry(event, &vcpu->events, node)
		pvperf_event_rebind(event, before);
	pvperf_thread_put(before);
}

static void vcpu_unpin(struct pvperf_vcpu *vcpu, enum pvperf_end end)
{
	unsigned long flags;

	if (!vcpu->pin)
		return;
	/* A reader of RCU, for vm_abandon(); and no interrupt or preemption comes in between. */
	local_irq_save(flags);
	if (end == PVPERF_END_GONE && !READ_ONCE(vcpu->dead) && !pvperf_pin_poisoned(vcpu->head)) {
		WRITE_ONCE(vcpu->head->reason, READ_ONCE(vcpu->gone) ?
			   READ_ONCE(vcpu->vm->reason) : KVM_PERF_REASON_NONE);
		WRITE_ONCE(vcpu->head->state, KVM_PERF_PAGE_GONE);
		pvperf_pin_log(vcpu->vm, vcpu->pin);
	}
	local_irq_restore(flags);
	WRITE_ONCE(vcpu->head, NULL);
	/* An overflow handler that still has the old .head runs in the vCPU's own thread. */
	WARN_ON_ONCE(vcpu->nr_events && vcpu->thread->task != current);
	pvperf_pin_put(vcpu->vm, vcpu->pin);
	vcpu->pin = NULL;
}

void pvperf_vcpu_attach(struct pvperf_vcpu *vcpu, u64 addr, struct pvperf_pin *pin)
{
	struct guest_perf_page *head = pvperf_pin_at(pin, addr);

	lockdep_assert_held(&vcpu->lock);
	vcpu_unpin(vcpu, PVPERF_END_CLOSE);
	memset(head, 0, offsetof(struct guest_perf_page, batch));
	head->version = KVM_PERF_ABI_VERSION;
	head->epoch = pvperf_caps_epoch(vcpu->vm->serial);
	head->nmis = vcpu->nmis;
	head->clock = vcpu->vm->clock;
	head->state = KVM_PERF_PAGE_LIVE;
	vcpu->pin = pin;
	vcpu->page_addr = addr;
	pvperf_dirty_pin(vcpu, pin);
	WRITE_ONCE(vcpu->head, head);
}

/* Each close may wait for perf, and the vCPU be reset meanwhile. */
static enum pvperf_end vcpu_end_now(const struct pvperf_vcpu *vcpu, enum pvperf_end end)
{
	return READ_ONCE(vcpu->dead) ? PVPERF_END_SILENT : end;
}

void pvperf_vcpu_clear(struct pvperf_vcpu *vcpu, enum pvperf_end end)
{
	struct pvperf_host_event *event, *next;

	lockdep_assert_held(&vcpu->lock);
	if (vcpu->nr_events || vcpu->pin)
		trace_pvperf_teardown(vcpu->vm->pid, vcpu->index,
				      vcpu->nr_events, vcpu_end_now(vcpu, end));
	list_for_each_entry_safe(event, next, &vcpu->events, node)
		pvperf_event_close(event, vcpu_end_now(vcpu, end));
	vcpu_unpin(vcpu, vcpu_end_now(vcpu, end));
}

/* Of a mute vCPU. One that was reset stays so until its next call. */
static void vcpu_end(struct pvperf_vcpu *vcpu)
{
	pvperf_vcpu_clear(vcpu, PVPERF_END_GONE);
	/* Full: before the call that has heard it looks at the policy. */
	xchg(&vcpu->gone, false);
}

static void vcpu_hear(struct pvperf_vcpu *vcpu)
{
	if (READ_ONCE(vcpu->mute)) {
		vcpu_end(vcpu);
		WRITE_ONCE(vcpu->dead, false);
	} else if (vcpu->thread->task == current) {
		/* Else the events may overflow meanwhile, and the next call does it. */
		pvperf_overflow_late(vcpu);
	}
}

/* What was read of the time is as old as who had the lock before. */
static __always_inline void vcpu_lock(struct pvperf_vcpu *vcpu)
{
	mutex_lock(&vcpu->lock);
	vcpu->now.ctx = NULL;
	vcpu->clock = 0;
}

void pvperf_vcpu_enter(struct pvperf_vcpu *vcpu)
{
	vcpu_lock(vcpu);
	if (unlikely(READ_ONCE(vcpu->news)))
		vcpu_hear(vcpu);
	if (unlikely(vcpu->thread->task != current))
		vcpu_rebind(vcpu);
}

void pvperf_vcpu_leave(struct pvperf_vcpu *vcpu)
{
	pvperf_dirty_vcpu(vcpu);
	mutex_unlock(&vcpu->lock);
}

void pvperf_vcpu_clear_all(struct pvperf_vm *vm, enum pvperf_end end)
{
	struct pvperf_vcpu *vcpu;
	unsigned long idx;

	xa_for_each(&vm->vcpus, idx, vcpu) {
		vcpu_lock(vcpu);
		pvperf_vcpu_clear(vcpu, end);
		mutex_unlock(&vcpu->lock);
	}
}

void pvperf_vcpu_mute_all(struct pvperf_vm *vm, bool dead)
{
	struct pvperf_vcpu *vcpu;
	unsigned long idx;

	xa_for_each(&vm->vcpus, idx, vcpu)
		WRITE_ONCE(*(dead ? &vcpu->dead : &vcpu->gone), true);
}

void pvperf_vcpu_quiesce_all(struct pvperf_vm *vm)
{
	struct pvperf_vcpu *vcpu;
	unsigned long idx;

	xa_for_each(&vm->vcpus, idx, vcpu)
		irq_work_sync(&vcpu->wake);
}

void pvperf_vcpu_clear_mute(struct pvperf_vm *vm)
{
	struct pvperf_vcpu *vcpu;
	unsigned long idx;

	xa_for_each(&vm->vcpus, idx, vcpu) {
		if (!READ_ONCE(vcpu->mute))
			continue;
		vcpu_lock(vcpu);
		/* The vCPU's next call may have done it, and the guest have opened anew. */
		if (READ_ONCE(vcpu->mute))
			vcpu_end(vcpu);
		mutex_unlock(&vcpu->lock);
	}
}

bool pvperf_vcpu_lock_soon(struct pvperf_vcpu *vcpu)
{
	int tries;

	for (tries = 0; !mutex_trylock(&vcpu->lock); tries++) {
		if (tries == VCPU_LOCK_TRIES || fatal_signal_pending(current))
			return false;
		fsleep(1000);
	}
	return true;
}

static bool branches_are_there(struct pvperf_vm *vm, const struct pvperf_host_event *event)
{
	return !event->attr.sample_type || pvperf_pin_is_there(vm, event->branches->pin);
}

/* Each overflow writes to the page, too: a vCPU that has lost it has no events any more. */
static void vcpu_clear_lost(struct pvperf_vcpu *vcpu)
{
	struct pvperf_host_event *event, *next;
	struct pvperf_vm *vm = vcpu->vm;
	bool lost = vcpu->pin && !pvperf_pin_is_there(vm, vcpu->pin);

	list_for_each_entry_safe(event, next, &vcpu->events, node) {
		if (!pvperf_pin_is_there(vm, event->pin))
			pvperf_event_close(event, PVPERF_END_SILENT);
		else if (lost || !branches_are_there(vm, event))
			pvperf_event_close(event, vcpu_end_now(vcpu, PVPERF_END_GONE));
	}
	if (lost)
		vcpu_unpin(vcpu, PVPERF_END_SILENT);
}

void pvperf_vcpu_clear_lost(struct pvperf_vm *vm)
{
	struct pvperf_vcpu *vcpu;
	unsigned long idx;

	xa_for_each(&vm->vcpus, idx, vcpu) {
		vcpu_lock(vcpu);
		vcpu_clear_lost(vcpu);
		mutex_unlock(&vcpu->lock);
	}
}

/* Returns how many events it has reopened. */
static u32 vcpu_reopen(struct pvperf_vcpu *vcpu, pvperf_which *which)
{
	struct pvperf_host_event *event;
	u32 n = 0;

	lockdep_assert_held(&vcpu->lock);
	list_for_each_entry(event, &vcpu->events, node) {
		/* Reset just now: who takes the PMU does not wait for the request to clear it. */
		if (READ_ONCE(vcpu->dead)) {
			pvperf_vcpu_clear(vcpu, PVPERF_END_SILENT);
			break;
		}
		if (!which(event))
			continue;
		pvperf_event_reopen(event);
		n++;
	}
	return n;
}

u32 pvperf_vcpu_reopen_all(struct pvperf_vm *vm, pvperf_which *which)
{
	struct pvperf_vcpu *vcpu;
	unsigned long idx;
	u32 n, all = 0;

	xa_for_each(&vm->vcpus, idx, vcpu) {
		vcpu_lock(vcpu);
		n = vcpu_reopen(vcpu, which);
		mutex_unlock(&vcpu->lock);
		all += n;
	}
	return all;
}
