// SPDX-License-Identifier: GPL-2.0
/*
 * How a perf_event gets into a slot and leaves it, starts and stops. Calls slot.h for
 * a slot, batch.h to have the host do what the event wants, account.h for the result,
 * period.h for the next sample. The invariant: a function here changes what a slot
 * wants, and never what the host has.
 */
#include <linux/hardirq.h>
#include <linux/lockdep.h>
#include <linux/minmax.h>
#include <linux/sched/clock.h>
#include "../compat/core.h"
#include "account.h"
#include "batch.h"
#include "caps.h"
#include "event.h"
#include "group.h"
#include "kinds.h"
#include "period.h"
#include "slot.h"
#include "state.h"
#include "time.h"

/* Does the host count already, and will it go on? A flush may be about to stop it. */
static bool event_goes_on(const struct pvperf_cpu *cpu,
			  const struct pvperf_slot *slot)
{
	return slot->on && !slot->rearm && !slot->close && !cpu->batch.busy && !in_nmi();
}

static __always_inline void
event_start_here(struct pvperf_cpu *cpu, struct perf_event *event,
		 struct pvperf_event *p, int flags)
{
	struct pvperf_slot *slot = p->slot;

	WRITE_ONCE(event->hw.state, 0);
	if (!slot)
		return;
	WRITE_ONCE(slot->halted, false);
	if (p->key.sampling && (flags & PERF_EF_RELOAD) &&
	    pvperf_period_overdue(event, slot))
		slot->rearm = true;
	if (event_goes_on(cpu, slot))
		return;
	set_bit(slot - cpu->slot, &cpu->set.dirty);
	pvperf_batch_kick(cpu);
}

void pvperf_event_start(struct perf_event *event, int flags)
{
	lockdep_assert_irqs_disabled();
	if (event->hw.state & PERF_HES_STOPPED)
		event_start_here(pvperf_cpu_this(), event,
				 pvperf_event_of(event), flags);
}

/* Folds the page's count. Only with a frequency may this cost an exit, now and then. */
static void event_refresh(struct pvperf_cpu *cpu, struct perf_event *event,
			  struct pvperf_slot *slot)
{
	bool paced = pvperf_event_is_freq(event) && !in_nmi() && !cpu->batch.busy;
	struct guest_perf_event *ev = pvperf_cpu_event(cpu, slot);

	if (paced)
		pvperf_period_refresh(cpu, event);
	if (slot->open)
		pvperf_account_fold(event, ev);
	if (paced)
		pvperf_period_pace(event, ev);
}

static void event_stop_here(struct pvperf_cpu *cpu, struct perf_event *event,
			    int flags)
{
	struct hw_perf_event *hw = &event->hw;
	struct pvperf_slot *slot = pvperf_event_of(event)->slot;

	WRITE_ONCE(hw->state, hw->state | PERF_HES_STOPPED);
	if (!slot)
		return;
	if (in_nmi())
		WRITE_ONCE(slot->halted, true);
	set_bit(slot - cpu->slot, &cpu->set.dirty);
	if (!(flags & PERF_EF_UPDATE) || (hw->state & PERF_HES_UPTODATE))
		return;
	event_refresh(cpu, event, slot);
	WRITE_ONCE(hw->state, hw->state | PERF_HES_UPTODATE);
}

void pvperf_event_stop(struct perf_event *event, int flags)
{
	struct pvperf_cpu *cpu = pvperf_cpu_this();

	lockdep_assert_irqs_disabled();
	if (cpu->hiding_throttle)
		return;
	event_stop_here(cpu, event, flags);
	pvperf_batch_kick(cpu);
}

/*
 * Are all of the host's counters taken? Then the event waits until core rotates. Where core does
 * not rotate, in a software context, the host has to. As such events make no room when the others
 * rotate, the first group that core gives a turn shares their counters with them at the host.
 */
static bool event_lacks_counter(struct pvperf_cpu *cpu, struct perf_event *event)
{
	const struct pvperf_counters *has = &pvperf_caps.counters;
	u64 need = pvperf_event_of(event)->key.need;

	if (pvperf_counters_fit(has, cpu->counters.used + need) || !need || !has->general ||
	    !pvperf_core_rotates(event))
		return false;
	return cpu->txn.turning ||
	       !pvperf_counters_fit(has, cpu->counters.used - cpu->counters.turnless + need);
}

