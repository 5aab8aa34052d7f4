// SPDX-License-Identifier: GPL-2.0
/*
 * A perf_event in a slot: how it gets there and leaves, its count, whether it
 * should count now. Calls slot.h for a place, batch.h to have its will done,
 * time.h and period.h about the rest of it. The invariant: a count only grows by
 * what the page's count has grown.
 *
 * An event that leaves is folded and settled by the flush at the end of the
 * bracket that core's event_sched_out() makes around ->del(), at the latest at
 * that of the bracket around that one. All of them lie inside ctx->lock, so
 * nobody reads the event before; IRQs are off, so RCU keeps it alive.
 */
#include <linux/hardirq.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/sched/clock.h>
#include "batch.h"
#include "caps.h"
#include "cpu.h"
#include "event.h"
#include "period.h"
#include "time.h"

/* ---------------------------------------------------------------- counts */

static __always_inline void
pvperf_event_fold_here(struct perf_event *event, struct pvperf_event *p,
		       const struct guest_perf_event *ev)
{
	struct hw_perf_event *hw = &event->hw;
	u64 before, now;

	/* An NMI may do the same meanwhile; then it has done so for us. */
	do {
		before = local64_read(&hw->prev_count);
		now = READ_ONCE(ev->count);
	} while (local64_cmpxchg(&hw->prev_count, before, now) != before);
	local64_add(now - before, &event->count);
	if (p->key.sampling)
		local64_add(now - before, &p->since);
}

void pvperf_event_fold(struct perf_event *event, const struct guest_perf_event *ev)
{
	struct pvperf_event *p = pvperf_event_of(event);

	if (!p->slot || !READ_ONCE(p->slot->begins))
		pvperf_event_fold_here(event, p, ev);
}

void pvperf_event_lose_samples(struct perf_event *event, u32 n)
{
	if (!n)
		return;
	/* As core does: a child's go where its samples go. */
	atomic64_add(n, &(event->parent ?: event)->lost_samples);
	/* With a frequency the next sample stands for these, too. */
	if (!pvperf_event_is_freq(event))
		local64_sub(n * event->hw.sample_period,
			    &pvperf_event_of(event)->since);
}

void pvperf_event_lose_missed(struct perf_event *event)
{
	s64 since = local64_read(&pvperf_event_of(event)->since);

	if (pvperf_event_is_freq(event) || pvperf_event_tells_period(event) ||
	    !event->hw.sample_period || since < (s64)event->hw.sample_period)
		return;
	pvperf_event_lose_samples(event, min_t(u64, U32_MAX,
			div64_u64(since, event->hw.sample_period)));
}

static struct perf_event *pvperf_event_owner(const struct pvperf_slot *slot)
{
	return slot->event ?: slot->leaving;
}

void pvperf_event_restart(struct pvperf_cpu *cpu, struct pvperf_slot *slot)
{
	struct guest_perf_event *ev = pvperf_cpu_event(cpu, slot);
	struct perf_event *event = slot->event;
	struct pvperf_event *p;

	memset(ev, 0, sizeof(*ev));
	if (!event)
		return;
	local64_set(&event->hw.prev_count, 0);
	p = pvperf_event_of(event);
	p->enabled = p->running = 0;
	p->paced = p->paced_running = 0;
	p->paced_at = local_clock();
}

/* -------------------------------------------------------- what the host did */

bool pvperf_event_wanted(const struct pvperf_slot *slot)
{
	const struct perf_event *event = READ_ONCE(slot->event);

	return event && !(READ_ONCE(event->hw.state) & PERF_HES_STOPPED);
}

void pvperf_event_served(struct pvperf_cpu *cpu, struct pvperf_slot *slot)
{
	if (slot->event)
		pvperf_time_book(pvperf_event_of(slot->event),
				 pvperf_cpu_event(cpu, slot), PVPERF_SERVED,
				 cpu->now);
}

/* A count begins anew at what the host event has. */
static __always_inline void
pvperf_event_begin(struct pvperf_cpu *cpu, struct perf_event *event,
		   struct pvperf_slot *slot, enum pvperf_served served, u64 now)
{
	struct pvperf_event *p = pvperf_event_of(event);
	struct pvperf_event_sync s;

