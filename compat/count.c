// SPDX-License-Identifier: GPL-2.0
/*
 * What the host module wants to read of a perf_event, the cheapest way that perf
 * has. What perf exports takes a mutex, calls a function by way of a CPU's queue
 * of functions, and holds the context's lock, none of which the thread that the
 * event is bound to needs. For that there is perf_event_read_local(), which no
 * kernel exports. It refuses what is not the caller's own.
 */
#include <linux/perf_event.h>
#include <linux/sched.h>
#include <linux/static_call.h>
#include "count.h"
#include "symbol.h"

static int pvperf_compat_read_none(struct perf_event *event, u64 *value,
				   u64 *enabled, u64 *running)
{
	return -EOPNOTSUPP;
}

/* A static call is a direct one, which IBT lets pass: see symbol.h. */
DEFINE_STATIC_CALL(pvperf_read_local, pvperf_compat_read_none);

void pvperf_compat_count_init(void)
{
	unsigned long read = pvperf_symbol("perf_event_read_local");

	/* A function of other arguments would be called all the same: we cast. */
	if (read && __same_type(perf_event_read_local, pvperf_compat_read_none))
		static_call_update(pvperf_read_local, (void *)read);
}

/*
 * An event that is on has been so since .tstamp, if that was before: its times
 * have grown by all that has passed. IRQs off, so that it stays on.
 */
static int pvperf_compat_count_here(struct perf_event *event,
				    struct pvperf_compat_now *now,
				    u64 *count, u64 *enabled, u64 *running)
{
	bool on = event->state == PERF_EVENT_STATE_ACTIVE;
	s64 passed = now->time - event->tstamp;
	int err;

	if (on && now->ctx == event->ctx && passed >= 0) {
		*enabled = event->total_time_enabled + passed;
		*running = event->total_time_running + passed;
		return static_call(pvperf_read_local)(event, count, NULL, NULL);
	}
	err = static_call(pvperf_read_local)(event, count, enabled, running);
	if (!err && on) {
		now->ctx = event->ctx;
		now->time = *enabled - event->total_time_enabled + event->tstamp;
	}
	return err;
}

u64 pvperf_compat_count(struct perf_event *event, struct pvperf_compat_now *now,
			u64 *enabled, u64 *running)
{
	unsigned long flags;
	u64 count;
	int err;

	local_irq_save(flags);
	err = pvperf_compat_count_here(event, now, &count, enabled, running);
	local_irq_restore(flags);
	return err ? perf_event_read_value(event, enabled, running) : count;
}
