// SPDX-License-Identifier: GPL-2.0
/*
 * A perf_event in a slot: its count, its times, whether it should count now.
 * Calls slot.h for a place and batch.h to have its will done. Two invariants.
 * Counts only grow by what the page's count has grown. And of the time that
 * perf core adds to total_time_running, what the host did not count for is
 * taken away again, so that perf scales, or says <not counted>.
 *
 * An event that leaves is folded and settled by the flush at the end of the
 * bracket that core's event_sched_out() makes around ->del(), at the latest at
 * that of the bracket around that one. All of them lie inside ctx->lock, so
 * nobody reads the event before; IRQs are off, so RCU keeps it alive.
 */
#include <linux/hardirq.h>
#include <linux/math64.h>
#include <linux/sched/clock.h>
#include "batch.h"
#include "caps.h"
#include "cpu.h"
#include "event.h"
#include "hypercall.h"

/* A host event to be opened on trial never runs with this. */
#define PVPERF_PERIOD_TRIAL	(1ULL << 31)

/* ---------------------------------------------------------------- counts */

void pvperf_event_fold(struct perf_event *event, const struct guest_perf_event *ev)
{
	struct hw_perf_event *hw = &event->hw;
	u64 before, now;

	/* An NMI may do the same meanwhile; then it has done so for us. */
	do {
		before = local64_read(&hw->prev_count);
		now = READ_ONCE(ev->count);
	} while (local64_cmpxchg(&hw->prev_count, before, now) != before);
	local64_add(now - before, &event->count);
	local64_add(now - before, &pvperf_event_of(event)->since);
}

void pvperf_event_lose_samples(struct perf_event *event, u32 n)
{
	if (!n)
		return;
	atomic64_add(n, &event->lost_samples);
	/* With a frequency the next sample stands for these, too. */
	if (!event->attr.freq)
		local64_sub(n * event->hw.sample_period,
			    &pvperf_event_of(event)->since);
}

static struct perf_event *pvperf_event_owner(const struct pvperf_slot *slot)
{
	return slot->event ?: slot->leaving;
}

void pvperf_event_restart(struct pvperf_cpu *cpu, struct pvperf_slot *slot)
{
	struct guest_perf_event *ev = pvperf_cpu_event(cpu, slot);
	struct perf_event *event = slot->event;

	memset(ev, 0, sizeof(*ev));
	if (!event)
		return;
	local64_set(&event->hw.prev_count, 0);
	pvperf_event_of(event)->enabled = 0;
	pvperf_event_of(event)->running = 0;
}

/* ----------------------------------------------------------------- times */

/* How much of @time was lost, by the host's own @enabled and @running. */
static u64 pvperf_event_loss(const struct pvperf_event *p, u64 time, u64 enabled,
			     u64 running, enum pvperf_served next)
{
	switch (p->served) {
	case PVPERF_UNSERVED:
		return time;
	case PVPERF_SERVED:
		/* It went away: what it told last is all that we have. */
		if (next == PVPERF_UNSERVED)
			return time - min(time, running);
		/* Of guest time, as the host's stands still in steal. */
		return enabled ? mul_u64_u64_div_u64(time, enabled - running,
						     enabled) : 0;
	default:
		return 0;
	}
}

/* Books the time since the last booking; from now on it is @next. */
static void pvperf_event_book(struct pvperf_event *p,
			      const struct guest_perf_event *ev,
			      enum pvperf_served next)
{
	u64 now = local_clock(), time = now - p->clock, enabled, running;
	struct pvperf_event_sync s;

	pvperf_page_event_read(ev, &s);
	enabled = s.time_enabled - p->enabled;
	running = min(s.time_running - p->running, enabled);
	if (p->served == PVPERF_SERVED && next == PVPERF_SERVED && !enabled)
		return;
	p->lost += pvperf_event_loss(p, time, enabled, running, next);
	p->ran |= running;
	p->clock = now;
	p->enabled = s.time_enabled;
	p->running = s.time_running;
	p->served = next;
}

/*
 * Takes the lost time from the event. event->tstamp is how far core has added
 * its time up, and unlike the sums it stays with the event when core swaps two
 * clones' (inherit_stat). What can't be taken yet is taken next time. An event
 * that never ran loses all, exactly, as perf tells that case from 0 %.
 */
static void pvperf_event_take_lost(struct perf_event *event)
{
	struct pvperf_event *p = pvperf_event_of(event);
	u64 here = event->tstamp - p->added;
	u64 lost = p->ran ? min(p->lost, here) : p->lost ? here : 0;

	if (lost <= p->taken)
		return;
	event->total_time_running -= min(lost - p->taken,
					 event->total_time_running);
	p->taken = lost;
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
		pvperf_event_book(pvperf_event_of(slot->event),
				  pvperf_cpu_event(cpu, slot), PVPERF_SERVED);
}

static void pvperf_event_update(struct pvperf_cpu *cpu, struct pvperf_slot *slot,
				enum pvperf_served next)
{
	const struct guest_perf_event *ev = pvperf_cpu_event(cpu, slot);
	struct perf_event *event = pvperf_event_owner(slot);

