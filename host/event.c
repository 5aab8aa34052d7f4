// SPDX-License-Identifier: GPL-2.0
/*
 * Events. perf's room: may know struct perf_event, not KVM.
 *
 * The invariant: the overflow handler of .perf and .other may write to .shared, and to that of
 * .branches, so these are released, which waits for the handler, before the pins are given back.
 */
#include <linux/atomic.h>
#include <linux/cpumask.h>
#include <linux/cred.h>
#include <linux/err.h>
#include <linux/init_task.h>
#include <linux/nospec.h>
#include <linux/percpu.h>
#include <linux/perf_event.h>
#include <linux/sched/clock.h>
#include <linux/slab.h>
#include "../compat/core.h"
#include "branches.h"
#include "event.h"
#include "ids.h"
#include "keep.h"
#include "kinds.h"
#include "memory.h"
#include "overflow.h"
#include "pin.h"
#include "refusal.h"
#include "sync.h"
#include "thread.h"

/* All of user mode. */
#define BRANCHES	(PERF_SAMPLE_BRANCH_USER | PERF_SAMPLE_BRANCH_ANY)

/* perf's error as one of the ABI. */
static int event_error(long err)
{
	switch (err) {
	case -ENOENT:
	case -ENODEV:
		return -KVM_ENOENT;
	case -EINVAL:
		return -KVM_EINVAL;
	case -EOPNOTSUPP:	/* the PMU is lent out to a VM (mediated vPMU) */
		return -KVM_EOPNOTSUPP;
	case -ENOMEM:
		return -KVM_ENOMEM;
	case -EDQUOT:		/* of a CPU's events, whichever VM has them */
		return -KVM_ENOSPC;
	default:
		return -KVM_EBUSY;
	}
}

/*
 * Events of CPUs of the host. perf checks whether the caller may count what others do. A VMM need
 * have no right to that; the VM's policy has allowed the event (access=global), so it is created
 * with the kernel's rights.
 *
 * perf gives counters to a CPU's unpinned events before it gives any to a task's. So as long as
 * these fill a CPU's counters, unpinned events of tasks, other VMs' among them, get none there,
 * as beside perf stat -a of the host's root.
 */

/* Of all VMs, on one CPU. perf looks at each of them at every turn, with interrupts off. */
#define CPU_EVENTS_MAX	16

static DEFINE_PER_CPU(atomic_t, cpu_events);
static struct cred *rights;

int pvperf_event_init(void)
{
	rights = prepare_kernel_cred(&init_task);
	return rights ? 0 : -ENOMEM;
}

void pvperf_event_exit(void)
{
	put_cred(rights);
}

static struct perf_event *create_as_root(struct perf_event_attr *attr, u32 cpu)
{
	const struct cred *before;
	struct perf_event *perf;

	/* It takes turns with the events of the host's that are about a CPU and not pinned. */
	attr->pinned = 0;
	before = override_creds(rights);
	perf = static_call(pvperf_perf_create)(attr, cpu, NULL, NULL, NULL);
	revert_creds(before);
	return perf;
}

/* noinline, and so the next: events of threads save no registers for it. */
static noinline void event_of_cpu_released(u32 cpu)
{
	atomic_dec(per_cpu_ptr(&cpu_events, cpu));
}

static noinline struct perf_event *event_create_on_cpu(struct perf_event_attr *attr, u32 cpu)
{
	struct perf_event *perf;

	if (cpu >= nr_cpu_ids)
		return ERR_PTR(-ENODEV);
	cpu = array_index_nospec(cpu, nr_cpu_ids);
	if (!cpu_online(cpu))
		return ERR_PTR(-ENODEV);
	if (atomic_inc_return(per_cpu_ptr(&cpu_events, cpu)) > CPU_EVENTS_MAX)
		perf = ERR_PTR(-EDQUOT);
	else
		perf = create_as_root(attr, cpu);
	if (IS_ERR(perf))
		event_of_cpu_released(cpu);
	return perf;
}

