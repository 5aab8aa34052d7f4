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
#include "check.h"
#include "group.h"
#include "hypercall.h"
#include "idle.h"
#include "link.h"
#include "period.h"
#include "slot.h"
#include "state.h"

/* Has the host that has opened the slot's event got our page, too? */
static bool slot_has_page(struct pvperf_cpu *cpu, struct pvperf_slot *slot)
{
	return !(pvperf_caps.features & KVM_PERF_FEATURE_OPEN_PAGE) ||
	       READ_ONCE(pvperf_cpu_event(cpu, slot)->page) == __pa(&cpu->area->page);
}

static void slot_note_refused(const struct pvperf_slot *slot, int round)
{
	struct pvperf_event *p;

	if (!slot->event)
		return;
	p = pvperf_event_of(slot->event);
	p->refused = round;
	p->host_busy = slot->error == -KVM_EBUSY || slot->error == -KVM_ENOSPC;
}

/*
 * Would the host refuse it to each event with this key, and on each CPU? -KVM_EINVAL may be about
 * the period, which is not in the key.
 */
static bool is_for_all(int result)
{
	return result == -KVM_ENOENT || result == -KVM_EPERM ||
	       result == -KVM_EUSERS || result == -KVM_EOPNOTSUPP;
}

static void slot_note_key_refused(struct pvperf_cpu *cpu, struct pvperf_slot *slot)
{
	const struct perf_event *event = slot->event;
	int s = slot - cpu->slot, round = atomic_read(&pvperf_slot_round);

	__set_bit(s, &cpu->set.refused);
	cpu->refused_in[s] = round;
	if (event)
		WRITE_ONCE(pvperf_event_of(event->parent ?: event)->heirs_refused, round);
}

/* Has it refused an event with the same key on this CPU, or a relative of the slot's event? */
static bool slot_key_refused(const struct pvperf_cpu *cpu, const struct pvperf_slot *slot)
{
	const struct perf_event *event = slot->event;
	int s = slot - cpu->slot, round = atomic_read(&pvperf_slot_round);

	return (cpu->set.refused & BIT(s) && cpu->refused_in[s] == round) ||
	       READ_ONCE(pvperf_event_of(event->parent ?: event)->heirs_refused) == round;
}

/* Is the host not to be asked now? */
static bool slot_waits(const struct pvperf_cpu *cpu, const struct pvperf_slot *slot)
{
	return !slot->trial && (pvperf_slot_refused(slot) || slot_key_refused(cpu, slot) ||
				pvperf_caps_is_other_model(slot->key.model));
}

static void result_open(struct pvperf_cpu *cpu, struct pvperf_slot *slot,
			int result)
{
	slot->error = result;
	WRITE_ONCE(slot->begins, PVPERF_BEGUN);
	if (!result) {
		slot_note_refused(slot, 0);
		__clear_bit(slot - cpu->slot, &cpu->set.refused);
		cpu->batch.lost |= !slot_has_page(cpu, slot);
		return;
	}
	slot->open = false;
	pvperf_slot_set_on(cpu, slot, false);
	/* Another kernel on this vCPU has left events behind that have our ids. */
	if (result == -KVM_EEXIST || result == -KVM_ENOSYS)
		cpu->batch.lost = true;
	slot_note_refused(slot, atomic_read(&pvperf_slot_round));
	if (is_for_all(result))
		slot_note_key_refused(cpu, slot);
	/* Makes room for the next try. */
	if (result == -KVM_ENOSPC) {
		WRITE_ONCE(pvperf_slot_full, atomic_read(&pvperf_slot_round));
		pvperf_slot_close(cpu, pvperf_slot_unused(cpu));
	}
	pvperf_account_unserved(cpu, slot);
}

static void result_enable(struct pvperf_cpu *cpu, struct pvperf_slot *slot,
			  int result)
{
	/* An OPEN before it has failed, and has said why. */
	if (result && !slot->open)
		return;
	slot->error = result;
	if (!result) {
		pvperf_account_served(cpu, slot);
		return;
	}
	pvperf_slot_set_on(cpu, slot, false);
	slot_note_refused(slot, atomic_read(&pvperf_slot_round));
	if (result == -KVM_ENOENT)
		cpu->batch.lost = true;
	pvperf_account_unserved(cpu, slot);
}

/*
 * One READ of many slots. All were open and on when the READ was queued, unless an
 * OPEN or an ENABLE before it has failed.
 */
static void result_read(struct pvperf_cpu *cpu, unsigned long slots,
			int result)
{
	if (result && !(slots & ~cpu->set.on))
		cpu->batch.lost = true;
	else
		pvperf_account_synced(cpu, slots & cpu->set.on);
}

/* A result that no host gives. */
#define PVPERF_BATCH_UNDONE	1

