// SPDX-License-Identifier: GPL-2.0
/*
 * Copies what an event has counted, and for how long, from perf to the guest's
 * memory. perf's room: may know struct perf_event, not KVM.
 *
 * The invariant: what the guest is told never decreases, whichever thread's
 * perf_event it comes from.
 */
#include <linux/err.h>
#include <linux/perf_event.h>
#include <linux/sched/clock.h>
#include "../compat/core.h"
#include "branches.h"
#include "ids.h"
#include "kinds.h"
#include "sync.h"
#include "thread.h"

static __always_inline u32 state_told(const struct perf_event *perf, int state)
{
	if (likely(state == PERF_EVENT_STATE_ACTIVE))
		return KVM_PERF_STATE_COUNTING;
	return state == PERF_EVENT_STATE_INACTIVE && !pvperf_core_is_off(perf) ?
	       KVM_PERF_STATE_STARVED : KVM_PERF_STATE_ERROR;
}

static noinline u32 state_of_kinds(const struct pvperf_host_event *event)
{
	return state_told(event->perf, pvperf_kinds_state(event));
}

static __always_inline u32 state_now(const struct pvperf_host_event *event)
{
	if (!event->enabled)
		return KVM_PERF_STATE_OFF;
	if (!event->perf)
		return KVM_PERF_STATE_ERROR;
	if (static_branch_unlikely(&pvperf_kinds_differ))
		return state_of_kinds(event);
	return state_told(event->perf, READ_ONCE(event->perf->state));
}

/* The time, read once in a call: good enough for all of the call. */
static u64 sync_now(const struct pvperf_host_event *event)
{
	struct pvperf_vcpu *vcpu = event->vcpu;

	if (!vcpu->clock)
		vcpu->clock = local_clock();
	return vcpu->clock;
}

u64 pvperf_sync_ran(const struct pvperf_host_event *event)
{
	unsigned long flags;
	u64 ran;

	local_irq_save(flags);
	ran = pvperf_core_ran(event->vcpu->thread->task);
	local_irq_restore(flags);
	return ran;
}

void pvperf_sync_begin(struct pvperf_host_event *event)
{
	event->ran = pvperf_sync_ran(event);
	if (event->attr.flags & KVM_PERF_FLAG_CPU)
		event->synced = sync_now(event);
}

/*
 * How long the thread has run since it was last asked. Another CPU's runtime may be a tick
 * old, and a kernel that accounts for interrupts or steal time has a clock of its own for it:
 * clamped to the time that passed.
 */
static s64 sync_ran_since(struct pvperf_host_event *event)
{
	s64 passed = pvperf_sync_ran(event) - event->ran;
	s64 most = sync_now(event) - event->synced;

	if (event->attr.flags & KVM_PERF_FLAG_CPU)
		return max(most, 0LL);
	event->ran += passed;
	return clamp(passed, 0LL, max(most, 0LL));
}

/* Has perf stopped both clocks of an event that the guest believes to be on? */
static bool sync_stands(const struct pvperf_host_event *event)
{
	return pvperf_kinds_has_failed(event) ||
	       (event->enabled && pvperf_core_is_off(event->perf));
}

/*
 * perf stops both clocks of a pinned event that has found no counter, and of one whose CPU
 * has gone offline, so the event would look as if it had counted all the time. Book the time
 * that the thread has run since, or that has passed, instead.
 */
static void sync_book_failed(struct pvperf_host_event *event, u64 enabled)
{
	s64 passed, counted;

	if (!event->perf->attr.pinned && !(event->attr.flags & KVM_PERF_FLAG_CPU))
		return;
	passed = sync_ran_since(event);
	counted = event->base.time_enabled + enabled - event->sync.time_enabled;
	if (sync_stands(event) && passed > counted)
		event->base.time_enabled += passed - counted;
}

/*
 * No perf_event keeps the time, as none could be recreated: books the time that the
 * thread has run.
 */
static void sync_book_nothing(struct pvperf_host_event *event)
{
	s64 passed = sync_ran_since(event);

	if (event->enabled)
		event->base.time_enabled += passed;
}

/*
 * Interrupts off: else a software event could overflow between the read and the
 * write, and its handler would have published a higher count than ours.
 */
static __always_inline void sync_take(struct pvperf_host_event *event, u32 state, u64 count,
				      u64 enabled, u64 running)
{
	event->sync.count = max(event->sync.count, event->base.count + count);
	event->sync.time_enabled = event->base.time_enabled + enabled;
	event->sync.time_running = event->base.time_running + running;
	event->sync.state = state;
	event->synced = sync_now(event);
}

static __always_inline void sync_tell(struct pvperf_host_event *event, u32 state, u64 count,
				      u64 enabled, u64 running)
{
	sync_take(event, state, count, enabled, running);
	pvperf_sync_tell(event);
}

