/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _PVPERF_GUEST_PERIOD_H
#define _PVPERF_GUEST_PERIOD_H

#include <linux/perf_event.h>
#include <linux/types.h>

struct guest_perf_event;
struct pvperf_cpu;
struct pvperf_slot;

/* The shortest period that @event may have. Software events have no limit. Any context. */
u64 pvperf_period_min(const struct perf_event *event);
/* The period to tell the host. Any context. */
u64 pvperf_period_of(const struct perf_event *event);

/* All functions below: with IRQs off, on the event's CPU. */

/* @slot will be enabled. Returns what is left of its period. */
u64 pvperf_period_arm(struct pvperf_cpu *cpu, struct pvperf_slot *slot);
/* Must the host start a new period before the present one has ended? */
bool pvperf_period_overdue(struct perf_event *event, const struct pvperf_slot *slot);

/*
 * For an event with a frequency, not in an NMI. Call pvperf_period_refresh() before
 * its count is folded: it READs an event that was silent for long. Call
 * pvperf_period_pace() after that: it shows core how fast the event counts.
 */
void pvperf_period_refresh(struct pvperf_cpu *cpu, struct perf_event *event);
void pvperf_period_pace(struct perf_event *event, const struct guest_perf_event *ev);

#endif /* _PVPERF_GUEST_PERIOD_H */
