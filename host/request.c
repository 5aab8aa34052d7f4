// SPDX-License-Identifier: GPL-2.0
/*
 * What the admin, hooks and other VMs request of a VM. Knows neither KVM nor perf.
 */
#define pr_fmt(fmt) "pvperf_host: " fmt

#include <linux/bits.h>
#include <linux/jiffies.h>
#include <linux/module.h>
#include <linux/wait.h>
#include <linux/workqueue.h>
#include "event.h"
#include "registry.h"
#include "request.h"
#include "state.h"
#include "vcpu.h"

static DECLARE_WAIT_QUEUE_HEAD(served);	/* a VM's work has done what it was asked for */
static atomic_t nr_ending;		/* VMs that have ended before their events */
static atomic_t nr_lent;		/* events that have made room for a mediated vPMU */

static void vm_reopen(struct pvperf_vm *vm, unsigned long todo)
{
	static pvperf_which * const which[PVPERF_VM_TASKS] = {
		[PVPERF_VM_REOPEN] = pvperf_event_has_priority,
		[PVPERF_VM_LEND] = pvperf_event_has_counter,
		[PVPERF_VM_LEND_BACK] = pvperf_event_has_no_perf,
	};
	u32 moved;
	int task;

	for (task = PVPERF_VM_REOPEN; task < PVPERF_VM_TASKS; task++) {
		if (!(todo & BIT(task)))
			continue;
		moved = pvperf_vcpu_reopen_all(vm, which[task]);
		if (task == PVPERF_VM_LEND)
			atomic_add(moved, &nr_lent);
	}
}

/* It may be half of a change that comes often: later then, but not for ever. */
static void vm_slots(struct pvperf_vm *vm)
{
	const unsigned long now = jiffies;

	vm->slots_since = vm->slots_since ?: now;
	if (time_before(now, READ_ONCE(vm->slots_at) + PVPERF_VM_LATER) &&
	    time_before(now, vm->slots_since + 10 * PVPERF_VM_LATER)) {
		pvperf_request(vm, PVPERF_VM_SLOTS, PVPERF_VM_LATER);
	} else {
		vm->slots_since = 0;
		pvperf_vcpu_clear_lost(vm);
	}
}

static void vm_work_do(struct pvperf_vm *vm, unsigned long todo)
{
	if (todo & (BIT(PVPERF_VM_END) | BIT(PVPERF_VM_RESET)))
		pvperf_vcpu_clear_mute(vm);
	if (todo & BIT(PVPERF_VM_SLOTS))
		vm_slots(vm);
	vm_reopen(vm, todo);
}

static void vm_work_end(struct pvperf_vm *vm)
{
	pvperf_vcpu_clear_all(vm, PVPERF_END_SILENT);
	if (xchg(&vm->ending, false))
		atomic_dec(&nr_ending);
}

/* In another workqueue the work may run beside itself. */
static void vm_note_done(struct pvperf_vm *vm, int asked)
{
	int done = READ_ONCE(vm->done);

	/* Full: pairs with vm_is_done(). */
	while (asked - done > 0 && !try_cmpxchg(&vm->done, &done, asked))
		;
}

/*
 * Each VM has a work of its own, so one whose process holds up perf does not keep others
 * waiting, as long as there are workers: WQ_MAX_ACTIVE, and as many for VMs that have ended.
 * The reference on the module lets rmmod fail meanwhile, instead of waiting. There is none on
 * struct kvm: whoever drops the last one runs the code of KVM's vendor module, and on 6.12 nothing
 * but open files keeps that module loaded.
 */
void pvperf_request_work(struct work_struct *work)
{
	struct pvperf_vm *vm = container_of(to_delayed_work(work), struct pvperf_vm, work);
	bool held = try_module_get(THIS_MODULE);
	int asked = atomic_read(&vm->asked);
	/* After .asked was read: what was asked for until then is in here. */
	unsigned long todo = xchg(&vm->todo, 0);

	if (pvperf_vm_has_kvm(vm))
		vm_work_do(vm, todo);
	else
		vm_work_end(vm);
	/* What has been asked for meanwhile begins to wait. Before .done, for vm_settle(). */
	WRITE_ONCE(vm->asked_at, jiffies);
	vm_note_done(vm, asked);
	wake_up_all(&served);
	if (held)
		module_put(THIS_MODULE);
	pvperf_vm_put(vm);
}

static bool vm_queue(struct pvperf_vm *vm, unsigned long delay)
{
	struct workqueue_struct *works = READ_ONCE(vm->ended) ? pvperf_end_works : pvperf_works;

	if (delay)
		return queue_delayed_work(works, &vm->work, delay);
	return !mod_delayed_work(works, &vm->work, 0);
}

void pvperf_request(struct pvperf_vm *vm, enum pvperf_vm_task task, unsigned long delay)
{
	if (!refcount_inc_not_zero(&vm->refs))
		return;
	set_bit(task, &vm->todo);
	/* Guests and VMMs may ask all the time for what has time, so nobody waits for that. */
	if (!delay && atomic_inc_return(&vm->asked) - 1 == READ_ONCE(vm->done))
		WRITE_ONCE(vm->asked_at, jiffies);
	if (!vm_queue(vm, delay))
		pvperf_vm_put(vm);	/* it was queued already, with a reference */
}

void pvperf_request_ending(struct pvperf_vm *vm)
{
	if (atomic_read(&vm->events)) {
		atomic_inc(&nr_ending);
		WRITE_ONCE(vm->ending, true);
	}
}

void pvperf_requests_settle_ended(void)
{
	wait_event_timeout(served, !atomic_read(&nr_ending), HZ);
}

/* How long all VMs together may take. */
#define VM_WAIT		(10 * HZ)

/* Has the work done what it was asked for until @asked? */
static bool vm_is_done(const struct pvperf_vm *vm, int asked)
{
	/* Pairs with vm_note_done(). */
	return smp_load_acquire(&vm->done) - asked >= 0;
}

static bool vm_settle(struct pvperf_vm *vm, long wait)
{
	int asked = atomic_read(&vm->asked);

	if (wait_event_timeout(served, vm_is_done(vm, asked), wait))
		return true;
	/* Others have used up the time, and it was asked a moment ago. */
	if (wait < HZ && time_before(jiffies, READ_ONCE(vm->asked_at) + HZ))
		return false;
	pr_warn_ratelimited("process %d (%s) keeps perf from ending its events: a thread of it, or who may trace it or count CPUs, holds perf's lock of a vCPU's thread or of a CPU (perf_event_open, and memory that does not arrive); end that one\n",
			    vm->pid, vm->name);
	return false;
}

/* One time for all: their works run beside each other. */
bool pvperf_requests_settle(bool forever)
{
	const unsigned long end = jiffies + VM_WAIT;
	struct pvperf_vm *vm = NULL;
	bool all = true, done;

	while ((vm = pvperf_vm_next(vm))) {
		do
			done = vm_settle(vm, forever ? VM_WAIT : max_t(long, end - jiffies, 1));
		while (!done && forever);
		all &= done;
	}
	return all;
}

void pvperf_vms_request(enum pvperf_vm_task task)
{
	struct pvperf_vm *vm = NULL;

	while ((vm = pvperf_vm_next(vm)))
		if (atomic_read(&vm->events))
			pvperf_request(vm, task, 0);
}

u32 pvperf_vms_lend(void)
{
	pvperf_vms_request(PVPERF_VM_LEND);
	pvperf_requests_settle(false);
	return atomic_xchg(&nr_lent, 0);
}