/* Above 0: no guest gets a hardware event, as the PMU is about to be lent to a VM. */
static atomic_t blocked;

void pvperf_event_block(void)
{
	/* Full: a vCPU that opens an event sees this, or we see the vCPU. */
	atomic_inc_return(&blocked);
}

void pvperf_event_unblock(void)
{
	atomic_dec(&blocked);
}

/*
 * Pinned only if the admin wants it: otherwise the host's own pinned events come
 * first, and the guest is told. exclude_host counts only what the vCPU does inside
 * the guest, unless the operator trusts the VM; a software event is about the thread,
 * and happens in the host.
 */
static struct perf_event *event_create(struct pvperf_host_event *event)
{
	const struct pvperf_policy *policy = &event->vcpu->vm->policy;
	struct pvperf_thread *thread = event->vcpu->thread;
	const struct guest_perf_attr *from = &event->attr;
	perf_overflow_handler_t handler = pvperf_overflow_soft;
	struct perf_event *perf;
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.type = from->type,
		.config = from->config,
		.sample_period = from->sample_period,
		.disabled = 1,
	};

	if (from->type != PERF_TYPE_SOFTWARE) {
		if (atomic_read(&blocked))
			return ERR_PTR(-EOPNOTSUPP);
		handler = pvperf_overflow_hard;
		attr.pinned = pvperf_policy_word(policy, PVPERF_WORD_PRIORITY) ==
			      PVPERF_PRIORITY_PINNED;
		attr.exclude_host = !(from->flags & (KVM_PERF_FLAG_HOST | KVM_PERF_FLAG_CPU));
		attr.exclude_user = !!(from->flags & KVM_PERF_FLAG_EXCLUDE_USER);
		attr.exclude_kernel = !!(from->flags & KVM_PERF_FLAG_EXCLUDE_KERNEL);
		if (unlikely(from->sample_type)) {
			handler = pvperf_overflow_branches;
			attr.sample_type = PERF_SAMPLE_BRANCH_STACK;
			attr.branch_sample_type = BRANCHES;
		}
	}
	if (atomic_inc_return(&thread->events) >
	    pvperf_policy_word(policy, PVPERF_WORD_MAX_EVENTS))
		perf = ERR_PTR(-ENOSPC);
	else if (unlikely(from->flags & KVM_PERF_FLAG_CPU))
		perf = event_create_on_cpu(&attr, from->cpu);
	else
		perf = static_call(pvperf_perf_create)(&attr, -1, thread->task, handler,
						       event);
	if (IS_ERR(perf))
		atomic_dec(&thread->events);
	return perf;
}

static void event_release(struct pvperf_host_event *event, struct pvperf_thread *thread)
{
	if (!event->perf)
		return;
	static_call(pvperf_perf_release)(event->perf);
	atomic_dec(&thread->events);
	if (unlikely(event->attr.flags & KVM_PERF_FLAG_CPU))
		event_of_cpu_released(event->attr.cpu);
}

static struct pvperf_host_event *event_alloc(struct pvperf_vcpu *vcpu,
					     const struct guest_perf_event_param *param,
					     const struct guest_perf_attr *attr,
					     struct pvperf_pin *pin)
{
	struct pvperf_host_event *event = kzalloc(sizeof(*event), GFP_KERNEL_ACCOUNT);

	/* From kmalloc-512 an event would cost every OPEN 190 instructions more. */
	BUILD_BUG_ON(sizeof(*event) > 256);
	if (!event)
		return NULL;
	event->vcpu = vcpu;
	event->id = param->id;
	event->full = param->event_size == KVM_PERF_EVENT_SIZE;
	event->attr = *attr;
	event->period = attr->sample_period;
	event->pin = pin;
	event->shared = pvperf_pin_at(pin, param->guest_event_addr);
	return event;
}

static struct perf_event *tried;

