// SPDX-License-Identifier: GPL-2.0
/*
 * The watch. Once a second, while there are perf_events, it has each CPU check that
 * the host is still there, stop and close idle host events, and retry what the host refused.
 * After the last perf_event it runs once more and closes all host events. Calls slot.h,
 * batch.h and link.h; knows of perf_events only how many there are. The invariant: the
 * loss and the return of a host are printed here only, in process context.
 */
#define pr_fmt(fmt) "pvperf_guest: " fmt

#include <linux/atomic.h>
#include <linux/cpu.h>
#include <linux/jiffies.h>
#include <linux/printk.h>
#include <linux/sched/clock.h>
#include <linux/smp.h>
#include <linux/workqueue.h>
#include "account.h"
#include "batch.h"
#include "caps.h"
#include "check.h"
#include "link.h"
#include "slot.h"
#include "state.h"
#include "watch.h"

#define PVPERF_WATCH_EVERY	HZ

static atomic_t nr_events;	/* existing perf_events */
static unsigned long last_end;	/* jiffies when the last one went */

/*
 * Which slots may not keep a host event that no perf_event has: all, if the host has lately had no
 * room for an event of this VM; and those of the host's CPUs, as other VMs may want these. Else a
 * VM that counts alone (access=exclusive) would lose the host while its task sleeps.
 */
static unsigned long watch_closes(const struct pvperf_cpu *cpu)
{
	int rounds = atomic_read(&pvperf_slot_round) - READ_ONCE(pvperf_slot_full);

	return rounds <= 2 ? ~0UL : READ_ONCE(cpu->set.whole);
}

/* Stop ownerless counters that were already idle at the last tick; close what was stopped. */
static void watch_stop_stale(struct pvperf_cpu *cpu)
{
	unsigned long stale = cpu->set.stale, stopped = pvperf_slot_unused(cpu) & ~cpu->set.on;
	int s;

	cpu->set.idling &= ~stale;
	cpu->set.stale = cpu->set.idling | (stopped & ~stale);
	pvperf_slot_close(cpu, stopped & stale & watch_closes(cpu));
	pvperf_for_each_slot(s, stale)
		set_bit(s, &cpu->set.dirty);
}

/* The host has taken its CPU offline: only another OPEN finds the CPU when it is back. */
static void watch_reopen_lost(struct pvperf_cpu *cpu, unsigned long slots)
{
	const struct guest_perf_event *ev;
	int s;

	pvperf_for_each_slot(s, slots) {
		ev = &cpu->area->event[s];
		if (READ_ONCE(ev->state) != KVM_PERF_STATE_ERROR)
			continue;
		if (cpu->slot[s].event)
			pvperf_account_fold(cpu->slot[s].event, ev);
		/* The batch that opens it anew throws the page's times away. */
		cpu->batch.now = local_clock();
		pvperf_account_unserved(cpu, &cpu->slot[s]);
		cpu->slot[s].close = true;
		set_bit(s, &cpu->set.dirty);
	}
}

/* A READ interrupts the host's CPU. So of the events of such CPUs one is READ, in turn. */
static void watch_look_at_hosts(struct pvperf_cpu *cpu)
{
	unsigned long whole = cpu->set.whole & cpu->set.on, next;

	if (!whole)
		return;
	watch_reopen_lost(cpu, whole);
	if (!(whole & ~cpu->set.looked))
		cpu->set.looked = 0;
	next = BIT(__ffs(whole & ~cpu->set.looked));
	cpu->set.looked |= next;
	cpu->set.reading |= next;
}

/*
 * An event that only counts makes no call for long, so nobody would notice that the
 * host was replaced (migration). And what was counted since the last READ is lost then. So
 * this READs all events of each CPU but those of the host's CPUs.
 */
static void watch_check_here(void *unused)
{
	struct pvperf_cpu *cpu = pvperf_cpu_this();

	cpu->set.reading |= cpu->set.on & ~cpu->set.whole;
	watch_look_at_hosts(cpu);
	watch_stop_stale(cpu);
	cpu->counters.scarce = false;
	/* The host may now be able to open or start what it refused before. */
	pvperf_slot_mark_dirty(cpu);
	pvperf_batch_flush(cpu);
}

