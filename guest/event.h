/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _PVPERF_GUEST_EVENT_H
#define _PVPERF_GUEST_EVENT_H

#include <linux/types.h>

struct perf_event;
struct pvperf_cpu;

/* The functions of struct pmu. IRQs off, on the CPU; start and stop in NMIs, too. */
int pvperf_event_add(struct perf_event *event, int flags);
void pvperf_event_del(struct perf_event *event, int flags);
/* The same where there are kinds of cores. */
int pvperf_event_add_kind(struct perf_event *event, int flags);
void pvperf_event_del_kind(struct perf_event *event, int flags);
void pvperf_event_start(struct perf_event *event, int flags);
void pvperf_event_stop(struct perf_event *event, int flags);

/*
 * Does the host count all events that this transaction added and that want to count?
 * IRQs off, on @cpu.
 */
bool pvperf_event_commit(struct pvperf_cpu *cpu);

#endif /* _PVPERF_GUEST_EVENT_H */
