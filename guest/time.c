// SPDX-License-Identifier: GPL-2.0
/*
 * The times of a perf_event. Reads the page's times, knows neither slots nor calls.
 * core adds all the time that an event is on a CPU to its running time. The invariant:
 * the part in which the host did not count is taken away again, so that perf scales the
 * count or prints <not counted>; but what core had added up when a reader of one of our events
 * came is not taken back. Who reads without having core add up first (a BPF program) sees the part
 * from then on as running.
 */
#include <linux/lockdep.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/sched/clock.h>
#include <pvperf/page.h>
#include "../compat/core.h"
#include "group.h"
#include "state.h"
#include "time.h"

/*
 * 0 if the page is older than what we know: the VM may have moved, and its next host does
 * not write here.
 */
static u64 time_grown(u64 now, u64 before)
{
	return (s64)(now - before) > 0 ? now - before : 0;
}

/* How much of @time was lost. @enabled and @running: the host's times in it. */
static u64 time_loss(const struct pvperf_event *p, u64 time, u64 enabled,
		     u64 running, enum pvperf_served next)
{
	u64 span = time, fresh = READ_ONCE(p->count_fresh_at);

	if (p->served != PVPERF_SERVED)
		return p->served == PVPERF_UNSERVED ? time : 0;
	/* The host has gone: the time since its last update is lost. */
	if (next == PVPERF_UNSERVED)
		span = min(time, max(enabled, fresh > p->clock ? fresh - p->clock : 0));
	/* Scaled to guest time: the host's clock of the event stands still in steal. */
	return time - span + (enabled > running ?
		mul_u64_u64_div_u64(span, enabled - running, enabled) : 0);
}

void pvperf_time_book(struct pvperf_event *p, const struct guest_perf_event *ev,
		      enum pvperf_served next, u64 now)
{
	u64 time = now - p->clock, lost = 0, enabled = 0, running = 0;

	lockdep_assert_irqs_disabled();
	/* In this order: if the event overflows in between, .time_running is the newer one. */
	if (ev && pvperf_page_event_whole(ev)) {
		enabled = time_grown(READ_ONCE(ev->time_enabled), p->enabled);
		running = min(time_grown(READ_ONCE(ev->time_running), p->running), enabled);
	}
	if (p->served == PVPERF_SERVED && next == PVPERF_SERVED && !enabled)
		return;
	if (p->served != PVPERF_SERVED || next == PVPERF_UNSERVED || running < enabled) {
		lost = time_loss(p, time, enabled, running, next);
		/* If it counts again, no longer the whole time since .shown is lost. */
		p->frozen &= p->served == next;
	}
	p->lost += lost;
	p->ran |= p->served == PVPERF_SERVED && (running || lost < time);
	p->clock = now;
	p->enabled += enabled;
	p->running += running;
	p->served = next;
}

/*
 * The part of the time since ->add() that is lost. An event that never ran has lost
 * exactly all of it, as perf distinguishes that from 0 %.
 */
static u64 time_lost(const struct perf_event *event)
{
	const struct pvperf_event *p = pvperf_event_of(event);
	u64 here = pvperf_core_tstamp(event) - p->added;

	if (!pvperf_event_has_run(p))
		return p->lost ? here : 0;
	/* core's clock and ours differ a little: the difference must not look like running. */
	if (p->frozen && p->served == PVPERF_UNSERVED)
		return here - p->shown;
	return min(p->lost, here);
}

/*
 * Does not take time that a reader may have seen, as an event's times never go back.
 * What cannot be taken yet is taken later.
 */
void pvperf_time_take_lost(struct perf_event *event)
{
	struct pvperf_event *p = pvperf_event_of(event);
	u64 here = pvperf_core_tstamp(event) - p->added;
	u64 lost = min(time_lost(event), here - p->shown);
	/* Has core added up its time since? A read of one event takes its whole group here. */
	bool newer = here - p->taken != p->shown;

	lockdep_assert_irqs_disabled();
	if (lost > p->taken) {
		lost = pvperf_core_take_running(event, lost - p->taken);
		pvperf_group_take(event, lost);
		p->taken += lost;
	}
	p->shown = here - p->taken;
	if (newer)
		p->frozen = p->served == PVPERF_UNSERVED;
}
