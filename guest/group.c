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
 * One of our events answers for the group: our first one in a slot, and when that leaves alone
 * another one, until this leaves.
 */
#include <linux/lockdep.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include "../compat/core.h"
#include "group.h"
#include "state.h"

/* All of the time. */
#define SHARE_ALL	BIT_ULL(32)

static bool event_in_slot(const struct perf_event *event)
{
	return pvperf_event_is(event) && pvperf_event_of(event)->slot;
}

/* Whoever has notes about others, until it leaves; else the first in a slot. */
static struct perf_event *group_answering(const struct pvperf_cpu *cpu, struct perf_event *leader)
{
	struct perf_event *event, *first = NULL;

	pvperf_group_each(event, leader) {
		if (!event_in_slot(event))
			continue;
		if (likely(!cpu->noted) || pvperf_event_of(event)->others)
			return event;
		first = first ?: event;
	}
	return first;
}

static bool group_answers(const struct pvperf_cpu *cpu, struct perf_event *event)
{
	return group_answering(cpu, event->group_leader) == event;
}

unsigned long pvperf_group_slots(struct pvperf_cpu *cpu, struct perf_event *event)
{
	struct perf_event *leader = event->group_leader;
	unsigned long slots = 0;

	pvperf_group_each(event, leader)
		if (event_in_slot(event))
			__set_bit(pvperf_event_of(event)->slot - cpu->slot, &slots);
	return slots;
}

unsigned long pvperf_group_slots_of(struct pvperf_cpu *cpu, unsigned long slots)
{
	const struct pvperf_slot *slot;
	unsigned long all = 0;
	int s;

	lockdep_assert_irqs_disabled();
	pvperf_for_each_slot(s, slots) {
		slot = &cpu->slot[s];
		if (!(all & BIT(s)))
			all |= pvperf_group_slots(cpu, slot->event ?: slot->leaving);
	}
	return all;
}

/* Does core schedule it with the group, and is there room to note it as the @n-th other? */
static bool other_counts(const struct perf_event *event, int n)
{
	return !pvperf_event_is(event) && n < PVPERF_OTHERS && !pvperf_core_is_off(event);
}

static const struct pvperf_other *other_find(const struct pvperf_other *others, int n,
					     const struct perf_event *event)
{
	const struct pvperf_other *other;

	for (other = others; other < others + n; other++)
		if (other->event == event)
			return other;
	return NULL;
}

static struct pvperf_other other_note(const struct perf_event *event)
{
	return (struct pvperf_other) {
		.event = event,
		.count = local64_read(&event->count),
		.added = pvperf_core_tstamp(event),
		.off = pvperf_core_off(event),
	};
}

/* Was it off since? Then nobody knows which part of the losses fell into that time. */
static bool other_was_off(const struct pvperf_other *other, const struct perf_event *event)
{
	return other->off != pvperf_core_off(event);
}

/*
 * Has it gone before our @first has? A sibling may be disabled alone, and core then tells only
 * the sibling's own PMU. A leader that is disabled goes in one bracket with ours, and is off at
 * the end of that.
 */
static bool other_went_before(const struct perf_event *first, const struct pvperf_other *other,
			      const struct perf_event *event)
{
	return other_was_off(other, event) || (pvperf_core_is_off(event) &&
	       pvperf_core_tstamp(event) != pvperf_core_tstamp(first));
}

static void group_set_others(struct pvperf_event *p, int n)
{
	struct pvperf_cpu *cpu = pvperf_cpu_this();

	if (n != p->others)
		__assign_bit(p->slot - cpu->slot, &cpu->noted, n);
	p->others = n;
}

/* Whom @p answers for besides its own kind. Those who were there before keep their notes. */
static void group_find_others(struct pvperf_event *p, struct perf_event *leader, int known)
{
	struct pvperf_other was[PVPERF_OTHERS];
	const struct pvperf_other *before;
	struct perf_event *event;
	int n = 0;

	memcpy(was, p->other, known * sizeof(*was));
	pvperf_group_each(event, leader) {
		if (!other_counts(event, n))
			continue;
		before = other_find(was, known, event);
		if (before && other_was_off(before, event))
			before = NULL;
		p->other[n++] = before ? *before : other_note(event);
	}
	group_set_others(p, n);
}