	pvperf_page_event_read(pvperf_cpu_event(cpu, slot), &s);
	local64_set(&event->hw.prev_count, s.count);
	p->clock = p->heard = p->paced_at = now;
	p->paced = s.count;
	p->paced_running = s.time_running;
	p->enabled = s.time_enabled;
	p->running = s.time_running;
	p->served = served;
}

static __always_inline void
pvperf_event_update(struct pvperf_cpu *cpu, struct pvperf_slot *slot,
		    enum pvperf_served next)
{
	const struct guest_perf_event *ev = pvperf_cpu_event(cpu, slot);
	struct perf_event *event = pvperf_event_owner(slot);
	struct pvperf_event *p;
	u64 lost;

	if (!event)
		return;
	if (slot->begins) {
		pvperf_event_begin(cpu, event, slot, next, cpu->now);
		WRITE_ONCE(slot->begins, false);
		return;
	}
	p = pvperf_event_of(event);
	lost = p->lost;
	pvperf_event_fold_here(event, p, ev);
	p->heard = cpu->now;
	p->synced = true;
	pvperf_time_book(p, ev, next, cpu->now);
	cpu->crowded |= p->lost != lost;
}

void pvperf_event_synced(struct pvperf_cpu *cpu, unsigned long slots)
{
	struct pvperf_slot *slot;
	int s;

	pvperf_for_each_slot(s, slots) {
		slot = &cpu->slot[s];
		pvperf_event_update(cpu, slot, slot->event ? PVPERF_SERVED :
						PVPERF_NOT_WANTED);
	}
}

void pvperf_event_disabled(struct pvperf_cpu *cpu, struct pvperf_slot *slot)
{
	pvperf_event_update(cpu, slot, PVPERF_NOT_WANTED);
}

void pvperf_event_unserved(struct pvperf_cpu *cpu, struct pvperf_slot *slot)
{
	struct perf_event *event = slot->event;

	if (event)
		pvperf_time_book(pvperf_event_of(event),
				 pvperf_cpu_event(cpu, slot),
				 pvperf_event_wanted(slot) ? PVPERF_UNSERVED :
							     PVPERF_NOT_WANTED,
				 cpu->now);
}

void pvperf_event_lost(struct pvperf_cpu *cpu, struct pvperf_slot *slot)
{
	struct guest_perf_event *ev = pvperf_cpu_event(cpu, slot);
	struct perf_event *event = pvperf_event_owner(slot);

	if (!event || !slot->open)
		return;
	pvperf_event_fold(event, ev);
	pvperf_event_lose_samples(event, pvperf_page_overflows_take(ev));
	if (pvperf_event_of(event)->served == PVPERF_SERVED)
		pvperf_time_book(pvperf_event_of(event), ev, PVPERF_UNSERVED,
				 local_clock());
}

static void pvperf_event_leaves(struct pvperf_cpu *cpu, struct pvperf_slot *slot)
{
	struct pvperf_event *p = pvperf_event_of(slot->leaving);

	if (p->served != PVPERF_NOT_WANTED)
		pvperf_time_book(p, pvperf_cpu_event(cpu, slot), PVPERF_NOT_WANTED,
				 local_clock());
}

static void pvperf_event_left(struct pvperf_cpu *cpu, struct pvperf_slot *slot)
{
	struct guest_perf_event *ev = pvperf_cpu_event(cpu, slot);
	struct perf_event *event = slot->leaving;

	/* As a rule nothing was lost; but a leader answers for its group. */
	if (pvperf_event_of(event)->lost || !list_empty(&event->sibling_list))
		pvperf_time_take_lost(event);
	/* Too late for a sample: registers and task may be another's by now. */
	if (slot->key.sampling) {
		pvperf_event_lose_samples(event, pvperf_page_overflows_take(ev));
		pvperf_event_lose_missed(event);
	}
	pvperf_event_of(event)->slot = NULL;
	WRITE_ONCE(slot->leaving, NULL);
}

void pvperf_event_settle(struct pvperf_cpu *cpu)
{
	unsigned long leaving = cpu->leaving;
	int s;

	cpu->leaving = 0;
	pvperf_for_each_slot(s, leaving)
		pvperf_event_leaves(cpu, &cpu->slot[s]);
	pvperf_for_each_slot(s, leaving)
		pvperf_event_left(cpu, &cpu->slot[s]);
}

