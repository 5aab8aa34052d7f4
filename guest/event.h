/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _PVPERF_GUEST_EVENT_H
#define _PVPERF_GUEST_EVENT_H

struct perf_event;
struct pvperf_cpu;

/* For pmu.c. IRQs off, on the CPU; start and stop may come from an NMI. */
int pvperf_event_add(struct perf_event *event, int flags);
void pvperf_event_del(struct perf_event *event, int flags);
void pvperf_event_start(struct perf_event *event, int flags);
void pvperf_event_stop(struct perf_event *event, int flags);
/* Does all that this transaction has added count at the host, if it has to? */
bool pvperf_event_commit(struct pvperf_cpu *cpu);

#endif /* _PVPERF_GUEST_EVENT_H */