int pvperf_event_try(bool stack)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.type = PERF_TYPE_HARDWARE,
		.config = PERF_COUNT_HW_CPU_CYCLES,
		.sample_period = stack ? 1ULL << 40 : 0,
		.sample_type = stack ? PERF_SAMPLE_BRANCH_STACK : 0,
		.branch_sample_type = stack ? BRANCHES : 0,
		.disabled = 1,
		.exclude_guest = 1,	/* or perf refuses while a mediated VM runs */
	};
	struct perf_event *perf = perf_event_create_kernel_counter(&attr, -1,
							current, NULL, NULL);

	if (IS_ERR(perf))
		return PTR_ERR(perf);
	if (stack)
		perf_event_release_kernel(perf);
	else
		tried = perf;
	return 0;
}

void pvperf_event_tried(void)
{
	if (tried)
		perf_event_release_kernel(tried);
}

static int event_full(struct pvperf_vcpu *vcpu, const struct guest_perf_attr *attr,
		      enum pvperf_word word)
{
	pvperf_refusal_note(vcpu->vm, word, attr);
	return -KVM_ENOSPC;
}

/* Takes a place in the limits of the vCPU and of its VM. */
static int event_place(struct pvperf_vcpu *vcpu, const struct guest_perf_attr *attr)
{
	const struct pvperf_policy *policy = &vcpu->vm->policy;
	atomic_t *events = &vcpu->vm->events;

	if (vcpu->nr_events >= pvperf_policy_word(policy, PVPERF_WORD_MAX_EVENTS))
		return event_full(vcpu, attr, PVPERF_WORD_MAX_EVENTS);
	if (atomic_inc_return(events) <=
	    pvperf_policy_word(policy, PVPERF_WORD_MAX_VM_EVENTS))
		return 0;
	atomic_dec(events);
	return event_full(vcpu, attr, PVPERF_WORD_MAX_VM_EVENTS);
}

int pvperf_event_open(struct pvperf_vcpu *vcpu,
		      const struct guest_perf_event_param *param,
		      const struct guest_perf_attr *attr, struct pvperf_pin *pin)
{
	struct pvperf_host_event *event;
	int err;

	lockdep_assert_held(&vcpu->lock);
	if (pvperf_ids_taken(vcpu->vm, param->id))
		return -KVM_EEXIST;
	err = event_place(vcpu, attr);
	if (err)
		return err;
	event = event_alloc(vcpu, param, attr, pin);
	if (!event) {
		err = -KVM_ENOMEM;
		goto err_place;
	}
	pvperf_keep_get(attr);
	event->perf = event_create(event);
	if (IS_ERR(event->perf)) {
		/* The thread's limit: it runs other vCPUs, too. */
		err = event->perf == ERR_PTR(-ENOSPC) ?
		      event_full(vcpu, attr, PVPERF_WORD_MAX_EVENTS) :
		      event_error(PTR_ERR(event->perf));
		goto err_keep;
	}
	err = pvperf_ids_add(event);
	if (err)
		goto err_release;
	if (!pvperf_pin_poisoned(event->shared))
		pvperf_page_event_init(event->shared, event->full,
				       vcpu->pin ? vcpu->page_addr : 0);
	pvperf_sync_opened(event);
	return 0;

err_release:
	event_release(event, vcpu->thread);
err_keep:
	pvperf_keep_put(attr);
	kfree(event);
err_place:
	atomic_dec(&vcpu->vm->events);
	return err;
}

void pvperf_event_set_branches(struct pvperf_vcpu *vcpu, s32 id,
			       struct pvperf_branches *branches)
{
	struct pvperf_host_event *event = pvperf_ids_find(vcpu, id);

	event->branches = branches;
	pvperf_branches_begin(event);
}

