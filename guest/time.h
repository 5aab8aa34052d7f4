/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _PVPERF_GUEST_TIME_H
#define _PVPERF_GUEST_TIME_H

#include "state.h"

/* Both with IRQs off, on the event's CPU, not in an NMI. */

/*
 * Books the time since the last booking, as .served said. From @now on, which is a
 * local_clock(), .served is @next. @ev is NULL if the host's times are not known.
 */
void pvperf_time_book(struct pvperf_event *p, const struct guest_perf_event *ev,
		      enum pvperf_served next, u64 now);

/* Takes the lost time out of the event's running time. ctx->lock is held. */
void pvperf_time_take_lost(struct perf_event *event);

#endif /* _PVPERF_GUEST_TIME_H */
