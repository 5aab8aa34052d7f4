/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _PVPERF_GUEST_WATCH_H
#define _PVPERF_GUEST_WATCH_H

/* Begin and end of a perf_event: the watch runs while there is one. Any context. */
void pvperf_watch_get(void);
void pvperf_watch_put(void);
/* Is there an event, or was there one within a second? If not, nobody looks for another host. */
bool pvperf_watch_awake(void);
/* Process context, when there is no perf_event left. */
void pvperf_watch_stop(void);

#endif /* _PVPERF_GUEST_WATCH_H */