	if (!event)
		return;
	pvperf_event_fold(event, ev);
	pvperf_event_of(event)->heard = local_clock();
	pvperf_event_book(pvperf_event_of(event), ev, next);
}

void pvperf_event_synced(struct pvperf_cpu *cpu, struct pvperf_slot *slot)
{
	pvperf_event_update(cpu, slot, PVPERF_SERVED);
}

void pvperf_event_disabled(struct pvperf_cpu *cpu, struct pvperf_slot *slot)
{
	pvperf_event_update(cpu, slot, PVPERF_NOT_WANTED);
}

void pvperf_event_unserved(struct pvperf_cpu *cpu, struct pvperf_slot *slot)
{
	struct perf_event *event = slot->event;

	if (event)
		pvperf_event_book(pvperf_event_of(event),
				  pvperf_cpu_event(cpu, slot),
				  pvperf_event_wanted(slot) ? PVPERF_UNSERVED :
							      PVPERF_NOT_WANTED);
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
		pvperf_event_book(pvperf_event_of(event), ev, PVPERF_UNSERVED);
}

void pvperf_event_left(struct pvperf_cpu *cpu, struct pvperf_slot *slot)
{
	struct guest_perf_event *ev = pvperf_cpu_event(cpu, slot);
	struct perf_event *event = slot->leaving;
	struct pvperf_event *p = pvperf_event_of(event);

	pvperf_event_book(p, ev, PVPERF_NOT_WANTED);
	pvperf_event_take_lost(event);
	/* Too late for a sample: registers and task may be another's by now. */
	pvperf_event_lose_samples(event, pvperf_page_overflows_take(ev));
	p->slot = NULL;
	WRITE_ONCE(slot->leaving, NULL);
}

/* --------------------------------------------------------------- periods */

u64 pvperf_event_period(const struct pvperf_slot *slot)
{
	u64 period = slot->event ? slot->event->hw.sample_period :
				   PVPERF_PERIOD_TRIAL;

	return max_t(u64, period, pvperf_caps.min_period);
}

u64 pvperf_event_arm(struct pvperf_cpu *cpu, struct pvperf_slot *slot)
{
	struct guest_perf_event *ev = pvperf_cpu_event(cpu, slot);
	u64 period;
	s64 since;

	if (!slot->key.sampling)
		return 0;
	period = pvperf_event_period(slot);
	since = local64_read(&pvperf_event_of(slot->event)->since);
	slot->armed = period;
	WRITE_ONCE(ev->period, period);
	/* Never 0, which would be a whole one. */
	return clamp_t(s64, period - since, 1, period);
}

/*
 * Must the host start a new period, or is it soon enough when the running one
 * ends? Core has the same rule for .period_left in perf_adjust_period().
 */
static bool pvperf_event_overdue(struct perf_event *event,
				 const struct pvperf_slot *slot)
{
	s64 left = slot->armed - local64_read(&pvperf_event_of(event)->since);
	u64 period = max_t(u64, event->hw.sample_period, pvperf_caps.min_period);

	if (!slot->key.sampling || !slot->on)
		return false;
	if (!event->attr.freq)
		return slot->armed != period;
	return left > 0 && left / 8 > period;
}

/*
 * In each tick core looks at the counts of events with a frequency. They are as
 * fresh as the last overflow, which will do while overflows come; but a period
 * far too long for a rare event would never be corrected.
 */
static void pvperf_event_listen(struct pvperf_cpu *cpu, struct perf_event *event)
{
	struct pvperf_event *p = pvperf_event_of(event);
	u64 now = local_clock();

	if (!event->attr.freq || !p->slot->on || in_nmi() || cpu->busy)
		return;
	if (now - p->heard < 2 * NSEC_PER_SEC / event->attr.sample_freq)
		return;
	p->heard = now;
	if (pvperf_call_read_nmi(pvperf_cpu_id(cpu, p->slot)) < 0)
		pvperf_cpu_forget(cpu);
}

/* ------------------------------------------------------------ for pmu.c */

void pvperf_event_start(struct perf_event *event, int flags)
{
	struct pvperf_cpu *cpu = pvperf_cpu_this();
	struct pvperf_slot *slot = pvperf_event_of(event)->slot;

	if (!(event->hw.state & PERF_HES_STOPPED))
		return;
	WRITE_ONCE(event->hw.state, 0);
	if (!slot)
		return;
	if ((flags & PERF_EF_RELOAD) && pvperf_event_overdue(event, slot))
		slot->rearm = true;
	set_bit(slot - cpu->slot, &cpu->dirty);
	pvperf_batch_kick(cpu);
}