/* ------------------------------------------------------------ for pmu.c */

/* Nothing to tell the host? A flush that we are in may be about to stop it. */
static bool pvperf_event_goes_on(const struct pvperf_cpu *cpu,
				 const struct pvperf_slot *slot)
{
	return slot->on && !slot->rearm && !slot->close && !cpu->busy && !in_nmi();
}

static __always_inline void
pvperf_event_start_here(struct pvperf_cpu *cpu, struct perf_event *event,
			struct pvperf_event *p, int flags)
{
	struct pvperf_slot *slot = p->slot;

	WRITE_ONCE(event->hw.state, 0);
	if (!slot)
		return;
	slot->halted = false;
	if (p->key.sampling && (flags & PERF_EF_RELOAD) &&
	    pvperf_period_overdue(event, slot))
		slot->rearm = true;
	if (pvperf_event_goes_on(cpu, slot))
		return;
	set_bit(slot - cpu->slot, &cpu->dirty);
	pvperf_batch_kick(cpu);
}

void pvperf_event_start(struct perf_event *event, int flags)
{
	if (event->hw.state & PERF_HES_STOPPED)
		pvperf_event_start_here(pvperf_cpu_this(), event,
					pvperf_event_of(event), flags);
}

/* Brings event->count up to date, as far as that needs no exit. */
static void pvperf_event_refresh(struct pvperf_cpu *cpu, struct perf_event *event,
				 struct pvperf_slot *slot)
{
	bool paced = pvperf_event_is_freq(event) && !in_nmi() && !cpu->busy;
	struct guest_perf_event *ev = pvperf_cpu_event(cpu, slot);

	if (paced)
		pvperf_period_listen(cpu, event);
	if (slot->open)
		pvperf_event_fold(event, ev);
	if (paced)
		pvperf_period_pace(event, ev);
}

static void pvperf_event_halt(struct pvperf_cpu *cpu, struct perf_event *event,
			      int flags)
{
	struct hw_perf_event *hw = &event->hw;
	struct pvperf_slot *slot = pvperf_event_of(event)->slot;

	WRITE_ONCE(hw->state, hw->state | PERF_HES_STOPPED);
	if (!slot)
		return;
	slot->halted |= in_nmi();
	set_bit(slot - cpu->slot, &cpu->dirty);
	if (!(flags & PERF_EF_UPDATE) || (hw->state & PERF_HES_UPTODATE))
		return;
	pvperf_event_refresh(cpu, event, slot);
	WRITE_ONCE(hw->state, hw->state | PERF_HES_UPTODATE);
}

void pvperf_event_stop(struct perf_event *event, int flags)
{
	struct pvperf_cpu *cpu = pvperf_cpu_this();

	if (cpu->telling)
		return;
	pvperf_event_halt(cpu, event, flags);
	pvperf_batch_kick(cpu);
}

/*
 * So many that the host can count at once; the rest waits for core to rotate.
 * Core doesn't rotate a software context: there it's for the host to do.
 */
static bool pvperf_event_excess(struct pvperf_cpu *cpu, struct perf_event *event)
{
	return pvperf_caps.counters && pvperf_event_of(event)->hardware &&
	       event->pmu->task_ctx_nr == perf_hw_context &&
	       cpu->hardware >= pvperf_caps.counters;
}

/* If the host counts already, for nobody, it is to say from where. */
static void pvperf_event_arrive(struct pvperf_cpu *cpu, struct perf_event *event,
				struct pvperf_event *p, int s)
{
	struct pvperf_slot *slot = &cpu->slot[s];

	p->added = event->tstamp;
	p->lost = p->taken = p->shown = 0;
	p->ran = p->frozen = false;
	p->served = PVPERF_NOT_WANTED;
	WRITE_ONCE(slot->begins, slot->on);
	if (slot->on)
		cpu->reading |= BIT(s);
	else
		pvperf_event_begin(cpu, event, slot, PVPERF_NOT_WANTED, local_clock());
}