/* The last update has all that the event has counted. */
static void event_gone(struct pvperf_host_event *event)
{
	event->vcpu->clock = 0;		/* this may be another thread than the vCPU's */
	if (event->enabled && event->perf)
		static_call(pvperf_perf_disable)(event->perf);
	/* That may have waited long, and the vCPU have been reset meanwhile. */
	if (!READ_ONCE(event->vcpu->dead))
		pvperf_sync_event_as(event, KVM_PERF_STATE_GONE);
}

/* KVM's VM stays in a guest's own call, which so saves the 30 instructions of pvperf_pin_log(). */
static void event_log(struct pvperf_vm *vm, const struct pvperf_pin *pin, enum pvperf_end end)
{
	if (end == PVPERF_END_CLOSE)
		pvperf_memory_log(vm->kvm, pin->gfn);
	else if (end == PVPERF_END_GONE)
		pvperf_pin_log(vm, pin);
}

static noinline void event_end_branches(struct pvperf_host_event *event, enum pvperf_end end)
{
	pvperf_branches_end(event);
	event_log(event->vcpu->vm, event->branches->pin, end);
	pvperf_branches_put(event->vcpu->vm, event->branches);
}

void pvperf_event_close(struct pvperf_host_event *event, enum pvperf_end end)
{
	lockdep_assert_held(&event->vcpu->lock);
	if (end == PVPERF_END_CLOSE)
		pvperf_event_disable(event);
	else if (end == PVPERF_END_GONE)
		event_gone(event);
	event_release(event, event->vcpu->thread);
	event_log(event->vcpu->vm, event->pin, end);
	if (unlikely(event->attr.sample_type))
		event_end_branches(event, end);
	pvperf_keep_put(&event->attr);
	pvperf_ids_remove(event);
	atomic_dec(&event->vcpu->vm->events);
	pvperf_pin_put(event->vcpu->vm, event->pin);
	/* Another vCPU may be looking at .vcpu under this id. */
	kfree_rcu(event, rcu);
}

int pvperf_event_enable(struct pvperf_host_event *event, u64 left)
{
	lockdep_assert_held(&event->vcpu->lock);
	if (!event->perf)
		return -KVM_EBUSY;
	if (event->enabled) {
		pvperf_sync_read(event);
		return 0;
	}
	event->enabled = true;
	pvperf_sync_begin(event);
	pvperf_overflow_arm(event, left);
	if (unlikely(event->attr.sample_type))
		pvperf_branches_clear(event->branches, pvperf_core_waited(event->perf));
	static_call(pvperf_perf_enable)(event->perf);
	pvperf_sync_event(event);
	pvperf_sync_revive(event);
	return 0;
}

/* Its CPU is offline, or was while the event was disabled: books that time. */
static noinline void event_of_cpu_book(struct pvperf_host_event *event)
{
	if (event->enabled && event->perf && pvperf_core_is_off(event->perf))
		pvperf_sync_event(event);
}

void pvperf_event_disable(struct pvperf_host_event *event)
{
	lockdep_assert_held(&event->vcpu->lock);
	if (unlikely(event->attr.flags & KVM_PERF_FLAG_CPU))
		event_of_cpu_book(event);
	/* First, as beside one that has failed that of another kind of cores may be on. */
	if (event->enabled && event->perf)
		static_call(pvperf_perf_disable)(event->perf);
	/* Books the time without a counter, which is lost once .enabled is false. */
	if (!event->perf || pvperf_kinds_has_failed(event))
		pvperf_sync_event(event);
	event->enabled = false;
	pvperf_sync_event(event);
}

/* The next perf_event starts at 0: adds to it what the guest was told so far. */
static void event_carry(struct pvperf_host_event *event)
{
	event->base.count = event->sync.count;
	event->base.time_enabled = event->sync.time_enabled;
	event->base.time_running = event->sync.time_running;
}

/*
 * Nobody knows since when the new thread has run the vCPU. So all time in which the
 * old thread did not run counts as missed: the count may be too low, and the times
 * say so.
 */
