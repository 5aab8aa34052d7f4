// SPDX-License-Identifier: GPL-2.0
/*
 * Compares what the slots want with what the host has, sends the host the operations
 * that make both equal, and evaluates the results. Calls account.h with the results
 * and link.h about the host; knows no struct pmu. The invariant: .open and .on
 * describe the host after all queued operations; a result that contradicts corrects
 * them.
 */
#include <linux/bitops.h>
#include <linux/hardirq.h>
#include <linux/lockdep.h>
#include <linux/sched/clock.h>
#include "account.h"
#include "batch.h"
#include "caps.h"
#include "hypercall.h"
#include "idle.h"
#include "link.h"
#include "period.h"
#include "slot.h"
#include "state.h"

/* Has the host that has opened the slot's event got our page, too? */
static bool page_is_there(struct pvperf_cpu *cpu, struct pvperf_slot *slot)
{
	return !(pvperf_caps.features & KVM_PERF_FEATURE_OPEN_PAGE) ||
	       READ_ONCE(pvperf_cpu_event(cpu, slot)->page) == __pa(&cpu->area->page);
}

static void slot_opened(struct pvperf_cpu *cpu, struct pvperf_slot *slot,
			int result)
{
	slot->error = result;
	if (!result) {
		cpu->link.lost |= !page_is_there(cpu, slot);
		return;
	}
	slot->open = false;
	pvperf_slot_set_on(cpu, slot, false);
	/* Another kernel on this vCPU has left events behind that have our ids. */
	if (result == -KVM_EEXIST || result == -KVM_ENOSYS)
		cpu->link.lost = true;
	/* Makes room for the next try. */
	if (result == -KVM_ENOSPC)
		pvperf_slot_close_idle(cpu);
	pvperf_account_unserved(cpu, slot);
}

static void slot_enabled(struct pvperf_cpu *cpu, struct pvperf_slot *slot,
			 int result)
{
	if (!result) {
		pvperf_account_served(cpu, slot);
		return;
	}
	pvperf_slot_set_on(cpu, slot, false);
	if (slot->open && result == -KVM_ENOENT)
		cpu->link.lost = true;
	pvperf_account_unserved(cpu, slot);
}

/*
 * One READ of many slots. All were open and on when the READ was queued, unless an
 * OPEN or an ENABLE before it has failed.
 */
static void slots_read(struct pvperf_cpu *cpu, unsigned long slots,
		       int result)
{
	if (result && !(slots & ~cpu->set.on))
		cpu->link.lost = true;
	else
		pvperf_account_synced(cpu, slots & cpu->set.on);
}

/* A result that no host gives. */
#define PVPERF_BATCH_UNDONE	1

static void take_result(struct pvperf_cpu *cpu,
			const struct guest_perf_op *op)
{
	struct pvperf_slot *slot = &cpu->slot[(u32)op->id % PVPERF_SLOTS];
	int result = READ_ONCE(op->result);

	/* What an old host wrote may have got lost in a migration. */
	if (unlikely(result == PVPERF_BATCH_UNDONE)) {
		cpu->link.lost = true;
		return;
	}
	switch (op->op) {
	case KVM_PERF_OP_OPEN:
		slot_opened(cpu, slot, result);
		break;
	case KVM_PERF_OP_ENABLE:
		slot_enabled(cpu, slot, result);
		break;
	case KVM_PERF_OP_CLOSE:
		cpu->link.lost |= !!result;
		break;
	case KVM_PERF_OP_DISABLE:
		if (result)
			cpu->link.lost = true;
		else
			pvperf_account_disabled(cpu, slot);
		break;
	case KVM_PERF_OP_READ:
		if (op->arg)
			slots_read(cpu, op->arg, result);
		else if (result && slot->open)
			cpu->link.lost = true;
		else if (!result && slot->on)	/* off if ENABLE failed before */
			pvperf_account_synced(cpu, BIT(slot - cpu->slot));
		break;
	}
}

/* Returns how many operations the host did: it may stop early, but not before one. */
static int send_ops(struct pvperf_cpu *cpu, int from, int n)
{
	struct guest_perf_op *op = &cpu->area->page.batch[from];
	int i, done = pvperf_call_batch(__pa(op), n);

	cpu->batch.now = local_clock();
	for (i = 0; i < done && i < n; i++)
		take_result(cpu, &op[i]);
	return done;
}

/* A host that does none, or too many, is not the one that we attached to. */
static void send_batch(struct pvperf_cpu *cpu)
{
	int done, from = 0, n = cpu->batch.queued;

	cpu->batch.queued = 0;
	while (from < n && !cpu->link.lost) {
		done = send_ops(cpu, from, n - from);
		if (done <= 0 || done > n - from)
			cpu->link.lost = true;
		from += done;
	}
}

static __always_inline void
add_op(struct pvperf_cpu *cpu, u32 op, int s, u64 arg)
{
	struct guest_perf_page *page = &cpu->area->page;

	if (cpu->batch.queued >= pvperf_caps.batch)
		send_batch(cpu);
	page->batch[cpu->batch.queued++] = (struct guest_perf_op) {
		.op = op,
		.id = pvperf_cpu_id(cpu, &cpu->slot[s]),
		.arg = arg,
		.result = PVPERF_BATCH_UNDONE,
	};
}

