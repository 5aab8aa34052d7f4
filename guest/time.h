/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _PVPERF_GUEST_TIME_H
#define _PVPERF_GUEST_TIME_H

#include <pvperf/page.h>
#include "state.h"

/* All with IRQs off, on the event's CPU, not in an NMI. */

/*
 * Books the time since the last booking, as .served said. From @now on, which is a
 * local_clock(), .served is @next. @ev is NULL if the host's times are not known.
 */
void pvperf_time_book(struct pvperf_event *p, const struct guest_perf_event *ev,
		      enum pvperf_served next, u64 now);

/*
 * pvperf_time_book() where the host counts all the time, which is nearly always so. Returns
 * false, and does nothing, if it may be otherwise.
 */
static __always_inline bool
pvperf_time_book_whole(struct pvperf_event *p, const struct guest_perf_event *ev,
		       enum pvperf_served next, u64 now)
{
	u64 enabled = READ_ONCE(ev->time_enabled), running = READ_ONCE(ev->time_running);
	s64 grown = enabled - p->enabled;

	if (p->served != PVPERF_SERVED || next == PVPERF_UNSERVED ||
	    !pvperf_page_event_whole(ev) || grown <= 0 || running - p->running != grown)
		return false;
	p->ran = true;
	p->clock = now;
	p->enabled = enabled;
	p->running = running;
	p->served = next;
	return true;
}

/* Takes the lost time out of the event's running time. Walks its group as pvperf_group_each(). */
void pvperf_time_take_lost(struct perf_event *event);

#endif /* _PVPERF_GUEST_TIME_H */
