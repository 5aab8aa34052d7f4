/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _PVPERF_GUEST_WATCH_H
#define _PVPERF_GUEST_WATCH_H

/* Any context. For each perf_event, while it exists. */
void pvperf_watch_get(void);
void pvperf_watch_put(void);
/* One look, to close what is open and used by no perf_event. */
void pvperf_watch_once(void);
/* Process context, when there are no perf_events any more. */
void pvperf_watch_stop(void);

#endif /* _PVPERF_GUEST_WATCH_H */
