// SPDX-License-Identifier: GPL-2.0
/*
 * What an event has counted, and for how long, from perf to the guest's memory.
 * perf's room: may know struct perf_event, not KVM.
 *
 * The one invariant: what the guest is told never goes back, whichever thread's
 * perf_event it comes from.
 */
#include <linux/err.h>
#include <linux/perf_event.h>
#include <linux/sched/clock.h>
#include <linux/smp.h>
#include "ids.h"
#include "sync.h"

static u32 sync_state(const struct pvperf_event *event)
{
	if (!event->enabled)
		return KVM_PERF_STATE_OFF;
	if (!event->perf)
		return KVM_PERF_STATE_ERROR;
	switch (READ_ONCE(event->perf->state)) {
	case PERF_EVENT_STATE_ACTIVE:
		return KVM_PERF_STATE_COUNTING;
	case PERF_EVENT_STATE_INACTIVE:
		return KVM_PERF_STATE_STARVED;
	default:
		return KVM_PERF_STATE_ERROR;
	}
}

bool pvperf_sync_failed(const struct pvperf_event *event)
{
	return event->enabled && event->perf &&
	       READ_ONCE(event->perf->state) == PERF_EVENT_STATE_ERROR;
}

/* The time of the call that is under way, which is good enough for all of it. */
static u64 sync_now(const struct pvperf_event *event)
{
	struct pvperf_vcpu *vcpu = event->vcpu;

	if (!vcpu->clock)
		vcpu->clock = local_clock();
	return vcpu->clock;
}

u64 pvperf_sync_ran(const struct pvperf_event *event)
{
	const struct task_struct *task = event->vcpu->task;
	unsigned long flags;
	u64 ran;

	local_irq_save(flags);
	ran = task->se.sum_exec_runtime;
	if (task == current)
		ran += local_clock() - task->se.exec_start;
	local_irq_restore(flags);
	return ran;
}

/*
 * perf stops the clocks of a pinned event that has found no counter, so that it
 * would look as if it had been there all the time. The thread's clock goes on.
 */
static void sync_book_failed(struct pvperf_event *event, u64 enabled)
{
	s64 passed, counted;

	if (!event->perf || !event->perf->attr.pinned)
		return;
	passed = pvperf_sync_ran(event) - event->ran;
	counted = event->base.time_enabled + enabled - event->sync.time_enabled;
	event->ran += passed;
	if (pvperf_sync_failed(event) && passed > counted)
		event->base.time_enabled += passed - counted;
}

/*
 * IRQs off, as a software event's overflow may come between the reading and the
 * writing, and have written more: a count never goes back.
 */
static __always_inline void sync_tell(struct pvperf_event *event, u32 state, u64 count,
				      u64 enabled, u64 running)
{
	event->sync.count = max(event->sync.count, event->base.count + count);
	event->sync.time_enabled = event->base.time_enabled + enabled;
	event->sync.time_running = event->base.time_running + running;
	event->sync.state = state;
	event->synced = sync_now(event);
	pvperf_sync_tell(event);
}

void pvperf_sync_event_as(struct pvperf_event *event, u32 state)
{
	u64 count = 0, enabled = 0, running = 0;
	struct perf_event *perf = event->perf;
	unsigned long flags;

	local_irq_save(flags);
	if (perf && pvperf_compat_count(perf, &event->vcpu->now, &count, &enabled,
					&running)) {
		local_irq_restore(flags);
		count = perf_event_read_value(perf, &enabled, &running);
		local_irq_save(flags);
	}
	sync_book_failed(event, enabled);
	sync_tell(event, state, count, enabled, running);
	local_irq_restore(flags);
}

/*
 * IRQs off. An event that is on here is in its own thread, stays on, and has been so
 * since .tstamp. If another's reading has found the context's time in this call,
 * there is nobody but the driver to ask.
 */
static __always_inline bool sync_quick(struct pvperf_event *event)
{
	const struct pvperf_compat_now *now = &event->vcpu->now;
	struct perf_event *perf = event->perf;
	s64 passed;

	if (!perf || perf->state != PERF_EVENT_STATE_ACTIVE || perf->ctx != now->ctx ||
	    READ_ONCE(perf->oncpu) != smp_processor_id() || perf->attr.pinned)
		return false;
	passed = now->time - perf->tstamp;
	if (passed < 0)
		return false;
	perf->pmu->read(perf);
	sync_tell(event, KVM_PERF_STATE_COUNTING, local64_read(&perf->count),
		  perf->total_time_enabled + passed, perf->total_time_running + passed);
	return true;
}

void pvperf_sync_event(struct pvperf_event *event)
{
	unsigned long flags;
	bool done;

	local_irq_save(flags);
	done = sync_quick(event);
	local_irq_restore(flags);
	if (!done)
		pvperf_sync_event_as(event, sync_state(event));
}

void pvperf_sync_revive(struct pvperf_event *event)
{
	if (!pvperf_sync_failed(event))
		return;
	perf_event_enable(event->perf);
	if (!pvperf_sync_failed(event))
		pvperf_sync_event(event);
}

void pvperf_sync_read(struct pvperf_event *event)
{
	pvperf_sync_event(event);
	pvperf_sync_revive(event);
}

int pvperf_sync_read_many(struct pvperf_vcpu *vcpu, s32 id, u64 mask)
{
	struct pvperf_event *event;
	int ret = 0;

	if (id < 0)
		return -KVM_ENOENT;
	local_irq_disable();
	for (; mask; mask &= mask - 1) {
		event = pvperf_ids_find(vcpu, (s32)((u32)id + __ffs64(mask)));
		if (IS_ERR(event)) {
			ret = ret ?: PTR_ERR(event);
		} else if (!sync_quick(event)) {
			local_irq_enable();
			pvperf_sync_read(event);
			local_irq_disable();
		}
	}
	local_irq_enable();
	return ret;
}