/* Back in the same bracket, to the same slot: it has never left. */
static void pvperf_event_stay(struct pvperf_cpu *cpu, int s)
{
	struct pvperf_slot *slot = &cpu->slot[s];

	__clear_bit(s, &cpu->leaving);
	if (!slot->begins)
		__clear_bit(s, &cpu->reading);
	WRITE_ONCE(slot->leaving, NULL);
}

/* A slot for @event, or -1: nearly always the one that it had last, which counts on. */
static int pvperf_event_place(struct pvperf_cpu *cpu, struct perf_event *event,
			      const struct pvperf_event *p)
{
	int s = p->last;

	if (pvperf_slot_is_ready(&cpu->slot[s], &p->key)) {
		pvperf_cpu_slot_taken(cpu, s);
		return s;
	}
	s = pvperf_slot_find(cpu, &p->key, event, s);
	if (s >= 0)
		pvperf_slot_claim(cpu, s, &p->key);
	return s;
}

static void pvperf_event_enter(struct pvperf_cpu *cpu, struct perf_event *event,
			       struct pvperf_event *p, int s)
{
	struct pvperf_slot *slot = &cpu->slot[s];

	if (slot->leaving == event)
		pvperf_event_stay(cpu, s);
	else
		pvperf_event_arrive(cpu, event, p, s);
	p->last = s;
	p->slot = slot;
	WRITE_ONCE(slot->event, event);
	cpu->hardware += p->hardware;
	cpu->coming |= BIT(s);
	cpu->pinned |= event->group_leader->attr.pinned;
}

int pvperf_event_add(struct perf_event *event, int flags)
{
	struct pvperf_event *p = pvperf_event_of(event);
	struct pvperf_cpu *cpu = pvperf_cpu_this();
	int s = -1;

	lockdep_assert_irqs_disabled();
	event->hw.state = PERF_HES_STOPPED | PERF_HES_UPTODATE;
	if (!p->nowhere) {
		if (!cpu->online || pvperf_event_excess(cpu, event))
			return -EAGAIN;
		s = pvperf_event_place(cpu, event, p);
		if (s < 0)
			return -EAGAIN;
		pvperf_event_enter(cpu, event, p, s);
	}
	if (flags & PERF_EF_START)
		pvperf_event_start_here(cpu, event, p, PERF_EF_RELOAD);
	else if (s >= 0)
		set_bit(s, &cpu->dirty);
	if (rcu_access_pointer(event->rb))
		perf_event_update_userpage(event);
	return 0;
}

static bool pvperf_event_counts(struct pvperf_cpu *cpu, int s)
{
	struct pvperf_slot *slot = &cpu->slot[s];

	return !pvperf_event_wanted(slot) ||
	       (slot->on && READ_ONCE(cpu->area->event[s].state) ==
			    KVM_PERF_STATE_COUNTING);
}

/*
 * Whether the host has a counter is heard at the end of the bracket, which is
 * soon enough for an event that may wait. A pinned one may not: core is to know
 * now, and puts it in error. So the host is asked at once.
 */
bool pvperf_event_commit(struct pvperf_cpu *cpu)
{
	unsigned long coming = cpu->coming;
	int s;

	/* Of those that never stopped, the page may tell what was long ago. */
	pvperf_for_each_slot(s, coming)
		if (cpu->slot[s].on)
			__set_bit(s, &cpu->reading);
	pvperf_batch_flush(cpu);
	pvperf_for_each_slot(s, coming)
		if (!pvperf_event_counts(cpu, s))
			return false;
	return true;
}

void pvperf_event_del(struct perf_event *event, int flags)
{
	struct pvperf_event *p = pvperf_event_of(event);
	struct pvperf_cpu *cpu = pvperf_cpu_this();
	struct pvperf_slot *slot = p->slot;

	lockdep_assert_irqs_disabled();
	if (!slot)
		return;
	/* What the flush hears is folded; only a period has to be found before. */
	if (pvperf_event_is_freq(event))
		pvperf_event_halt(cpu, event, PERF_EF_UPDATE);
	WRITE_ONCE(event->hw.state, PERF_HES_STOPPED | PERF_HES_UPTODATE);
	WRITE_ONCE(slot->leaving, event);
	WRITE_ONCE(slot->event, NULL);
	__set_bit(slot - cpu->slot, &cpu->leaving);
	cpu->hardware -= p->hardware;
	pvperf_batch_leave(cpu, slot);
}
