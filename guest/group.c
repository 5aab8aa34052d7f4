// SPDX-License-Identifier: GPL-2.0
/*
 * Groups. core promises that the events of a group count together, so a reader gets one
 * pair of times for all of them. The host knows no groups: when counters are scarce there,
 * each event loses time of its own. Knows the books of events, but neither the page nor
 * calls. The invariant: after a levelling all events of a group have lost the same share of
 * the time, which is that of the worst one, and have counted as much as their own rate
 * makes in the rest. So perf is right when it scales them by one pair of times.
 *
 * Events of other PMUs in such a group (task-clock, a tracepoint) always count. They lose
 * the same share, of their counts, too, as if core had stopped the whole group.
 *
 * One of our events answers for the group: the leader, or if that is another PMU's, our
 * first event in a slot.
 */
#include <linux/lockdep.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include "../compat/core.h"
#include "group.h"
#include "state.h"

#define each_member(event, leader)						\
	for (struct perf_event *__at = (leader);				\
	     __at && ((event) = __at, true); __at = pvperf_core_next_member(__at))

/* All of the time. */
#define SHARE_ALL	BIT_ULL(32)

static bool event_in_slot(const struct perf_event *event)
{
	return pvperf_event_is(event) && pvperf_event_of(event)->slot;
}

static struct perf_event *group_answering(struct perf_event *leader)
{
	struct perf_event *event;

	each_member(event, leader)
		if (event_in_slot(event))
			return event;
	return NULL;
}

static bool group_answers(struct perf_event *event)
{
	return group_answering(event->group_leader) == event;
}

unsigned long pvperf_group_slots(struct pvperf_cpu *cpu, struct perf_event *event)
{
	struct perf_event *leader = event->group_leader;
	unsigned long slots = 0;

	each_member(event, leader)
		if (event_in_slot(event))
			__set_bit(pvperf_event_of(event)->slot - cpu->slot, &slots);
	return slots;
}

/* Notes the counts of other PMUs' events that are not disabled. There is room for some. */
static void group_note_others(struct pvperf_event *p, struct perf_event *leader)
{
	struct perf_event *event;
	int n = 0;

	each_member(event, leader) {
		if (pvperf_event_is(event) || n == PVPERF_OTHERS || pvperf_core_is_off(event))
			continue;
		p->other[n].event = event;
		p->other[n++].count = local64_read(&event->count);
	}
	p->others = n;
}

void pvperf_group_begin(struct pvperf_cpu *cpu, struct perf_event *event)
{
	struct pvperf_event *p = pvperf_event_of(event);

	__set_bit(p->slot - cpu->slot, &cpu->set.grouped);
	p->others = 0;
	if (group_answers(event))
		group_note_others(p, event->group_leader);
}

/* The part of the time since the last levelling in which the event counted. */
static u64 group_share(const struct pvperf_event *p)
{
	u64 time = p->clock - p->level_clock, lost = p->lost - p->level_lost;

	if (!lost || !time)
		return SHARE_ALL;
	return mul_u64_u64_div_u64(time - min(lost, time), SHARE_ALL, time);
}

static u64 group_part(u64 whole, u64 share)
{
	return mul_u64_u64_div_u64(whole, share, SHARE_ALL);
}

static void group_note_level(struct pvperf_event *p)
{
	p->level_clock = p->clock;
	p->level_lost = p->lost;
	p->ran = false;
	if (!p->key.sampling)
		local64_set(&p->since, 0);
}

static void group_level_one(struct perf_event *event, u64 share, bool counts)
{
	struct pvperf_event *p = pvperf_event_of(event);
	u64 own = group_share(p), grown = counts ? local64_read(&p->since) : 0;

	if (own > share) {
		p->lost += group_part(p->clock - p->level_clock, own - share);
		local64_sub(grown - mul_u64_u64_div_u64(grown, share, own), &event->count);
	}
	p->together |= share > 0;
	group_note_level(p);
}

/* Not if the event was reset meanwhile, or has come to the group. */
static void group_level_other(const struct pvperf_event *p, struct perf_event *event, u64 share)
{
	s64 grown;
	int i;

	for (i = 0; i < p->others; i++) {
		grown = local64_read(&event->count) - p->other[i].count;
		if (p->other[i].event == event && grown > 0)
			local64_sub(grown - group_part(grown, share), &event->count);
	}
}

/* An event that was throttled has not run either, but has lost nothing. */
static bool group_never_ran(const struct pvperf_event *p)
{
	return !p->ran && p->lost != p->level_lost;
}

/*
 * The share that all get. If one never had a counter, all get nothing. What a sampling event
 * has counted is in its samples, or will be, so then all counts stay: @counts is false.
 */
static u64 group_lowest_share(struct perf_event *leader, bool *counts)
{
	const struct pvperf_event *p;
	struct perf_event *event;
	u64 share = SHARE_ALL;

	*counts = true;
	each_member(event, leader) {
		if (!event_in_slot(event))
			continue;
		p = pvperf_event_of(event);
		share = min(share, group_never_ran(p) ? 0 : group_share(p));
		*counts &= !p->key.sampling;
	}
	return share;
}

static void group_level(struct perf_event *first)
{
	struct perf_event *leader = first->group_leader, *event;
	struct pvperf_event *p = pvperf_event_of(first);
	bool counts;
	u64 share;

	if (p->clock == p->level_clock)
		return;
	share = group_lowest_share(leader, &counts);
	each_member(event, leader)
		if (event_in_slot(event))
			group_level_one(event, share, counts);
		else if (share < SHARE_ALL && counts)
			group_level_other(p, event, share);
	if (p->others)
		group_note_others(p, leader);
}

void pvperf_group_level_slots(struct pvperf_cpu *cpu, unsigned long slots)
{
	struct perf_event *event;
	int s;

	lockdep_assert_irqs_disabled();
	pvperf_for_each_slot(s, slots) {
		event = cpu->slot[s].event ?: cpu->slot[s].leaving;
		if (event && group_answers(event) && !(pvperf_group_slots(cpu, event) & ~slots))
			group_level(event);
	}
}

void pvperf_group_take(struct perf_event *first, u64 time)
{
	const struct pvperf_event *p = pvperf_event_of(first);
	struct perf_event *leader = first->group_leader, *event;
	int i;

	each_member(event, leader)
		for (i = 0; i < p->others; i++)
			if (p->other[i].event == event)
				pvperf_core_take_running_of_other(event, time);
}