void pvperf_sync_opened(struct pvperf_host_event *event)
{
	lockdep_assert_held(&event->vcpu->lock);
	sync_tell(event, KVM_PERF_STATE_OFF, 0, 0, 0);
}

static void sync_slowly(struct pvperf_host_event *event, u32 state, bool tell)
{
	u64 count = 0, enabled = 0, running = 0;
	struct perf_event *perf = event->perf;
	unsigned long flags;

	lockdep_assert_held(&event->vcpu->lock);
	local_irq_save(flags);
	if (perf && static_call(pvperf_perf_count)(perf, &event->vcpu->now, &count,
						   &enabled, &running)) {
		local_irq_restore(flags);
		count = static_call(pvperf_perf_read_value)(perf, &enabled, &running);
		local_irq_save(flags);
		/* These times are later than what the call has of the event's context. */
		event->vcpu->now.ctx = NULL;
	}
	if (perf)
		sync_book_failed(event, enabled);
	else
		sync_book_nothing(event);
	sync_take(event, state, count, enabled, running);
	/* Perf's answer may have taken long, and the vCPU been reset, or its VM have ended. */
	if (tell && !READ_ONCE(event->vcpu->dead))
		pvperf_sync_tell(event);
	local_irq_restore(flags);
}

void pvperf_sync_event_as(struct pvperf_host_event *event, u32 state)
{
	sync_slowly(event, state, true);
}

void pvperf_sync_event_quietly(struct pvperf_host_event *event, u32 state)
{
	sync_slowly(event, state, false);
}

/*
 * Interrupts off. Once the read of another event has found the context's time in
 * this call, only the driver has to be asked about an event that is on.
 */
static __always_inline bool sync_quick(struct pvperf_host_event *event)
{
	u64 count, enabled, running;

	if (!event->perf || !pvperf_core_read(event->perf, &event->vcpu->now, &count,
					      &enabled, &running))
		return false;
	sync_tell(event, KVM_PERF_STATE_COUNTING, count, enabled, running);
	return true;
}

static __always_inline bool sync_quickly(struct pvperf_host_event *event)
{
	unsigned long flags;
	bool done;

	lockdep_assert_held(&event->vcpu->lock);
	local_irq_save(flags);
	done = sync_quick(event);
	local_irq_restore(flags);
	return done;
}

void pvperf_sync_event(struct pvperf_host_event *event)
{
	if (!sync_quickly(event))
		pvperf_sync_event_as(event, state_now(event));
}

void pvperf_sync_revive(struct pvperf_host_event *event)
{
	lockdep_assert_held(&event->vcpu->lock);
	if (!pvperf_kinds_has_failed(event))
		return;
	/* Neither of its times has grown since. */
	if (event->attr.sample_type)
		pvperf_branches_clear(event->branches, pvperf_core_waited(event->perf));
	pvperf_core_retry(event->perf);
	if (static_branch_unlikely(&pvperf_kinds_differ))
		pvperf_kinds_retry(event);
	if (!pvperf_kinds_has_failed(event))
		pvperf_sync_event(event);
}

/*
 * To retry a failed event takes long, to read one of another CPU interrupts that, and a batch
 * may name each event many times. So these are not looked at a second time in this call.
 */
void pvperf_sync_read(struct pvperf_host_event *event)
{
	u32 call = event->vcpu->calls;
	bool failed;

	if (sync_quickly(event))
		return;
	failed = pvperf_kinds_has_failed(event);
	if (failed || event->attr.flags & KVM_PERF_FLAG_CPU) {
		if (event->retried == call)
			return;
		event->retried = call;
	}
	pvperf_sync_event_as(event, state_now(event));
	if (failed)
		pvperf_sync_revive(event);
}

static int sync_read_id(struct pvperf_vcpu *vcpu, s32 id)
{
	struct pvperf_host_event *event = pvperf_ids_find(vcpu, id);

	if (IS_ERR(event))
		return PTR_ERR(event);
	pvperf_sync_read(event);
	return 0;
}

int pvperf_sync_read_many(struct pvperf_vcpu *vcpu, s32 id, u64 mask)
{
	struct pvperf_host_event *event;
	int err = 0, ret;
	s32 each;

	lockdep_assert_held(&vcpu->lock);
	if (id < 0)
		return -KVM_ENOENT;
	local_irq_disable();
	for (; mask; mask &= mask - 1) {
		each = (u32)id + __ffs64(mask);
		event = pvperf_ids_recent(vcpu, each);
		if (likely(event && sync_quick(event)))
			continue;
		local_irq_enable();
		ret = sync_read_id(vcpu, each);
		err = err ?: ret;
		local_irq_disable();
	}
	local_irq_enable();
	return err;
}