/* If the slot's host event still runs, READ it: this event starts from that count. */
static void slot_arrive(struct pvperf_cpu *cpu, struct perf_event *event,
			struct pvperf_event *p, int s)
{
	struct pvperf_slot *slot = &cpu->slot[s];

	p->added = pvperf_core_tstamp(event);
	p->lost = p->taken = p->shown = 0;
	p->ran = p->together = p->frozen = false;
	p->served = PVPERF_NOT_WANTED;
	WRITE_ONCE(slot->begins, slot->on ? PVPERF_BEGINS_READ : PVPERF_BEGUN);
	if (slot->on)
		cpu->set.reading |= BIT(s);
	else
		pvperf_account_begin(cpu, event, slot);
}

/*
 * The event returns to its slot in the same bracket: as if it had never left. An NMI finds it in
 * .leaving or in .event.
 */
static void slot_stay(struct pvperf_cpu *cpu, int s)
{
	struct pvperf_slot *slot = &cpu->slot[s];

	WRITE_ONCE(slot->event, slot->leaving);
	__clear_bit(s, &cpu->set.leaving);
	if (!slot->begins)
		__clear_bit(s, &cpu->set.reading);
	WRITE_ONCE(slot->leaving, NULL);
}

/* Finds a slot, or -1. Nearly always it is the previous one, which still counts. */
static int slot_place(struct pvperf_cpu *cpu, struct perf_event *event,
		      const struct pvperf_event *p)
{
	int s = p->last;

	if (pvperf_slot_is_ready(&cpu->slot[s], &p->key)) {
		pvperf_slot_forget_user(cpu, s);
		return s;
	}
	/* It is leaving that slot in this bracket, and another one would be a second. */
	if (!p->slot)
		s = pvperf_slot_find(cpu, &p->key, s);
	if (s < 0)
		return s;
	pvperf_slot_claim(cpu, s, &p->key);
	return s;
}

/* The books of those who counted before @event came to their group are closed. */
static void group_meet(struct pvperf_cpu *cpu, struct perf_event *event, bool stays)
{
	unsigned long slots = pvperf_group_meet(cpu, event, stays);
	int s;

	pvperf_for_each_slot(s, slots)
		pvperf_time_take_lost(cpu->slot[s].event ?: cpu->slot[s].leaving);
}

static void slot_enter(struct pvperf_cpu *cpu, struct perf_event *event,
		       struct pvperf_event *p, int s)
{
	struct pvperf_slot *slot = &cpu->slot[s];
	const bool stays = slot->leaving == event, grouped = pvperf_core_in_group(event);

	if (unlikely(grouped))
		group_meet(cpu, event, stays);
	if (stays)
		slot_stay(cpu, s);
	else
		slot_arrive(cpu, event, p, s);
	p->last = s;
	p->slot = slot;
	WRITE_ONCE(slot->event, event);
	if (unlikely(grouped))
		pvperf_group_begin(cpu, event, stays);
	cpu->counters.used += p->key.need;
	/* A group goes by its leader's context. */
	p->turnless = !pvperf_core_rotates(event) && !pvperf_core_rotates(event->group_leader);
	if (unlikely(p->turnless))
		cpu->counters.turnless += p->key.need;
	cpu->txn.slots |= BIT(s);
	cpu->txn.pinned |= event->group_leader->attr.pinned;
}

int pvperf_event_add(struct perf_event *event, int flags)
{
	struct pvperf_event *p = pvperf_event_of(event);
	struct pvperf_cpu *cpu = pvperf_cpu_this();
	int s = -1;

	lockdep_assert_irqs_disabled();
	event->hw.state = PERF_HES_STOPPED | PERF_HES_UPTODATE;
	if (!p->nested_only) {
		if (!cpu->link.online || event_lacks_counter(cpu, event))
			return -EAGAIN;
		s = slot_place(cpu, event, p);
		if (s < 0)
			return -EAGAIN;
		slot_enter(cpu, event, p, s);
	}
	if (flags & PERF_EF_START)
		event_start_here(cpu, event, p, PERF_EF_RELOAD);
	else if (s >= 0)
		set_bit(s, &cpu->set.dirty);
	return 0;
}

