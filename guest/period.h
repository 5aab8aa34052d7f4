/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _PVPERF_GUEST_PERIOD_H
#define _PVPERF_GUEST_PERIOD_H

#include <linux/perf_event.h>
#include <linux/types.h>

struct guest_perf_event;
struct pvperf_cpu;
struct pvperf_slot;

/* Any context. The host's own software events are not limited. */
u64 pvperf_period_min(const struct perf_event *event);
/* What to tell the host. Without an event: something for a slot on trial. */
u64 pvperf_period_of(const struct perf_event *event);

/* The rest with IRQs off, on the event's CPU. */

/* The slot is about to be enabled; returns what is left of the period. */
u64 pvperf_period_arm(struct pvperf_cpu *cpu, struct pvperf_slot *slot);
/* Must the host start a new period, before the one that runs has ended? */
bool pvperf_period_overdue(struct perf_event *event, const struct pvperf_slot *slot);

/* Of an event with a frequency, not in NMI: around the folding of its count. */
void pvperf_period_refresh(struct pvperf_cpu *cpu, struct perf_event *event);
void pvperf_period_pace(struct perf_event *event, const struct guest_perf_event *ev);

#endif /* _PVPERF_GUEST_PERIOD_H */