void pvperf_batch_leave(struct pvperf_cpu *cpu, struct pvperf_slot *slot)
{
	int s = slot - cpu->slot;

	lockdep_assert_irqs_disabled();
	if (pvperf_idle_may(cpu, slot)) {
		__set_bit(s, &cpu->set.idling);
		__set_bit(s, &cpu->set.reading);
	} else {
		set_bit(s, &cpu->set.dirty);
	}
	pvperf_batch_kick(cpu);
}

/* The steps. A slot may need several of them, and gets them in this order. */

static void disable_slot(struct pvperf_cpu *cpu, int s)
{
	struct pvperf_slot *slot = &cpu->slot[s];

	if (!slot->on)
		return;
	if (pvperf_event_wanted(slot) && !slot->close && !slot->rearm)
		return;
	__clear_bit(s, &cpu->set.idling);
	slot->rearm = false;
	pvperf_slot_set_on(cpu, slot, false);
	add_op(cpu, KVM_PERF_OP_DISABLE, s, 0);
}

static void close_slot(struct pvperf_cpu *cpu, int s)
{
	struct pvperf_slot *slot = &cpu->slot[s];

	if (slot->open && slot->close) {
		slot->open = false;
		add_op(cpu, KVM_PERF_OP_CLOSE, s, 0);
	}
	slot->close = false;
}

static u64 open_param(struct pvperf_cpu *cpu, int s)
{
	const struct pvperf_slot *slot = &cpu->slot[s];
	struct pvperf_open *open = &cpu->area->open[s];

	open->attr = (struct guest_perf_attr) {
		.type = slot->key.type,
		.size = sizeof(open->attr),
		.config = slot->key.config,
		.sample_period = slot->key.sampling ?
				 pvperf_period_of(slot->event) : 0,
		.flags = slot->key.flags | KVM_PERF_FLAG_DISABLED,
	};
	open->param = (struct guest_perf_event_param) {
		.attr_addr = __pa(&open->attr),
		.guest_event_addr = __pa(&cpu->area->event[s]),
		.id = pvperf_cpu_id(cpu, slot),
		.event_size = KVM_PERF_EVENT_SIZE,
	};
	return __pa(&open->param);
}

static void open_slot(struct pvperf_cpu *cpu, int s)
{
	struct pvperf_slot *slot = &cpu->slot[s];

	if (slot->open || !(slot->trial || pvperf_event_wanted(slot)))
		return;
	if (pvperf_caps_is_other_model(slot->key.model)) {
		pvperf_account_unserved(cpu, slot);
		return;
	}
	pvperf_account_restart(cpu, slot);
	slot->open = true;
	add_op(cpu, KVM_PERF_OP_OPEN, s, open_param(cpu, s));
}

static void enable_slot(struct pvperf_cpu *cpu, int s)
{
	struct pvperf_slot *slot = &cpu->slot[s];

	if (!slot->open || slot->on || !pvperf_event_wanted(slot))
		return;
	pvperf_slot_set_on(cpu, slot, true);
	slot->rearm = false;
	add_op(cpu, KVM_PERF_OP_ENABLE, s, pvperf_period_arm(cpu, slot));
}

/* READs the slots in @reading: all by one operation, if the host can do that. */
static void add_reads(struct pvperf_cpu *cpu, unsigned long reading)
{
	int s;

	reading &= cpu->set.on;
	if (!reading)
		return;
	if (pvperf_caps.features & KVM_PERF_FEATURE_READ_MANY) {
		add_op(cpu, KVM_PERF_OP_READ, 0, reading);
		return;
	}
	pvperf_for_each_slot(s, reading)
		add_op(cpu, KVM_PERF_OP_READ, s, 0);
}

/*
 * The wanted events, if one of @dirty has begun while others idle. The host's core then
 * schedules all events anew, and may take the counter of one that has counted so far.
 */
static unsigned long perhaps_starved(const struct pvperf_cpu *cpu, unsigned long dirty)
{
	if (likely(!cpu->set.idling) || !(dirty & cpu->set.on) || pvperf_idle_is_shown(cpu))
		return 0;
	return cpu->set.on & ~cpu->set.idling;
}

static void look_before(struct pvperf_cpu *cpu, unsigned long slots)
{
	struct pvperf_event *p;
	int s;

	pvperf_for_each_slot(s, slots) {
		p = pvperf_event_of(cpu->slot[s].event);
		p->lost_before = p->lost;
	}
	cpu->batch.began = local_clock();
}

static void look_after(struct pvperf_cpu *cpu, unsigned long slots)
{
	int s;

	pvperf_for_each_slot(s, slots & cpu->set.on)
		if (READ_ONCE(cpu->area->event[s].state) != KVM_PERF_STATE_COUNTING)
			__set_bit(s, &cpu->batch.starved);
	if (cpu->batch.starved)
		return;
	cpu->batch.began = 0;
	pvperf_idle_show(cpu);
}

/* Operations that release something come before those that need something. */

