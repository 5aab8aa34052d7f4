/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _PVPERF_COMPAT_COUNT_H
#define _PVPERF_COMPAT_COUNT_H

#include <linux/types.h>

struct perf_event;
struct perf_event_context;

/* Process context, at load. Without it reading works, and costs more. */
void pvperf_compat_count_init(void);

/* A context's time, which is dear: good for all of one call. Begins as zeroes. */
struct pvperf_compat_now {
	const struct perf_event_context *ctx;
	u64 time;
};

/*
 * IRQs off, in the thread of @event. Its count and times, and its context's if it is
 * on; or an error: then there's only perf_event_read_value().
 */
int pvperf_compat_count(struct perf_event *event, struct pvperf_compat_now *now,
			u64 *count, u64 *enabled, u64 *running);

#endif /* _PVPERF_COMPAT_COUNT_H */
