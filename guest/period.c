// SPDX-License-Identifier: GPL-2.0
/*
 * The periods of sampling events: which one to tell the host, how much of it is left,
 * and what to show core so that core finds the right one for a frequency. Calls
 * hypercall.h to READ an event that was silent for long. The invariant: an
 * event that counts has no period below the host's limit.
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

/* A larger step means that the count was replaced. */
#define PVPERF_COUNTED_MAX	(1ULL << 44)

u64 pvperf_period_min(const struct perf_event *event)
{
	return pvperf_event_of(event)->hardware ? pvperf_caps.min_period : 1;
}

u64 pvperf_period_of(const struct perf_event *event)
{
	return max_t(u64, event->hw.sample_period, pvperf_period_min(event));
}

/* Not of a frequency. */
static void period_look(struct perf_event *event)
{
	if (pvperf_core_period_begins(event))
		pvperf_event_of(event)->anew = true;
}

/*
 * A program that sets a period (PERF_EVENT_IOC_PERIOD) begins a new one, as on bare metal. A
 * DISABLE that goes before has yet to tell what was counted in the old one.
 */
static s64 period_since(struct perf_event *event)
{
	struct pvperf_event *p = pvperf_event_of(event);

	if (!pvperf_event_is_freq(event))
		period_look(event);
	return p->anew ? 0 : local64_read(&p->since);
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
	since = period_since(slot->event);
	WRITE_ONCE(slot->armed, period);
	WRITE_ONCE(ev->period, period);
	/* Never 0, which would mean a whole period. */
	return clamp_t(s64, period - since, 1, period);
}

bool pvperf_period_overdue(struct perf_event *event, const struct pvperf_slot *slot)
{
	u64 period, armed;
	s64 left;

	lockdep_assert_irqs_disabled();
	if (!slot->key.sampling || !slot->on)
		return false;
	armed = READ_ONCE(slot->armed);
	left = armed - local64_read(&pvperf_event_of(event)->since);
	period = pvperf_period_of(event);
	if (!pvperf_event_is_freq(event)) {
		period_look(event);
		return armed != period || pvperf_event_of(event)->anew;
	}
	return left > 0 && left / 2 > period;
}

/*
 * Each overflow brings a fresh count, which is enough while overflows come. But a
 * period that is far too long for a rare event would never be corrected, and the
 * first period is only a guess. So an event that was silent for long is READ.
 */
void pvperf_period_refresh(struct pvperf_cpu *cpu, struct perf_event *event)
{
	struct pvperf_event *p = pvperf_event_of(event);
	/* Before the clock: an NMI in between makes it newer. */
	u64 fresh = READ_ONCE(p->count_fresh_at);
	u64 patience = p->tuned ? 2 * NSEC_PER_SEC / event->attr.sample_freq :
				  NSEC_PER_MSEC;

	lockdep_assert_irqs_disabled();
	if (!p->slot->on || local_clock() - fresh < patience)
		return;
	if (pvperf_call_read_nmi(pvperf_cpu_id(cpu, p->slot)) < 0)
		pvperf_link_forget(cpu);
	else
		pvperf_event_mark_fresh(p, true);
}

/*
 * The count, when it was up to date, and the time that the event ran; returns whether that time
 * was up to date then, too. Reads all again if an NMI has folded a newer count meanwhile.
 */
static bool period_count(struct perf_event *event, const struct pvperf_event *p,
			 const struct guest_perf_event *ev, u64 *count, u64 *at, u64 *running)
{
	bool times;

	do {
		*at = READ_ONCE(p->count_fresh_at);
		times = READ_ONCE(p->times_fresh);
		*running = READ_ONCE(ev->time_running);
		*count = local64_read(&event->hw.prev_count);
	} while (*at != READ_ONCE(p->count_fresh_at));
	return times;
}

/*
 * Returns what the event counts in a tick, from its count since the last call; 0 if
 * that is unknown. The first known rate replaces the guessed period, too.
 */
static u64 period_count_in_tick(struct perf_event *event, struct pvperf_event *p,
				const struct guest_perf_event *ev)
{
	u64 running, count, at;
	bool times = period_count(event, p, ev, &count, &at, &running);
	u64 counted = count - p->paced_count, time = at - p->paced_at;

	if (!counted)
		return 0;
	/* Leaves out the time without a counter. An overflow brings no times. */
	if (times) {
		time = min(time, running - p->paced_running);
		p->paced_running = running;
	}
	p->paced_count = count;
	p->paced_at = at;
	/* A slot that is opened now begins its time behind its first fresh count. */
	if (counted >= PVPERF_COUNTED_MAX || (s64)time < NSEC_PER_USEC)
		return 0;
	if (!p->tuned)
		event->hw.sample_period =
			max(div64_u64(mul_u64_u64_div_u64(counted, NSEC_PER_SEC, time),
				      event->attr.sample_freq), 1ULL);
	p->tuned = true;
	return mul_u64_u64_div_u64(counted, TICK_NSEC, time);
}

/*
 * core adjusts a frequency's period in each tick (newer kernels: a leader's), from the count in
 * that tick. Our count covers the time between two overflows or READs, so this shows core what the
 * event would have counted in one tick.
 */
void pvperf_period_pace(struct perf_event *event, const struct guest_perf_event *ev)
{
	lockdep_assert_irqs_disabled();
	pvperf_core_show_tick(event, period_count_in_tick(event, pvperf_event_of(event), ev));
}
