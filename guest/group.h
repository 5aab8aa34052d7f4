/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _PVPERF_GUEST_GROUP_H
#define _PVPERF_GUEST_GROUP_H

#include "state.h"

/* For files that include compat/core.h; pvperf_core_next_member() says what has to be held. */
#define pvperf_group_each(event, leader)					\
	for (struct perf_event *__at = (leader);				\
	     __at && ((event) = __at, true); __at = pvperf_core_next_member(__at))

/* All functions with IRQs off, on the event's CPU, not in an NMI. */

/* The slots of @event's group, if @event has a slot. */
unsigned long pvperf_group_slots(struct pvperf_cpu *cpu, struct perf_event *event);

/* All slots of the groups that have events in @slots. */
unsigned long pvperf_group_slots_of(struct pvperf_cpu *cpu, unsigned long slots);

/*
 * @event, which is in a group, is about to get a slot, in which it is already if it @stays.
 * If the others have counted without it, or without another PMU's event that is new, they are
 * levelled as they are booked. Returns their slots then, whose lost time is to be taken now.
 */
unsigned long pvperf_group_meet(struct pvperf_cpu *cpu, struct perf_event *event, bool stays);

/* @event, which is in a group, has got a slot. */
void pvperf_group_begin(struct pvperf_cpu *cpu, struct perf_event *event, bool stays);

/* pvperf_group_level() of @slots that have events in groups. */
void pvperf_group_level_slots(struct pvperf_cpu *cpu, unsigned long slots);

/*
 * Levels the groups of the events in @slots, as far as all their slots are among these.
 * Their times and counts have been booked just now. Walks as pvperf_group_each().
 */
static inline void pvperf_group_level(struct pvperf_cpu *cpu, unsigned long slots)
{
	if (unlikely(slots & cpu->set.grouped))
		pvperf_group_level_slots(cpu, slots & cpu->set.grouped);
}

/* @time was taken from @event's running time: takes it from other PMUs' events, too. */
void pvperf_group_take(struct perf_event *event, u64 time);

/* @event leaves its slot, levelled and with its lost time taken: another one answers then. */
void pvperf_group_leave(struct perf_event *event);

#endif /* _PVPERF_GUEST_GROUP_H */
