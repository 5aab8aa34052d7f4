// SPDX-License-Identifier: GPL-2.0
/*
 * The times of a perf_event. Reads the page's, knows neither slots nor calls.
 * The invariant: of the time that perf core adds to total_time_running, what the
 * host did not count for is taken away again, so that perf scales, or says
 * <not counted>; and what a reader has seen is never taken back.
 */
#include <linux/lockdep.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/sched/clock.h>
#include <pvperf/page.h>
#include "../compat/core.h"
#include "state.h"
#include "time.h"

/* How much of @time was lost, by the host's own @enabled and @running. */
static u64 loss_of(const struct pvperf_event *p, u64 time, u64 enabled,
		   u64 running, enum pvperf_served next)
{
	u64 span = time;

	if (p->served != PVPERF_SERVED)
		return p->served == PVPERF_UNSERVED ? time : 0;
	/* It went away: what came after its last word is lost. */
	if (next == PVPERF_UNSERVED)
		span = min(time, max(enabled, p->count_fresh_at > p->clock ?
					      p->count_fresh_at - p->clock : 0));
	/* A share of guest time, as the host's stands still in steal. */
	return time - span + (enabled > running ?
		mul_u64_u64_div_u64(span, enabled - running, enabled) : 0);
}

void pvperf_time_book(struct pvperf_event *p, const struct guest_perf_event *ev,
		      enum pvperf_served next, u64 now)
{
	u64 time = now - p->clock, lost = 0, enabled, running;
	struct pvperf_event_sync s;

	lockdep_assert_irqs_disabled();
	pvperf_page_event_read(ev, &s);
	enabled = s.time_enabled - p->enabled;
	running = min(s.time_running - p->running, enabled);
	if (p->served == PVPERF_SERVED && next == PVPERF_SERVED && !enabled)
		return;
	if (p->served != PVPERF_SERVED || next == PVPERF_UNSERVED || running < enabled)
		lost = loss_of(p, time, enabled, running, next);
	p->lost += lost;
	p->ran |= p->served == PVPERF_SERVED && (running || lost < time);
	p->clock = now;
	p->enabled = s.time_enabled;
	p->running = s.time_running;
	p->served = next;
}

/*
 * Of the time here, as core has it, which stays with the event when core swaps the
 * sums of two clones. An event that never ran has lost all, exactly, as
 * perf tells that case from 0 %.
 */
static u64 lost_here(const struct perf_event *event)
{
	const struct pvperf_event *p = pvperf_event_of(event);
	u64 here = pvperf_core_tstamp(event) - p->added;

	if (!p->ran)
		return p->lost ? here : 0;
	/* Clocks differ by a little; none of it is to look like running. */
	if (p->frozen && p->served == PVPERF_UNSERVED)
		return here - p->shown;
	return min(p->lost, here);
}

/*
 * When a group is read, the leader's times stand for all of it. So it has lost
 * what the worst of those has that came with it.
 */
static u64 lost_of_group(struct perf_event *event)
{
	u64 lost = lost_here(event);
	struct perf_event *sibling;

	if (!pvperf_core_is_leader(event))
		return lost;
	for_each_sibling_event(sibling, event)
		if (pvperf_event_is(sibling) && pvperf_event_of(sibling)->added ==
						pvperf_event_of(event)->added)
			lost = max(lost, lost_here(sibling));
	return lost;
}

/*
 * Takes the lost time from the event, but none that somebody may have seen: the
 * times of an event never go back. What can't be taken yet is taken later.
 */
void pvperf_time_take_lost(struct perf_event *event)
{
	struct pvperf_event *p = pvperf_event_of(event);
	u64 here = pvperf_core_tstamp(event) - p->added;
	u64 lost = min(lost_of_group(event), here - p->shown);

	lockdep_assert_irqs_disabled();
	if (lost > p->taken) {
		pvperf_core_take_running(event, lost - p->taken);
		p->taken = lost;
	}
	p->shown = here - p->taken;
	p->frozen = p->served == PVPERF_UNSERVED;
}