static bool group_has_new_other(const struct pvperf_event *p, struct perf_event *leader)
{
	const struct pvperf_other *before;
	struct perf_event *event;
	int n = 0;

	pvperf_group_each(event, leader) {
		if (!other_counts(event, n))
			continue;
		before = other_find(p->other, p->others, event);
		if (!before || other_was_off(before, event))
			return true;
		n++;
	}
	return false;
}

void pvperf_group_begin(struct pvperf_cpu *cpu, struct perf_event *event, bool stays)
{
	struct pvperf_event *p = pvperf_event_of(event);

	__set_bit(p->slot - cpu->slot, &cpu->set.grouped);
	if (!stays) {	/* nothing to level, until the first READ says from when on it counts */
		p->level_clock = p->clock;
		p->level_lost = p->lost;
		p->told = 0;
		if (!p->key.sampling)
			local64_set(&p->since, 0);
	}
	if (group_answers(cpu, event))
		group_find_others(p, event->group_leader, stays ? p->others : 0);
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

/*
 * The same of a count, rounded up as often as its fraction says, by what the clock has of chance.
 * If it were rounded down each time, an event that counts 1 from one levelling to the next, as
 * context-switches, would count none.
 */
static u64 group_part_of_count(const struct pvperf_event *p, u64 count, u64 share)
{
	u32 fraction = count * share, chance = (u32)p->clock * 0x9e3779b1;

	return group_part(count, share) + (fraction > chance);
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

	p->together |= share > 0;
	if (own > share) {
		p->lost += group_part(p->clock - p->level_clock, own - share);
		share = mul_u64_u64_div_u64(share, SHARE_ALL, own);
		local64_sub(grown - group_part_of_count(p, grown, share), &event->count);
	}
	group_note_level(p);
}

/* @p has answered for them until now. */
static void group_note_others(struct pvperf_event *p, struct perf_event *leader)
{
	struct perf_event *event;
	int i;

	if (!p->others)
		return;
	pvperf_group_each(event, leader)
		for (i = 0; i < p->others; i++)
			if (p->other[i].event == event)
				p->other[i].count = local64_read(&event->count);
}

/* Not if the event was reset or off meanwhile, or has come to the group. */
static void group_level_other(const struct perf_event *first, struct perf_event *event, u64 share)
{
	const struct pvperf_event *p = pvperf_event_of(first);
	s64 grown;
	int i;

	for (i = 0; i < p->others; i++) {
		grown = local64_read(&event->count) - p->other[i].count;
		if (p->other[i].event == event && grown > 0 &&
		    !other_went_before(first, &p->other[i], event))
			local64_sub(grown - group_part_of_count(p, grown, share), &event->count);
	}
}

/* An event that was throttled has not run either, but has lost nothing. */
static bool group_never_ran(const struct pvperf_event *p)
{
	return !p->ran && p->lost != p->level_lost;
}

/* Of any PMU: what a sampling event has counted is in its samples, or will be. */
static bool member_samples(struct perf_event *event)
{
	return is_sampling_event(event) && (!pvperf_event_is(event) || event_in_slot(event));
}

/*
 * The share that all get. If one never had a counter, all get nothing. If one samples all counts
 * stay: @counts is false.
 */
static u64 group_lowest_share(struct perf_event *leader, bool *counts)
{
	const struct pvperf_event *p;
	struct perf_event *event;
	u64 share = SHARE_ALL;

	*counts = true;
	pvperf_group_each(event, leader) {
		*counts &= !member_samples(event);
		if (!event_in_slot(event))
			continue;
		p = pvperf_event_of(event);
		share = min(share, group_never_ran(p) ? 0 : group_share(p));
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
	pvperf_group_each(event, leader)
		if (event_in_slot(event))
			group_level_one(event, share, counts);
		else if (share < SHARE_ALL && counts)
			group_level_other(first, event, share);
	group_note_others(p, leader);
}

/* So far it was in no group: what it has counted stays as it is. */
static void group_note_alone(struct pvperf_cpu *cpu, unsigned long slots)
{
	struct perf_event *event;
	int s;

	pvperf_for_each_slot(s, slots) {
		event = cpu->slot[s].event ?: cpu->slot[s].leaving;
		pvperf_event_of(event)->together |= pvperf_event_of(event)->ran;
		group_note_level(pvperf_event_of(event));
	}
	cpu->set.grouped |= slots;
}

/* Those who are there have counted without @event, or another PMU's event is new beside it. */
static bool group_grows(const struct perf_event *first, const struct perf_event *event, bool stays)
{
	const struct pvperf_event *p = pvperf_event_of(first);

	if (p->clock == p->level_clock)
		return false;
	return !stays || (first == event && group_has_new_other(p, first->group_leader));
}

unsigned long pvperf_group_meet(struct pvperf_cpu *cpu, struct perf_event *event, bool stays)
{
	struct perf_event *first = group_answering(cpu, event->group_leader);
	unsigned long slots;

	lockdep_assert_irqs_disabled();
	if (!first || likely(!group_grows(first, event, stays)))
		return 0;
	slots = pvperf_group_slots(cpu, first);
	group_note_alone(cpu, slots & ~cpu->set.grouped);
	group_level(first);
	return slots;
}

void pvperf_group_level_slots(struct pvperf_cpu *cpu, unsigned long slots)
{
	struct perf_event *event;
	int s;

	lockdep_assert_irqs_disabled();
	pvperf_for_each_slot(s, slots) {
		event = cpu->slot[s].event ?: cpu->slot[s].leaving;
		if (event && group_answers(cpu, event) &&
		    !(pvperf_group_slots(cpu, event) & ~slots))
			group_level(event);
	}
}

/* No more than what the event has run since it came to the group. */
static void other_take(const struct perf_event *first, struct pvperf_other *other,
		       struct perf_event *event, u64 time)
{
	u64 now = pvperf_core_tstamp(first), here = now - other->added;

	if (other_went_before(first, other, event)) {
		*other = other_note(event);
		return;
	}
	time = min(time, here - other->taken);
	other->taken += time;
	pvperf_core_take_running_of_other(event, time, now);
}

/* What a sampling event counts is not cut, and so nothing of the others is. */
static bool group_samples(struct perf_event *leader)
{
	struct perf_event *event;

	pvperf_group_each(event, leader)
		if (member_samples(event))
			return true;
	return false;
}

void pvperf_group_take(struct perf_event *first, u64 time)
{
	struct pvperf_event *p = pvperf_event_of(first);
	struct perf_event *leader = first->group_leader, *event;
	u64 told = min(time, p->told);
	int i;

	p->told -= told;
	time -= told;
	if (!p->others || group_samples(leader))
		return;
	pvperf_group_each(event, leader)
		for (i = 0; i < p->others; i++)
			if (p->other[i].event == event)
				other_take(first, &p->other[i], event, time);
}

/* Both have been levelled just now: the others have lost what @next has lost until now. */
static void group_hand_over(const struct pvperf_event *p, struct pvperf_event *next)
{
	memcpy(next->other, p->other, sizeof(p->other));
	next->told = max(next->lost, next->taken) - next->taken;
	group_set_others(next, p->others);
}

void pvperf_group_leave(struct perf_event *event)
{
	struct pvperf_event *p = pvperf_event_of(event);
	struct perf_event *next;

	lockdep_assert_irqs_disabled();
	if (!p->others)
		return;
	pvperf_group_each(next, event->group_leader)
		if (event_in_slot(next) && pvperf_event_of(next)->slot->event == next) {
			group_hand_over(p, pvperf_event_of(next));
			break;
		}
	group_set_others(p, 0);
}