static void result_take(struct pvperf_cpu *cpu,
			const struct guest_perf_op *op)
{
	struct pvperf_slot *slot = &cpu->slot[(u32)op->id % PVPERF_SLOTS];
	int result = READ_ONCE(op->result);

	/* What an old host wrote may have got lost in a migration. */
	if (unlikely(result == PVPERF_BATCH_UNDONE)) {
		cpu->batch.lost = true;
		return;
	}
	switch (op->op) {
	case KVM_PERF_OP_OPEN:
		result_open(cpu, slot, result);
		break;
	case KVM_PERF_OP_ENABLE:
		result_enable(cpu, slot, result);
		break;
	case KVM_PERF_OP_CLOSE:
		cpu->batch.lost |= !!result;
		break;
	case KVM_PERF_OP_DISABLE:
		if (result)
			cpu->batch.lost = true;
		else
			pvperf_account_disabled(cpu, slot, pvperf_event_wanted(slot) &&
						slot_waits(cpu, slot));
		break;
	case KVM_PERF_OP_READ:
		if (op->arg)
			result_read(cpu, op->arg, result);
		else if (result && slot->open)
			cpu->batch.lost = true;
		else if (!result && slot->on)	/* off if ENABLE failed before */
			pvperf_account_synced(cpu, BIT(slot - cpu->slot));
		break;
	}
}

/* Returns how many operations the host did: it may stop early, but not before one. */
static int batch_send_ops(struct pvperf_cpu *cpu, int from, int n)
{
	struct guest_perf_op *op = &cpu->area->page.batch[from];
	int i, done = pvperf_call_batch(__pa(op), n);

	cpu->batch.now = local_clock();
	for (i = 0; i < done && i < n; i++)
		result_take(cpu, &op[i]);
	return done;
}

/* A host that does none, or too many, is not the one that we attached to. */
static void batch_send(struct pvperf_cpu *cpu)
{
	int done, from = 0, n = cpu->batch.queued;

	cpu->batch.queued = 0;
	while (from < n && !cpu->batch.lost) {
		done = batch_send_ops(cpu, from, n - from);
		if (done <= 0 || done > n - from)
			cpu->batch.lost = true;
		from += done;
	}
}