/*
 * The host may do in a second what it is too busy for now, or has no room for. An event of one
 * kind of cores may be waiting for such a core. Where the CPUs themselves are of several kinds,
 * core leaves such a pinned event inactive, too, and has no error for it.
 */
static bool slot_counts(struct pvperf_cpu *cpu, int s)
{
	struct pvperf_slot *slot = &cpu->slot[s];

	return !pvperf_event_wanted(slot) || slot->key.flags & KVM_PERF_FLAG_KINDS ||
	       slot->error == -KVM_EBUSY || slot->error == -KVM_ENOSPC ||
	       (pvperf_slot_refused(slot) && pvperf_event_of(slot->event)->host_busy) ||
	       (slot->on && READ_ONCE(cpu->area->event[s].state) ==
			    KVM_PERF_STATE_COUNTING);
}

/*
 * The end of the bracket tells whether the host has a counter, which is soon enough
 * for an event that may wait. A pinned event may not: core has to know at once, to
 * put the event in error. So this asks the host now.
 */
bool pvperf_event_commit(struct pvperf_cpu *cpu)
{
	unsigned long coming = cpu->txn.slots;
	int s;

	lockdep_assert_irqs_disabled();
	/* The page may be old for events that never stopped. */
	pvperf_for_each_slot(s, coming)
		if (cpu->slot[s].on)
			__set_bit(s, &cpu->set.reading);
	pvperf_batch_flush(cpu);
	/* The host may come back, and core leaves an event in error until somebody enables it. */
	if (!cpu->link.attached)
		return true;
	pvperf_for_each_slot(s, coming)
		if (!slot_counts(cpu, s))
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
	/* The flush folds the count. Only a frequency needs it now, for the next period. */
	if (pvperf_event_is_freq(event))
		event_stop_here(cpu, event, PERF_EF_UPDATE);
	WRITE_ONCE(event->hw.state, PERF_HES_STOPPED | PERF_HES_UPTODATE);
	WRITE_ONCE(slot->leaving, event);
	WRITE_ONCE(slot->event, NULL);
	__set_bit(slot - cpu->slot, &cpu->set.leaving);
	cpu->counters.used -= p->key.need;
	if (unlikely(p->turnless))
		cpu->counters.turnless -= p->key.need;
	pvperf_batch_leave(cpu, slot);
}

/*
 * core has the events of a PMU take turns, but not the PMUs: the first one could have all slots. So
 * each leaves some to the others, and one slot to each that has none. Kind 0: sums.
 */
static bool kind_has_place(const struct pvperf_cpu *cpu, unsigned int kind)
{
	unsigned int events = pvperf_caps.events, nr = pvperf_nr_kinds, taken = 0, k;

	if (events <= nr || !nr)
		return true;
	for (k = 0; k <= nr; k++)
		taken += cpu->apart.of_kind[k] ?: k != kind;
	return taken < events &&
	       cpu->apart.of_kind[kind] < (kind ? max((events - 1) / nr, 1U) : events - nr);
}

int pvperf_event_add_kind(struct perf_event *event, int flags)
{
	struct pvperf_event *p = pvperf_event_of(event);
	unsigned int kind = KVM_PERF_FLAG_KIND_OF(p->key.flags);
	struct pvperf_cpu *cpu = pvperf_cpu_this();
	int err;

	if (!kind_has_place(cpu, kind))
		return -EAGAIN;
	err = pvperf_event_add(event, flags);
	if (err || !p->slot)
		return err;
	cpu->apart.of_kind[kind]++;
	/* It is not known if this one and those that idle fit. */
	if (kind)
		cpu->counters.scarce = true;
	return 0;
}

void pvperf_event_del_kind(struct perf_event *event, int flags)
{
	struct pvperf_event *p = pvperf_event_of(event);

	if (p->slot)
		pvperf_cpu_this()->apart.of_kind[KVM_PERF_FLAG_KIND_OF(p->key.flags)]--;
	pvperf_event_del(event, flags);
}
