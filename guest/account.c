// SPDX-License-Identifier: GPL-2.0
/*
 * Moves what the host did for a perf_event from the page into perf's books: its
 * count, its lost samples and, by time.h, its times. The invariant: a count grows
 * only by what the page's count has grown, and never goes back: after a migration the
 * page may be older than what the guest has read from it.
 *
 * An event that leaves is folded and settled by a flush. That flush comes at the end
 * of the bracket that core's event_sched_out() makes around ->del(), or at the end of
 * an outer bracket. All these brackets lie inside ctx->lock, so nobody reads the
 * event earlier; IRQs are off, so RCU keeps the event alive.
 */
#include <linux/lockdep.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/sched/clock.h>
#include "../compat/core.h"
#include "account.h"
#include "group.h"
#include "state.h"
#include "time.h"

static __always_inline void
account_fold(struct perf_event *event, struct pvperf_event *p,
	     const struct guest_perf_event *ev)
{
	struct hw_perf_event *hw = &event->hw;
	u64 before, now;

	/* If an NMI folds between the two reads, its fold counts and we try again. */
	do {
		before = local64_read(&hw->prev_count);
		now = READ_ONCE(ev->count);
		if ((s64)(now - before) <= 0)
			return;
	} while (local64_cmpxchg(&hw->prev_count, before, now) != before);
	local64_add(now - before, &event->count);
	local64_add(now - before, &p->since);
}

void pvperf_account_fold(struct perf_event *event, const struct guest_perf_event *ev)
{
	struct pvperf_event *p = pvperf_event_of(event);

	if (!p->slot || !READ_ONCE(p->slot->begins))
		account_fold(event, p, ev);
}

void pvperf_account_lose_samples(struct perf_event *event, u32 n)
{
	if (!n)
		return;
	pvperf_core_lose_samples(event, n);
	/* With a frequency the next sample stands for these overflows, too. */
	if (!pvperf_event_is_freq(event))
		local64_sub(n * event->hw.sample_period,
			    &pvperf_event_of(event)->since);
}

void pvperf_account_lose_missed(struct perf_event *event)
{
	s64 since = local64_read(&pvperf_event_of(event)->since);
	u32 n;

	if (pvperf_event_is_freq(event) || pvperf_event_tells_period(event) ||
	    !event->hw.sample_period || since < (s64)event->hw.sample_period)
		return;
	n = min_t(u64, U32_MAX, div64_u64(since, event->hw.sample_period));
	pvperf_account_lose_samples(event, n);
}

static struct perf_event *slot_owner(const struct pvperf_slot *slot)
{
	return slot->event ?: slot->leaving;
}

void pvperf_account_restart(struct pvperf_cpu *cpu, struct pvperf_slot *slot)
{
	struct guest_perf_event *ev = pvperf_cpu_event(cpu, slot);
	struct perf_event *event = slot->event;
	struct pvperf_event *p;

	lockdep_assert_irqs_disabled();
	memset(ev, 0, sizeof(*ev));
	if (!event)
		return;
	local64_set(&event->hw.prev_count, 0);
	p = pvperf_event_of(event);
	p->enabled = p->running = 0;
	p->paced_count = p->paced_running = 0;
	p->paced_at = local_clock();
}

/* The slot has begun to count. @state tells whether the host has a counter for it. */
static __always_inline void
account_note_starved(struct pvperf_cpu *cpu, const struct pvperf_slot *slot,
		     u32 state)
{
	if (unlikely(state != KVM_PERF_STATE_COUNTING) &&
	    !(cpu->apart.slots & BIT(slot - cpu->slot)))
		__set_bit(slot - cpu->slot, &cpu->starve.slots);
}

void pvperf_account_served(struct pvperf_cpu *cpu, struct pvperf_slot *slot)
{
	const struct guest_perf_event *ev = pvperf_cpu_event(cpu, slot);
	struct pvperf_event *p;

	lockdep_assert_irqs_disabled();
	if (!slot->event)
		return;
	p = pvperf_event_of(slot->event);
	if (p->anew)
		local64_set(&p->since, 0);
	p->anew = false;
	pvperf_time_book(p, ev, PVPERF_SERVED, cpu->batch.now);
	account_note_starved(cpu, slot, READ_ONCE(ev->state));
}