static __always_inline void
batch_add(struct pvperf_cpu *cpu, u32 op, int s, u64 arg)
{
	struct guest_perf_page *page = &cpu->area->page;

	if (cpu->batch.queued >= pvperf_caps.batch)
		batch_send(cpu);
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

static void step_disable(struct pvperf_cpu *cpu, int s)
{
	struct pvperf_slot *slot = &cpu->slot[s];

	if (!slot->on)
		return;
	if (pvperf_event_wanted(slot) && !slot->close && !slot->rearm)
		return;
	__clear_bit(s, &cpu->set.idling);
	__clear_bit(s, &cpu->set.stale);
	slot->rearm = false;
	pvperf_slot_set_on(cpu, slot, false);
	batch_add(cpu, KVM_PERF_OP_DISABLE, s, 0);
}

static void step_close(struct pvperf_cpu *cpu, int s)
{
	struct pvperf_slot *slot = &cpu->slot[s];

	if (slot->open && slot->close) {
		slot->open = false;
		__clear_bit(s, &cpu->set.stale);
		batch_add(cpu, KVM_PERF_OP_CLOSE, s, 0);
	}
	slot->close = false;
	if (!slot->open && !slot->event)
		__clear_bit(s, &cpu->set.odd);
}

static void step_open_branches(struct pvperf_cpu *cpu, int s, struct pvperf_open *open)
{
	open->attr.sample_type = KVM_PERF_SAMPLE_BRANCHES;
	open->param.branches_addr = __pa(pvperf_cpu_branches(cpu, s));
}

/* noinline: batch_round() saves no registers for it. */
static noinline u64 step_open_param(struct pvperf_cpu *cpu, int s)
{
	const struct pvperf_slot *slot = &cpu->slot[s];
	struct pvperf_open *open = &cpu->area->open[s];

	open->attr = (struct guest_perf_attr) {
		.type = slot->key.type,
		.size = sizeof(open->attr),
		.config = slot->key.config,
		.sample_period = !slot->key.sampling ? 0 :
				 slot->trial ?: pvperf_period_of(slot->event),
		.flags = (slot->key.flags & ~PVPERF_KEY_OURS) | KVM_PERF_FLAG_DISABLED,
		.cpu = slot->key.cpu,
	};
	open->param = (struct guest_perf_event_param) {
		.attr_addr = __pa(&open->attr),
		.guest_event_addr = __pa(&cpu->area->event[s]),
		.id = pvperf_cpu_id(cpu, slot),
		.event_size = KVM_PERF_EVENT_SIZE,
	};
	if (unlikely(slot->key.flags & PVPERF_KEY_BRANCHES))
		step_open_branches(cpu, s, open);
	return __pa(&open->param);
}

/* The host is not asked, so its last answer may be old. */
static noinline void step_unserved(struct pvperf_cpu *cpu, int s)
{
	cpu->batch.now = local_clock();
	pvperf_account_unserved(cpu, &cpu->slot[s]);
}

static void step_open(struct pvperf_cpu *cpu, int s)
{
	struct pvperf_slot *slot = &cpu->slot[s];

	if (slot->open || !(slot->trial || pvperf_event_wanted(slot)))
		return;
	if (slot_waits(cpu, slot)) {
		step_unserved(cpu, s);
		return;
	}
	pvperf_account_begin_anew(slot);
	WRITE_ONCE(slot->begins, PVPERF_BEGINS_OPENED);
	pvperf_account_restart(cpu, slot);
	slot->open = true;
	batch_add(cpu, KVM_PERF_OP_OPEN, s, step_open_param(cpu, s));
}

static void step_enable(struct pvperf_cpu *cpu, int s)
{
	struct pvperf_slot *slot = &cpu->slot[s];

	if (!slot->open || slot->on || !pvperf_event_wanted(slot))
		return;
	if (pvperf_slot_refused(slot)) {
		step_unserved(cpu, s);
		return;
	}
	pvperf_slot_set_on(cpu, slot, true);
	slot->rearm = false;
	batch_add(cpu, KVM_PERF_OP_ENABLE, s, pvperf_period_arm(cpu, slot));
}

/* READs the slots in @reading: all by one operation, if the host can do that. */
static void batch_add_reads(struct pvperf_cpu *cpu, unsigned long reading)
{
	int s;

	reading &= cpu->set.on;
	if (!reading)
		return;
	if (pvperf_caps.features & KVM_PERF_FEATURE_READ_MANY) {
		batch_add(cpu, KVM_PERF_OP_READ, 0, reading);
		return;
	}
	pvperf_for_each_slot(s, reading)
		batch_add(cpu, KVM_PERF_OP_READ, s, 0);
}

/* Operations that release something come before those that need something. */

static void step_end(struct pvperf_cpu *cpu, int s)
{
	step_disable(cpu, s);
	step_close(cpu, s);
}

static void step_begin(struct pvperf_cpu *cpu, int s)
{
	step_open(cpu, s);
	step_enable(cpu, s);
}

static __always_inline void
slots_each(struct pvperf_cpu *cpu, unsigned long slots,
	   void (*step)(struct pvperf_cpu *cpu, int s))
{
	int s;

	pvperf_for_each_slot(s, slots)
		step(cpu, s);
}

static void batch_round(struct pvperf_cpu *cpu)
{
	unsigned long dirty = xchg(&cpu->set.dirty, 0), reading = cpu->set.reading;
	unsigned long suspects;

	cpu->set.reading = 0;
	slots_each(cpu, dirty, step_end);
	slots_each(cpu, dirty, step_begin);
	suspects = pvperf_starve_suspects(cpu, dirty);
	if (unlikely(suspects))
		pvperf_starve_watch(cpu, suspects);
	batch_add_reads(cpu, reading | suspects);
	batch_send(cpu);
	if (unlikely(suspects))
		pvperf_starve_find(cpu, suspects);
}

/* Has an event starved, perhaps because of an idle one? Then those stop. Seldom. */
static noinline void batch_feed(struct pvperf_cpu *cpu)
{
	u64 began = cpu->starve.began;
	unsigned long starved = pvperf_starve_make_room(cpu);

	if (!starved)
		return;
	batch_round(cpu);
	pvperf_starve_excuse(cpu, starved, began);
}

static void batch_reconcile(struct pvperf_cpu *cpu)
{
	if (cpu->set.idling)
		pvperf_idle_make_room(cpu);
	batch_round(cpu);
	if (unlikely(cpu->starve.slots))
		batch_feed(cpu);
}

/* True at most brackets: a switch between two tasks of one perf stat makes four. */
static bool batch_is_needless(const struct pvperf_cpu *cpu)
{
	return !(READ_ONCE(cpu->set.dirty) | cpu->set.reading | cpu->set.leaving) &&
	       cpu->link.attached && !pvperf_link_gone(cpu);
}

void pvperf_batch_flush(struct pvperf_cpu *cpu)
{
	unsigned long grouped;
	int tries = 2;

	lockdep_assert_irqs_disabled();
	if (cpu->batch.busy || batch_is_needless(cpu))
		return;
	cpu->batch.busy = true;
	grouped = cpu->set.leaving & cpu->set.grouped;
	/* Those that stay of the groups that one leaves: see account_level(). */
	if (unlikely(grouped))
		cpu->set.reading |= pvperf_group_slots_of(cpu, grouped) & ~cpu->set.leaving;
	/* Twice: when the host is lost all has to be done anew. */
	while (tries-- && pvperf_link_serving(cpu)) {
		batch_reconcile(cpu);
		if (!cpu->batch.lost)
			break;
		pvperf_link_forget(cpu);
		cpu->batch.lost = false;
	}
	if (!cpu->link.attached)
		slots_each(cpu, cpu->set.dirty, step_unserved);
	pvperf_account_settle(cpu);
	pvperf_check_flush(cpu);
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
