// SPDX-License-Identifier: GPL-2.0
/*
 * See check.h. What did not hold is printed by an interrupt: IRQs are off here, perhaps in a
 * context switch, and a console may take the run queue's lock.
 */
#define pr_fmt(fmt) "pvperf_guest: " fmt

#include <linux/atomic.h>
#include <linux/irq_work.h>
#include <linux/printk.h>
#include "../compat/core.h"
#include "check.h"
#include "slot.h"
#include "state.h"

static const char *broken;	/* the first that did not hold */
static atomic_t due;	/* events that are there, and runs of the watch to come */

static void check_print(struct irq_work *work)
{
	pr_err("BUG: does not hold: %s\n", READ_ONCE(broken));
}

static DEFINE_IRQ_WORK(printing, check_print);

static void check(bool holds, const char *what)
{
	if (holds || READ_ONCE(broken))
		return;
	WRITE_ONCE(broken, what);
	irq_work_queue(&printing);
}

#define check(what)	check(what, #what)

static void check_slot(struct pvperf_cpu *cpu, int s)
{
	const struct pvperf_slot *slot = &cpu->slot[s];
	const unsigned long bit = BIT(s);

	check(slot->on == !!(cpu->set.on & bit));
	check(!slot->on || slot->open);
	check(!slot->open || atomic_read(&due) || slot->trial);
	check(!slot->leaving);
	check(!(cpu->set.idling & bit) || (slot->on && !slot->event));
	check(!(cpu->set.stale & bit) || (slot->open && !slot->event));
	check(!(cpu->set.refused & bit) || !slot->open);
	check(!slot->event || pvperf_event_of(slot->event)->slot == slot);
	check(!slot->event || !!(cpu->set.whole & bit) == !!(slot->key.flags & KVM_PERF_FLAG_CPU));
	check(!slot->event || !!(cpu->apart.slots & bit) == !!(slot->key.flags & PVPERF_KEY_APART));
	check(!slot->event || pvperf_key_equal(&slot->key, &pvperf_event_of(slot->event)->key));
}

void pvperf_check_flush(struct pvperf_cpu *cpu)
{
	int s;

	check(!cpu->set.leaving);
	for (s = 0; s < PVPERF_SLOTS; s++)
		check_slot(cpu, s);
}

void pvperf_check_read(const struct perf_event *event)
{
	check(pvperf_core_times_fit(event));
}

void pvperf_check_watch(int more)
{
	atomic_add(more, &due);
}

void pvperf_check_end(void)
{
	irq_work_sync(&printing);
}
