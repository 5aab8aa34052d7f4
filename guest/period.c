// SPDX-License-Identifier: GPL-2.0
/*
 * The periods of sampling events: what the host is told, what is left of one,
 * and what core is shown so that it finds the right one for a frequency. Calls
 * hypercall.h to hear of an event that has long been silent. The invariant: the
 * host is never told a period below its limit.
 */
#include <linux/jiffies.h>
#include <linux/lockdep.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/sched/clock.h>
#include "../compat/core.h"
#include "caps.h"
#include "hypercall.h"
#include "link.h"
#include "period.h"
#include "state.h"

/* A host event to be opened on trial never runs with this. */
#define PVPERF_PERIOD_TRIAL	(1ULL << 31)

/* More than that since the last look: not one counter went on counting. */
#define PVPERF_COUNTED_MAX	(1ULL << 44)

u64 pvperf_period_min(const struct perf_event *event)
{
	return pvperf_event_of(event)->hardware ? pvperf_caps.min_period : 1;
}

u64 pvperf_period_of(const struct perf_event *event)
{
	return event ? max_t(u64, event->hw.sample_period,
			     pvperf_period_min(event)) : PVPERF_PERIOD_TRIAL;
}

u64 pvperf_period_arm(struct pvperf_cpu *cpu, struct pvperf_slot *slot)
{
	struct guest_perf_event *ev = pvperf_cpu_event(cpu, slot);
	u64 period;
	s64 since;

	lockdep_assert_irqs_disabled();
	if (!slot->key.sampling)
		return 0;
	period = pvperf_period_of(slot->event);
	since = local64_read(&pvperf_event_of(slot->event)->since);
	slot->armed = period;
	WRITE_ONCE(ev->period, period);
	/* Never 0, which would be a whole one. */
	return clamp_t(s64, period - since, 1, period);
}

bool pvperf_period_overdue(struct perf_event *event, const struct pvperf_slot *slot)
{
	u64 period;
	s64 left;

	lockdep_assert_irqs_disabled();
	if (!slot->key.sampling || !slot->on)
		return false;
	left = slot->armed - local64_read(&pvperf_event_of(event)->since);
	period = pvperf_period_of(event);
	if (!pvperf_event_is_freq(event))
		return slot->armed != period;
	return left > 0 && left / 2 > period;
}

/*
 * The count is as fresh as the last overflow, which will do while overflows
 * come. But a period far too long for a rare event would never be corrected;
 * the first one is no more than a guess.
 */
void pvperf_period_refresh(struct pvperf_cpu *cpu, struct perf_event *event)
{
	struct pvperf_event *p = pvperf_event_of(event);
	u64 now = local_clock();
	u64 patience = p->tuned ? 2 * NSEC_PER_SEC / event->attr.sample_freq :
				  NSEC_PER_MSEC;

	lockdep_assert_irqs_disabled();
	if (!p->slot->on || now - p->count_fresh_at < patience)
		return;
	if (pvperf_call_read_nmi(pvperf_cpu_id(cpu, p->slot)) < 0)
		pvperf_link_forget(cpu);
	else
		pvperf_event_mark_fresh(p, true);
}

/*
 * What the event counts in a tick, by what it has counted since the last look; 0 if
 * that doesn't say. @p->tuned turns true with the first number.
 */
static u64 count_in_tick(struct perf_event *event, struct pvperf_event *p,
			 const struct guest_perf_event *ev)
{
	u64 count = local64_read(&event->hw.prev_count);
	u64 counted = count - p->paced_count, time = p->count_fresh_at - p->paced_at;
	u64 running = READ_ONCE(ev->time_running);

	if (!counted)
		return 0;
	/* Without what the host had no counter for. An overflow doesn't tell. */
	if (p->times_fresh) {
		time = min(time, running - p->paced_running);
		p->paced_running = running;
	}
	p->paced_count = count;
	p->paced_at = p->count_fresh_at;
	if (counted >= PVPERF_COUNTED_MAX || time < NSEC_PER_USEC)
		return 0;
	if (!p->tuned)
		event->hw.sample_period =
			max(div64_u64(mul_u64_u64_div_u64(counted, NSEC_PER_SEC, time),
				      event->attr.sample_freq), 1ULL);
	p->tuned = true;
	return mul_u64_u64_div_u64(counted, TICK_NSEC, time);
}

/*
 * In each tick core stops an event with a frequency, and wants to know what it has
 * counted in that tick. Ours is the count of some time since some other time, so
 * core is shown what a tick's would have been.
 */
void pvperf_period_pace(struct perf_event *event, const struct guest_perf_event *ev)
{
	lockdep_assert_irqs_disabled();
	pvperf_core_show_tick(event, count_in_tick(event, pvperf_event_of(event), ev));
}