static void event_rebase(struct pvperf_host_event *event)
{
	u64 then = event->synced, before = event->sync.time_enabled;
	s64 passed, enabled;

	event->ran = pvperf_sync_ran(event);	/* of another thread than until now */
	pvperf_sync_event_as(event, event->sync.state);
	event_carry(event);
	passed = event->synced - then;
	enabled = event->sync.time_enabled - before;
	if (event->enabled && passed > enabled)
		event->base.time_enabled += passed - enabled;
}

/* Stops the perf_event before its end. Returns what is left of its period; 0: all. */
static u64 event_stop(struct pvperf_host_event *event)
{
	s64 left;

	/*
	 * Recreating the previous event took time during which this one counted:
	 * drop the cached clock.
	 */
	event->vcpu->clock = 0;
	if (!event->perf)
		return 0;
	static_call(pvperf_perf_disable)(event->perf);
	if (event->attr.type == PERF_TYPE_SOFTWARE)
		return 0;
	left = pvperf_core_left(event->perf);
	return left > 0 && left < event->period ? left : 0;
}

/* The state once a new perf_event is enabled; the next call tells if it starves. */
static u32 event_state_soon(const struct pvperf_host_event *event)
{
	if (!event->enabled)
		return KVM_PERF_STATE_OFF;
	return event->perf ? KVM_PERF_STATE_COUNTING : KVM_PERF_STATE_ERROR;
}

/*
 * The time from .synced until the new perf_event counts, if there is one, is missed. If not @tell,
 * the guest is told by the vCPU's next call that is about the event.
 */
static void event_renew(struct pvperf_host_event *event, struct pvperf_thread *before,
			u64 left, bool tell)
{
	event_release(event, before);
	event->perf = event_create(event);
	if (IS_ERR(event->perf))
		event->perf = NULL;
	if (event->enabled)
		event->base.time_enabled += max_t(s64, local_clock() - event->synced, 0);
	event->vcpu->clock = 0;
	pvperf_sync_begin(event);
	/* Before it is on, and may overflow on another CPU: .sync has one writer at a time. */
	if (tell)
		pvperf_sync_event_as(event, event_state_soon(event));
	else
		pvperf_sync_event_quietly(event, event_state_soon(event));
	if (event->enabled && event->perf) {
		pvperf_overflow_arm(event, left);
		static_call(pvperf_perf_enable)(event->perf);
	}
}

/* An event of a CPU is bound to no thread, but counts in the limit of one. */
static void event_move_place(struct pvperf_host_event *event, struct pvperf_thread *before)
{
	if (!event->perf)
		return;
	atomic_dec(&before->events);
	atomic_inc(&event->vcpu->thread->events);
}

void pvperf_event_rebind(struct pvperf_host_event *event, struct pvperf_thread *before)
{
	u64 left;

	lockdep_assert_held(&event->vcpu->lock);
	if (event->attr.flags & KVM_PERF_FLAG_CPU) {
		event_move_place(event, before);
		return;
	}
	left = event_stop(event);
	event_rebase(event);
	event_renew(event, before, left, true);
}

void pvperf_event_reopen(struct pvperf_host_event *event)
{
	u64 left;

	lockdep_assert_held(&event->vcpu->lock);
	left = event_stop(event);
	pvperf_sync_event_quietly(event, event->sync.state);
	event_carry(event);
	event_renew(event, event->vcpu->thread, left, false);
}

bool pvperf_event_has_counter(const struct pvperf_host_event *event)
{
	return event->perf && event->attr.type != PERF_TYPE_SOFTWARE;
}

bool pvperf_event_has_priority(const struct pvperf_host_event *event)
{
	return !event->perf || (event->attr.type != KVM_PERF_TYPE_SOFTWARE &&
				!(event->attr.flags & KVM_PERF_FLAG_CPU));
}

bool pvperf_event_has_no_perf(const struct pvperf_host_event *event)
{
	return !event->perf;
}
