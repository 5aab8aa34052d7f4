// SPDX-License-Identifier: GPL-2.0
/*
 * Reads a perf_event for the host module in the cheapest way that perf has.
 * perf_event_read_value(), which perf exports, takes a mutex, calls a function by
 * way of a CPU's queue of functions, and holds the context's lock. The thread that
 * the event is bound to needs none of that: for it there is perf_event_read_local(),
 * which no kernel exports. That refuses an event which is not the caller's own. From
 * its answer for an event that is on, the context's time follows.
 */
#include <linux/perf_event.h>
#include <linux/sched.h>
#include <linux/static_call.h>
#include "core.h"
#include "count.h"
#include "symbol.h"

static int read_none(struct perf_event *event, u64 *value,
		     u64 *enabled, u64 *running)
{
	return -EOPNOTSUPP;
}

/* A static call is a direct one, which IBT allows: see symbol.h. */
DEFINE_STATIC_CALL(pvperf_read_local, read_none);

void pvperf_compat_count_init(void)
{
	unsigned long read = pvperf_symbol("perf_event_read_local");

	/* The cast hides other arguments, so compare the types. */
	if (read && __same_type(perf_event_read_local, read_none))
		static_call_update(pvperf_read_local, (void *)read);
}

int pvperf_compat_count(struct perf_event *event, struct pvperf_compat_now *now,
			u64 *count, u64 *enabled, u64 *running)
{
	int err = static_call(pvperf_read_local)(event, count, enabled, running);

	if (!err && event->state == PERF_EVENT_STATE_ACTIVE)
		pvperf_core_now(now, event, *enabled);
	return err;
}
