// SPDX-License-Identifier: GPL-2.0
/*
 * Reads an event or a group for perf core. Calls batch.h for a READ at the host,
 * account.h and time.h for the result. The invariant: a reader gets a count that is no
 * older than the reader's call. The exception is a CPU's own event, which may have been
 * READ a moment ago, with another one.
 */
#include <linux/hardirq.h>
#include <linux/lockdep.h>
#include <linux/sched/clock.h>
#include "../compat/core.h"
#include "account.h"
#include "batch.h"
#include "check.h"
#include "group.h"
#include "hypercall.h"
#include "read.h"
#include "state.h"
#include "time.h"

/* May interrupt a flush, so it touches neither the batch nor what has been booked of the times. */
static void read_nmi(struct pvperf_cpu *cpu, struct perf_event *event)
{
	struct pvperf_slot *slot = pvperf_event_of(event)->slot;

	if (cpu->link.attached && slot->on && !slot->begins &&
	    pvperf_call_read_nmi(pvperf_cpu_id(cpu, slot)) >= 0)
		pvperf_event_mark_fresh(pvperf_event_of(event), true);
	if (slot->open)
		pvperf_account_fold(event, pvperf_cpu_event(cpu, slot));
	/* A reader has this now, so a levelling must not take it back. */
	if (!slot->key.sampling)
		local64_set(&pvperf_event_of(event)->since, 0);
}

/* The counts are up to date: books the times. */
static void read_book_times(struct pvperf_cpu *cpu, unsigned long slots)
{
	struct perf_event *event;
	int s;

	pvperf_for_each_slot(s, slots) {
		event = cpu->slot[s].event;
		if (event)
			pvperf_time_book(pvperf_event_of(event),
					 pvperf_cpu_event(cpu, &cpu->slot[s]),
					 pvperf_event_of(event)->served,
					 local_clock());
	}
	pvperf_group_level(cpu, slots);
	pvperf_for_each_slot(s, slots) {
		event = cpu->slot[s].event;
		if (!event)
			continue;
		pvperf_time_take_lost(event);
		pvperf_check_read(event);
	}
}

void pvperf_read_deferred(struct pvperf_cpu *cpu)
{
	unsigned long reading = cpu->set.reading;

	lockdep_assert_irqs_disabled();
	pvperf_batch_flush(cpu);
	read_book_times(cpu, reading);
}

/*
 * perf stat -a reads a CPU's events one by one. So the first read of an event READs the
 * others, too, and the result is good for one read of each soon after. A task's own
 * events are not read so: the task may have worked between two reads, to measure it.
 */
#define PVPERF_READ_TOGETHER	(50 * NSEC_PER_USEC)

static unsigned long read_others(struct pvperf_cpu *cpu,
				 const struct perf_event *event)
{
	unsigned long others = cpu->read.together;
	const struct perf_event *other;
	int s;

	pvperf_for_each_slot(s, cpu->read.together) {
		other = cpu->slot[s].event;
		if (!other || other == event || other->ctx != event->ctx)
			__clear_bit(s, &others);
	}
	return others;
}

static void read_own(struct pvperf_cpu *cpu, struct perf_event *event,
		     int s)
{
	bool soon = local_clock() - cpu->read.fresh_at < PVPERF_READ_TOGETHER;

	if (!soon || !__test_and_clear_bit(s, &cpu->read.fresh)) {
		if (!soon) {
			/* Leaves out those that nobody read the last time. */
			cpu->read.together &= ~cpu->read.fresh;
			cpu->read.fresh = read_others(cpu, event);
			cpu->set.reading |= cpu->read.fresh;
		}
		__set_bit(s, &cpu->read.together);
		__set_bit(s, &cpu->set.reading);
		pvperf_batch_flush(cpu);
		if (!soon)
			cpu->read.fresh_at = cpu->batch.now;
	}
	read_book_times(cpu, BIT(s));
}

void pvperf_read_event(struct perf_event *event)
{
	struct pvperf_slot *slot = pvperf_event_of(event)->slot;
	struct pvperf_cpu *cpu = pvperf_cpu_this();

	lockdep_assert_irqs_disabled();
	if (!slot)
		return;
	if (in_nmi() || cpu->batch.busy) {
		read_nmi(cpu, event);
		return;
	}
	if (cpu->txn.flags & PERF_PMU_TXN_READ) {
		__set_bit(slot - cpu->slot, &cpu->set.reading);
	} else if (pvperf_core_in_group(event)) {
		cpu->set.reading |= pvperf_group_slots(cpu, event);
		pvperf_read_deferred(cpu);
	} else if (pvperf_core_is_cpu_event(event)) {
		read_own(cpu, event, slot - cpu->slot);
	} else {
		__set_bit(slot - cpu->slot, &cpu->set.reading);
		pvperf_read_deferred(cpu);
	}
}