static void pvperf_event_halt(struct pvperf_cpu *cpu, struct perf_event *event,
			      int flags)
{
	struct hw_perf_event *hw = &event->hw;
	struct pvperf_slot *slot = pvperf_event_of(event)->slot;

	WRITE_ONCE(hw->state, hw->state | PERF_HES_STOPPED);
	if (!slot)
		return;
	set_bit(slot - cpu->slot, &cpu->dirty);
	if (!(flags & PERF_EF_UPDATE) || (hw->state & PERF_HES_UPTODATE))
		return;
	pvperf_event_listen(cpu, event);
	pvperf_event_fold(event, pvperf_cpu_event(cpu, slot));
	WRITE_ONCE(hw->state, hw->state | PERF_HES_UPTODATE);
}

void pvperf_event_stop(struct perf_event *event, int flags)
{
	struct pvperf_cpu *cpu = pvperf_cpu_this();

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

/* A count begins anew at what the idle host event has. */
static void pvperf_event_arrive(struct pvperf_cpu *cpu, struct perf_event *event,
				struct pvperf_slot *slot)
{
	struct guest_perf_event *ev = pvperf_cpu_event(cpu, slot);
	struct pvperf_event *p = pvperf_event_of(event);
	struct pvperf_event_sync s;

	pvperf_page_event_read(ev, &s);
	local64_set(&event->hw.prev_count, s.count);
	p->clock = p->heard = local_clock();
	p->added = event->tstamp;
	p->enabled = s.time_enabled;
	p->running = s.time_running;
	p->lost = p->taken = 0;
	p->ran = false;
	p->served = PVPERF_NOT_WANTED;
}

/* Back in the same bracket, to the same slot: it has never left. */
static void pvperf_event_stay(struct pvperf_cpu *cpu, struct pvperf_slot *slot)
{
	clear_bit(slot - cpu->slot, &cpu->leaving);
	WRITE_ONCE(slot->leaving, NULL);
}

int pvperf_event_add(struct perf_event *event, int flags)
{
	struct pvperf_event *p = pvperf_event_of(event);
	struct pvperf_cpu *cpu = pvperf_cpu_this();
	struct pvperf_slot *slot;
	int s;

	lockdep_assert_irqs_disabled();
	event->hw.state = PERF_HES_STOPPED | PERF_HES_UPTODATE;
	if (!p->nowhere) {
		if (!cpu->online || pvperf_event_excess(cpu, event))
			return -EAGAIN;
		s = pvperf_slot_find(cpu, &p->key, event);
		if (s < 0)
			return -EAGAIN;
		slot = &cpu->slot[s];
		if (slot->leaving == event)
			pvperf_event_stay(cpu, slot);
		else
			pvperf_event_arrive(cpu, event, slot);
		pvperf_slot_claim(cpu, s, &p->key);
		p->slot = slot;
		WRITE_ONCE(slot->event, event);
		cpu->hardware += p->hardware;
	}
	if (flags & PERF_EF_START)
		pvperf_event_start(event, PERF_EF_RELOAD);
	perf_event_update_userpage(event);
	return 0;
}

void pvperf_event_del(struct perf_event *event, int flags)
{
	struct pvperf_event *p = pvperf_event_of(event);
	struct pvperf_cpu *cpu = pvperf_cpu_this();
	struct pvperf_slot *slot = p->slot;

	lockdep_assert_irqs_disabled();
	pvperf_event_halt(cpu, event, PERF_EF_UPDATE);
	if (!slot)
		return;
	WRITE_ONCE(slot->leaving, event);
	WRITE_ONCE(slot->event, NULL);
	set_bit(slot - cpu->slot, &cpu->leaving);
	cpu->hardware -= p->hardware;
	pvperf_batch_kick(cpu);
}

/* May hit a flush; the batch is not to be touched, nor the times. */
static void pvperf_event_read_nmi(struct pvperf_cpu *cpu, struct perf_event *event)
{
	struct pvperf_slot *slot = pvperf_event_of(event)->slot;

	if (cpu->attached && slot->on)
		pvperf_call_read_nmi(pvperf_cpu_id(cpu, slot));
	pvperf_event_fold(event, pvperf_cpu_event(cpu, slot));
}

void pvperf_event_read(struct perf_event *event)
{
	struct pvperf_slot *slot = pvperf_event_of(event)->slot;
	struct pvperf_cpu *cpu = pvperf_cpu_this();

	if (!slot)
		return;
	if (in_nmi() || cpu->busy) {
		pvperf_event_read_nmi(cpu, event);
		return;
	}
	set_bit(slot - cpu->slot, &cpu->reading);
	if (!(cpu->txn & PERF_PMU_TXN_READ))
		pvperf_event_read_all(cpu);
}

void pvperf_event_read_all(struct pvperf_cpu *cpu)
{
	unsigned long reading = cpu->reading;
	struct pvperf_slot *slot;
	struct pvperf_event *p;
	int s;

	pvperf_batch_flush(cpu);
	for_each_set_bit(s, &reading, PVPERF_SLOTS) {
		slot = &cpu->slot[s];
		if (!slot->event)
			continue;
		p = pvperf_event_of(slot->event);
		pvperf_event_book(p, pvperf_cpu_event(cpu, slot), p->served);
		pvperf_event_take_lost(slot->event);
	}
}