/* Restarts @event's count at that of the host event. Returns the state of the latter. */
static __always_inline u32
account_begin(struct pvperf_cpu *cpu, struct perf_event *event,
	      struct pvperf_slot *slot, enum pvperf_served served,
	      u64 now)
{
	const struct guest_perf_event *ev = pvperf_cpu_event(cpu, slot);
	struct pvperf_event *p = pvperf_event_of(event);
	u64 count = READ_ONCE(ev->count);

	local64_set(&event->hw.prev_count, count);
	p->clock = p->level_clock = p->paced_at = now;
	WRITE_ONCE(p->count_fresh_at, now);
	p->level_lost = p->lost;
	p->paced_count = count;
	p->enabled = READ_ONCE(ev->time_enabled);
	p->running = READ_ONCE(ev->time_running);
	p->paced_running = p->running;
	p->served = served;
	return READ_ONCE(ev->state);
}

void pvperf_account_begin_anew(struct pvperf_slot *slot)
{
	struct pvperf_event *p;

	lockdep_assert_irqs_disabled();
	if (likely(slot->begins != PVPERF_BEGINS_READ) || !slot->event)
		return;
	p = pvperf_event_of(slot->event);
	p->clock = local_clock();
	p->level_clock = p->clock;
	p->level_lost = p->lost;
}

void pvperf_account_begin(struct pvperf_cpu *cpu, struct perf_event *event,
			  struct pvperf_slot *slot)
{
	lockdep_assert_irqs_disabled();
	account_begin(cpu, event, slot, PVPERF_NOT_WANTED, local_clock());
}

static __always_inline void account_update(struct pvperf_cpu *cpu, struct pvperf_slot *slot,
					   enum pvperf_served next)
{
	const struct guest_perf_event *ev = pvperf_cpu_event(cpu, slot);
	struct perf_event *event = slot_owner(slot);
	struct pvperf_event *p;
	u32 state;
	u64 lost;

	if (!event)
		return;
	if (unlikely(slot->begins)) {
		/* The last of the event that was there before. */
		if (slot->begins == PVPERF_BEGINS_OPENED)
			return;
		state = account_begin(cpu, event, slot, next, cpu->batch.now);
		account_note_starved(cpu, slot, state);
		WRITE_ONCE(slot->begins, PVPERF_BEGUN);
		return;
	}
	p = pvperf_event_of(event);
	account_fold(event, p, ev);
	WRITE_ONCE(p->times_fresh, true);
	WRITE_ONCE(p->count_fresh_at, cpu->batch.now);
	if (pvperf_time_book_whole(p, ev, next, cpu->batch.now))
		return;
	lost = p->lost;
	pvperf_time_book(p, ev, next, cpu->batch.now);
	/* An event apart loses time on other cores, too: counters may be plenty on this one. */
	cpu->counters.scarce |= p->lost != lost && !(cpu->apart.slots & BIT(slot - cpu->slot));
}

void pvperf_account_synced(struct pvperf_cpu *cpu, unsigned long slots)
{
	struct pvperf_slot *slot;
	int s;

	lockdep_assert_irqs_disabled();
	pvperf_for_each_slot(s, slots) {
		slot = &cpu->slot[s];
		account_update(cpu, slot, slot->event ? PVPERF_SERVED :
						PVPERF_NOT_WANTED);
	}
}

void pvperf_account_disabled(struct pvperf_cpu *cpu, struct pvperf_slot *slot, bool waits)
{
	lockdep_assert_irqs_disabled();
	account_update(cpu, slot, waits ? PVPERF_UNSERVED : PVPERF_NOT_WANTED);
}

