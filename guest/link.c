// SPDX-License-Identifier: GPL-2.0
/*
 * A CPU's link to the host: attaches the memory that they share, notices when the
 * host is gone, and looks for the next one. Calls caps.h and hypercall.h, and
 * account.h for what was lost. The invariant: while a CPU is not .online the host has
 * none of its memory.
 *
 * Nothing here may print: IRQs are off, perhaps in a context switch, and a console may
 * take the run queue's lock. So watch.c prints what has happened.
 */
#include <linux/atomic.h>
#include <linux/cpumask.h>
#include <linux/jiffies.h>
#include <linux/lockdep.h>
#include "account.h"
#include "caps.h"
#include "hypercall.h"
#include "link.h"
#include "slot.h"
#include "state.h"

#define PVPERF_LINK_RETRY	(HZ / 10)

static atomic_t losses;	/* how often CPUs have lost their host */
static u32 reason;	/* that a host gave last, KVM_PERF_REASON_*, until printed */

/* The host begins to count its NMIs anew, or our memory is that of a snapshot. */
static void link_begin_nmis(struct pvperf_cpu *cpu)
{
	cpu->nmi.seen = pvperf_page_nmis(&cpu->area->page);
	/* One that was announced before may be on its way. */
	cpu->nmi.late_until = jiffies + PVPERF_NMI_LATE;
	cpu->nmi.late = true;
}

static bool link_attach(struct pvperf_cpu *cpu)
{
	struct guest_perf_page *page = &cpu->area->page;

	/* The host may have events from before with the same ids: drops them. */
	pvperf_call_detach();
	if (pvperf_call_attach(__pa(page)))
		return false;
	link_begin_nmis(cpu);
	cpu->link.epoch = READ_ONCE(page->epoch);
	cpu->link.attached = true;
	return true;
}

/* The host has nothing of ours: takes note of that in all slots. */
static void link_drop(struct pvperf_cpu *cpu)
{
	struct pvperf_slot *slot;

	for (slot = cpu->slot; slot < cpu->slot + PVPERF_SLOTS; slot++) {
		pvperf_account_lost(cpu, slot);
		slot->open = false;
		pvperf_slot_set_on(cpu, slot, false);
		pvperf_account_begin_anew(slot);
		slot->begins = PVPERF_BEGUN;
		if (!slot->event)
			__clear_bit(slot - cpu->slot, &cpu->set.odd);
	}
	cpu->set.idling = cpu->set.stale = cpu->set.refused = cpu->read.fresh = 0;
	cpu->link.attached = false;
	pvperf_slot_mark_dirty(cpu);
}

void pvperf_link_forget(struct pvperf_cpu *cpu)
{
	lockdep_assert_irqs_disabled();
	link_drop(cpu);
	atomic_inc(&losses);
	/* The next host may give what this one has refused. */
	atomic_inc(&pvperf_slot_round);
}

static void link_note_reason(const struct guest_perf_page *page)
{
	if (READ_ONCE(page->state) == KVM_PERF_PAGE_GONE &&
	    pvperf_caps.features & KVM_PERF_FEATURE_REASON)
		WRITE_ONCE(reason, READ_ONCE(page->reason));
}

bool pvperf_link_serving(struct pvperf_cpu *cpu)
{
	lockdep_assert_irqs_disabled();
	if (cpu->link.attached && !pvperf_link_gone(cpu))
		return true;
	if (cpu->link.attached)
		pvperf_link_forget(cpu);
	/* A CPU that comes online for the first time runs tasks before it has its memory. */
	if (!cpu->link.online)
		return false;
	/* Each time: calls may fail before the host says in the page why. */
	link_note_reason(&cpu->area->page);
	/* The first try is at once, for a host that forgot us; later ones are rare. */
	if (time_before(jiffies, cpu->link.retry))
		return false;
	cpu->link.retry = jiffies + PVPERF_LINK_RETRY;
	if (pvperf_caps_discover() || !link_attach(cpu))
		return false;
	pvperf_slot_mark_dirty(cpu);
	return true;
}

void pvperf_link_begin(struct pvperf_cpu *cpu)
{
	lockdep_assert_irqs_disabled();
	cpu->link.online = true;
	cpu->link.retry = jiffies;
}

void pvperf_link_end(struct pvperf_cpu *cpu)
{
	lockdep_assert_irqs_disabled();
	cpu->link.online = false;
	if (cpu->link.attached)
		link_drop(cpu);
	/* Always: a host that the CPU has given up may have its memory still. */
	pvperf_call_detach();
}

int pvperf_link_losses(void)
{
	return atomic_read(&losses);
}

u32 pvperf_link_reason(void)
{
	return READ_ONCE(reason);
}

void pvperf_link_forget_reason(u32 printed)
{
	cmpxchg(&reason, printed, KVM_PERF_REASON_NONE);
}

bool pvperf_link_is_down(const struct pvperf_cpu *cpu, bool known)
{
	return READ_ONCE(cpu->link.online) && !READ_ONCE(cpu->link.attached) &&
	       (READ_ONCE(cpu->link.epoch) || !known);
}

bool pvperf_link_any_down(bool known)
{
	int nr;

	for_each_online_cpu(nr)
		if (pvperf_link_is_down(per_cpu_ptr(pvperf_cpus, nr), known))
			return true;
	return false;
}