static void watch_close_idle_here(void *unused)
{
	struct pvperf_cpu *cpu = pvperf_cpu_this();

	cpu->counters.scarce = false;
	pvperf_slot_close(cpu, pvperf_slot_unused(cpu));
	pvperf_batch_flush(cpu);
}

/*
 * Racy read of another CPU; a stale answer is harmless. One that has nothing to count looks for
 * its host, too, if that has gone, until it is back: or each would tell of the same change when it
 * next counts, and "back" is told when all have it.
 */
static bool watch_has_used(int nr, void *unused)
{
	struct pvperf_cpu *cpu = per_cpu_ptr(pvperf_cpus, nr);

	return READ_ONCE(cpu->set.idling) || READ_ONCE(cpu->counters.scarce) ||
	       pvperf_slot_all(cpu, false) ||
	       pvperf_slot_all(cpu, true) & watch_closes(cpu) ||
	       pvperf_link_is_down(cpu, true) ||
	       (READ_ONCE(cpu->link.attached) && pvperf_link_gone(cpu));
}

static bool watch_has_open(int nr, void *unused)
{
	struct pvperf_cpu *cpu = per_cpu_ptr(pvperf_cpus, nr);

	return pvperf_slot_all(cpu, true);
}

static void watch_print_host(bool gone, u32 reason)
{
	if (gone)
		pr_info("%s; events don't count until it returns\n",
			reason == KVM_PERF_REASON_DENIED ?
			"the host's operator has taken pvperf from this VM" :
			reason == KVM_PERF_REASON_ALONE ?
			"another VM counts alone, and the host side is not there meanwhile" :
			reason == KVM_PERF_REASON_POLICY ?
			"the host's operator has changed what this VM may count, and the host side is not there now" :
			"the host side has gone");
	else
		pr_info("%s\n", reason == KVM_PERF_REASON_POLICY ?
			"the host's operator has changed what this VM may count" :
			"the host side is back");
}

static void watch_print(void)
{
	static bool told_gone;
	static u32 told_reason;
	static int told_model = -1;
	static int told;
	int losses = pvperf_link_losses();
	bool gone = pvperf_link_any_down(true);
	u32 reason = pvperf_link_reason();
	int model = pvperf_caps.model;

	if (told_model < 0)
		told_model = model;
	if (losses == told && gone == told_gone)
		return;
	if (!gone || !told_gone || reason != told_reason)
		watch_print_host(gone, reason);
	if (!gone)
		pvperf_link_forget_reason(reason);
	if (told_model != model)
		pr_info("the host has another kind of CPU now; raw events count again if they are opened anew\n");
	told_model = model;
	told_reason = reason;
	told = losses;
	told_gone = gone;
}

static void watch_work(struct work_struct *work);
static DECLARE_DELAYED_WORK(next_watch, watch_work);

static void watch_schedule(void)
{
	if (schedule_delayed_work(&next_watch, PVPERF_WATCH_EVERY))
		pvperf_check_watch(1);
}

static void watch_work(struct work_struct *work)
{
	bool needed = atomic_read(&nr_events);

	atomic_inc(&pvperf_slot_round);
	cpus_read_lock();
	on_each_cpu_cond(needed ? watch_has_used : watch_has_open,
			 needed ? watch_check_here : watch_close_idle_here, NULL, true);
	cpus_read_unlock();
	watch_print();
	if (needed)
		watch_schedule();
	pvperf_check_watch(-1);
}

void pvperf_watch_get(void)
{
	pvperf_check_watch(1);
	if (atomic_inc_return(&nr_events) == 1)
		watch_schedule();
}

void pvperf_watch_put(void)
{
	WRITE_ONCE(last_end, jiffies);
	atomic_dec(&nr_events);
	pvperf_check_watch(-1);
}

bool pvperf_watch_awake(void)
{
	return atomic_read(&nr_events) ||
	       time_before(jiffies, READ_ONCE(last_end) + PVPERF_WATCH_EVERY);
}

void pvperf_watch_stop(void)
{
	cancel_delayed_work_sync(&next_watch);
}