void pvperf_account_unserved(struct pvperf_cpu *cpu, struct pvperf_slot *slot)
{
	struct perf_event *event = slot->event;

	lockdep_assert_irqs_disabled();
	if (event)
		pvperf_time_book(pvperf_event_of(event),
				 pvperf_cpu_event(cpu, slot),
				 pvperf_event_wanted(slot) ? PVPERF_UNSERVED :
							     PVPERF_NOT_WANTED,
				 cpu->batch.now);
}

/* The host's last update is complete if it says so. If not, it may be of any age. */
static bool account_is_final(const struct guest_perf_event *ev)
{
	struct pvperf_event_sync s;

	return pvperf_page_event_read(ev, &s) && s.state == KVM_PERF_STATE_GONE;
}

/* .overflows is not too old: the guest, whose writes count, resets it. */
void pvperf_account_lost(struct pvperf_cpu *cpu, struct pvperf_slot *slot)
{
	struct guest_perf_event *ev = pvperf_cpu_event(cpu, slot);
	struct perf_event *event = slot_owner(slot);
	bool told;

	lockdep_assert_irqs_disabled();
	if (!event || !slot->open)
		return;
	told = account_is_final(ev);
	if (told)
		pvperf_account_fold(event, ev);
	pvperf_account_lose_samples(event, pvperf_page_overflows_take(ev));
	if (pvperf_event_of(event)->served == PVPERF_SERVED)
		pvperf_time_book(pvperf_event_of(event), told ? ev : NULL, PVPERF_UNSERVED,
				 local_clock());
}

/* If it was neither READ nor disabled in this flush its end is not booked yet. */
static __always_inline void account_leaving(struct pvperf_cpu *cpu, struct pvperf_slot *slot)
{
	struct pvperf_event *p = pvperf_event_of(slot->leaving);

	if (unlikely(p->served != PVPERF_NOT_WANTED))
		pvperf_time_book(p, pvperf_cpu_event(cpu, slot), PVPERF_NOT_WANTED,
				 local_clock());
}

static void account_settle(struct pvperf_cpu *cpu, struct pvperf_slot *slot)
{
	struct guest_perf_event *ev = pvperf_cpu_event(cpu, slot);
	struct perf_event *event = slot->leaving;

	account_leaving(cpu, slot);
	if (pvperf_event_of(event)->lost)
		pvperf_time_take_lost(event);
	/* Too late for samples: registers and task may be those of somebody else now. */
	if (slot->key.sampling) {
		pvperf_account_lose_samples(event, pvperf_page_overflows_take(ev));
		pvperf_account_lose_missed(event);
	}
	pvperf_event_of(event)->slot = NULL;
	WRITE_ONCE(slot->leaving, NULL);
	pvperf_core_update_userpage(event);
}

/*
 * The groups of events that leave. One that leaves alone is levelled with those that stay, which
 * this flush has READ, or which have no counter.
 */
static noinline void account_level(struct pvperf_cpu *cpu, unsigned long leaving)
{
	unsigned long slots = pvperf_group_slots_of(cpu, leaving);
	struct pvperf_slot *slot;
	struct pvperf_event *p;
	int s;

	pvperf_for_each_slot(s, slots) {
		slot = &cpu->slot[s];
		if (slot->leaving) {
			account_leaving(cpu, slot);
			continue;
		}
		p = pvperf_event_of(slot->event);
		pvperf_time_book(p, pvperf_cpu_event(cpu, slot), p->served, local_clock());
	}
	pvperf_group_level(cpu, slots);
	/* While all are in their slots: pvperf_group_take() looks at which of them sample. */
	pvperf_for_each_slot(s, leaving) {
		pvperf_time_take_lost(cpu->slot[s].leaving);
		pvperf_group_leave(cpu->slot[s].leaving);
	}
}

void pvperf_account_settle(struct pvperf_cpu *cpu)
{
	unsigned long leaving = cpu->set.leaving, grouped = leaving & cpu->set.grouped;
	int s;

	lockdep_assert_irqs_disabled();
	cpu->set.leaving = 0;
	if (unlikely(grouped))
		account_level(cpu, grouped);
	pvperf_for_each_slot(s, leaving)
		account_settle(cpu, &cpu->slot[s]);
	cpu->set.grouped &= ~leaving;
}
