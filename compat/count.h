/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _PVPERF_COMPAT_COUNT_H
#define _PVPERF_COMPAT_COUNT_H

#include <linux/types.h>

struct perf_event;
struct perf_event_context;

/*
 * Look perf_event_read_local() up, at load. Without it pvperf_compat_count() always fails: reading
 * works, and costs more.
 */
void pvperf_compat_count_init(void);

/**
 * struct pvperf_compat_now - a context's time, which is expensive to read
 * @ctx: the context; NULL: the time is not known yet
 * @time: its time, good enough for all of one call
 */
struct pvperf_compat_now {
	const struct perf_event_context *ctx;
	u64 time;
};

/*
 * Read an event of the current thread, interrupts off. @now: is set if the event is on; @enabled:
 * how long it was enabled; @running: how long it had a counter. Returns 0, or an error: then only
 * perf_event_read_value() is left.
 */
int pvperf_compat_count(struct perf_event *event, struct pvperf_compat_now *now,
			u64 *count, u64 *enabled, u64 *running);

#endif /* _PVPERF_COMPAT_COUNT_H */