static void end_slot(struct pvperf_cpu *cpu, int s)
{
	disable_slot(cpu, s);
	close_slot(cpu, s);
}

static void begin_slot(struct pvperf_cpu *cpu, int s)
{
	open_slot(cpu, s);
	enable_slot(cpu, s);
}

static __always_inline void
each_slot(struct pvperf_cpu *cpu, unsigned long slots,
	  void (*step)(struct pvperf_cpu *cpu, int s))
{
	int s;

	pvperf_for_each_slot(s, slots)
		step(cpu, s);
}

static void one_round(struct pvperf_cpu *cpu)
{
	unsigned long dirty = xchg(&cpu->set.dirty, 0), reading = cpu->set.reading;
	unsigned long looking;

	cpu->set.reading = 0;
	each_slot(cpu, dirty, end_slot);
	each_slot(cpu, dirty, begin_slot);
	looking = perhaps_starved(cpu, dirty);
	if (unlikely(looking))
		look_before(cpu, looking);
	add_reads(cpu, reading | looking);
	send_batch(cpu);
	if (unlikely(looking))
		look_after(cpu, looking);
}

/* Starts an event anew. One that has not run yet begins anew, so it has lost nothing. */
static void begin_again(struct pvperf_cpu *cpu, int s)
{
	struct pvperf_slot *slot = &cpu->slot[s];

	WRITE_ONCE(slot->begins, !pvperf_event_has_run(pvperf_event_of(slot->event)));
	slot->rearm = true;
	set_bit(s, &cpu->set.dirty);
}

/*
 * An idle host event must not take the counter of a wanted event. There may be enough
 * counters by number, but counters are not alike: some events fit in few of them, or
 * take two; and the host has uses of its own. Only the host knows which events fit, so
 * when an event starves all idle ones stop.
 */
static void stop_idling(struct pvperf_cpu *cpu, unsigned long starved)
{
	unsigned long idling = cpu->set.idling;
	int s;

	cpu->set.idling = 0;
	pvperf_for_each_slot(s, idling)
		set_bit(s, &cpu->set.dirty);
	each_slot(cpu, starved, begin_again);
	/* Events that leave from now on would be in the way again. */
	cpu->counters.scarce = true;
	one_round(cpu);
}

/* Takes the set of starved slots with events that should count. */
static unsigned long take_starved(struct pvperf_cpu *cpu)
{
	unsigned long all = cpu->batch.starved, starved = 0;
	int s;

	cpu->batch.starved = 0;
	pvperf_for_each_slot(s, all)
		if (pvperf_event_wanted(&cpu->slot[s]))
			__set_bit(s, &starved);
	return starved;
}

/* Has an event starved, perhaps because of an idle one? Then stops those. Seldom. */
static noinline void feed_starved(struct pvperf_cpu *cpu)
{
	unsigned long starved = take_starved(cpu);
	u64 began = cpu->batch.began;
	int s;

	cpu->batch.began = 0;
	if (!starved || !cpu->set.idling || cpu->link.lost)
		return;
	stop_idling(cpu, starved);
	/* Nothing idles any more: what starves now has to wait. */
	cpu->batch.starved = 0;
	if (began)
		pvperf_for_each_slot(s, starved)
			pvperf_account_excuse(cpu->slot[s].event, cpu->batch.now - began);
}

static void reconcile(struct pvperf_cpu *cpu)
{
	if (cpu->set.idling)
		pvperf_idle_make_room(cpu);
	one_round(cpu);
	if (unlikely(cpu->batch.starved))
		feed_starved(cpu);
}

static void slot_unserved(struct pvperf_cpu *cpu, int s)
{
	pvperf_account_unserved(cpu, &cpu->slot[s]);
}

/* True at most brackets: a switch between two tasks of one perf stat makes four. */
static bool nothing_to_do(const struct pvperf_cpu *cpu)
{
	return !(READ_ONCE(cpu->set.dirty) | cpu->set.reading | cpu->set.leaving) &&
	       cpu->link.attached && !pvperf_link_gone(cpu);
}

void pvperf_batch_flush(struct pvperf_cpu *cpu)
{
	int tries = 2;

	lockdep_assert_irqs_disabled();
	if (cpu->batch.busy || nothing_to_do(cpu))
		return;
	cpu->batch.busy = true;
	cpu->set.unbooked = cpu->set.leaving;
	/* Twice: when the host is lost all has to be done anew. */
	while (tries-- && pvperf_link_serving(cpu)) {
		reconcile(cpu);
		if (!cpu->link.lost)
			break;
		pvperf_link_forget(cpu);
	}
	if (!cpu->link.attached) {
		cpu->batch.now = local_clock();
		each_slot(cpu, cpu->set.dirty, slot_unserved);
	}
	pvperf_account_settle(cpu);
	cpu->batch.busy = false;
}

void pvperf_batch_kick(struct pvperf_cpu *cpu)
{
	lockdep_assert_irqs_disabled();
	if (in_nmi() || cpu->batch.busy)
		irq_work_queue(&cpu->batch.work);
	else if (!cpu->txn.depth)
		pvperf_batch_flush(cpu);
}
