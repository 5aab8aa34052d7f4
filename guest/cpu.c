// SPDX-License-Identifier: GPL-2.0
/*
 * The CPUs: the memory each shares with the host, when the host has it, and the
 * loss and return of the host. Calls caps.h, hypercall.h and batch.h, account.h
 * with what was lost and nmi.h about a new host; knows nothing of perf but that
 * there are events. The invariant: while a CPU is not
 * .online the host has none of its memory; a CPU that goes offline, sleeps, or
 * sees the module leave, says so to the host before.
 *
 * Nothing here may print with IRQs off: it may run in a context switch, and a
 * console wants the lock of the run queue. So the watch tells what happened.
 */
#define pr_fmt(fmt) "pvperf_guest: " fmt

#include <linux/cpu.h>
#include <linux/gfp.h>
#include <linux/jiffies.h>
#include <linux/smp.h>
#include <linux/topology.h>
#include <linux/workqueue.h>
#include "account.h"
#include "batch.h"
#include "caps.h"
#include "cpu.h"
#include "hypercall.h"
#include "nmi.h"
#include "slot.h"
#include "state.h"

#define PVPERF_CPU_RETRY	(HZ / 10)
#define PVPERF_CPU_WATCH	HZ

struct pvperf_cpu __percpu *pvperf_cpus;

static enum cpuhp_state pvperf_cpu_state;
static bool pvperf_cpu_asleep;		/* between suspend and resume */
static atomic_t pvperf_cpu_events;	/* perf_events that exist */
static atomic_t pvperf_cpu_losses;	/* of CPUs' host sides, ever */

/* ------------------------------------------------- with IRQs off, this CPU */

static bool pvperf_cpu_attach(struct pvperf_cpu *cpu)
{
	struct guest_perf_page *page = &cpu->area->page;

	/* What a host side from before may still have, under the same ids. */
	pvperf_call_detach();
	if (pvperf_call_attach(__pa(page)))
		return false;
	if (cpu->epoch != READ_ONCE(page->epoch))
		pvperf_nmi_new_host(cpu);
	cpu->epoch = READ_ONCE(page->epoch);
	cpu->attached = true;
	return true;
}

static unsigned long pvperf_cpu_slots(struct pvperf_cpu *cpu,
				      bool (*match)(const struct pvperf_slot *slot))
{
	unsigned long slots = 0;
	int s;

	for (s = 0; s < PVPERF_SLOTS; s++)
		if (match(&cpu->slot[s]))
			__set_bit(s, &slots);
	return slots;
}

static bool pvperf_cpu_slot_used(const struct pvperf_slot *slot)
{
	return READ_ONCE(slot->event);
}

static bool pvperf_cpu_slot_open(const struct pvperf_slot *slot)
{
	return READ_ONCE(slot->open);
}

/* All that is in a slot has to be opened. Atomic, as NMIs set bits, too. */
static void pvperf_cpu_soil(struct pvperf_cpu *cpu)
{
	unsigned long used = pvperf_cpu_slots(cpu, pvperf_cpu_slot_used);
	int s;

	pvperf_for_each_slot(s, used)
		set_bit(s, &cpu->dirty);
}

/* The host has nothing of us. */
static void pvperf_cpu_release(struct pvperf_cpu *cpu)
{
	struct pvperf_slot *slot;

	for (slot = cpu->slot; slot < cpu->slot + PVPERF_SLOTS; slot++) {
		pvperf_account_lost(cpu, slot);
		slot->open = false;
		pvperf_cpu_slot_turn(cpu, slot, false);
		slot->begins = false;
	}
	cpu->idling = cpu->stale = cpu->fresh = 0;
	cpu->attached = false;
	cpu->lost = false;
	pvperf_cpu_soil(cpu);
}

void pvperf_cpu_forget(struct pvperf_cpu *cpu)
{
	pvperf_cpu_release(cpu);
	atomic_inc(&pvperf_cpu_losses);
}

bool pvperf_cpu_serving(struct pvperf_cpu *cpu)
{
	if (cpu->attached && !pvperf_cpu_gone(cpu))
		return true;
	if (cpu->attached)
		pvperf_cpu_forget(cpu);
	/* At once the first time, for a host that forgot; then now and then. */
	if (!cpu->online || time_before(jiffies, cpu->retry))
		return false;
	cpu->retry = jiffies + PVPERF_CPU_RETRY;
	if (pvperf_caps_discover() || !pvperf_cpu_attach(cpu))
		return false;
	pvperf_cpu_soil(cpu);
	return true;
}

static void pvperf_cpu_up(void *unused)
{
	struct pvperf_cpu *cpu = pvperf_cpu_this();

	if (!cpu->area || pvperf_cpu_asleep)
		return;
	cpu->online = true;
	cpu->retry = jiffies;
	pvperf_batch_flush(cpu);
}

static void pvperf_cpu_down(void *unused)
{
	struct pvperf_cpu *cpu = pvperf_cpu_this();

	if (!cpu->online)
		return;
	/* The last word about what counts, while there is one to give it. */
	cpu->reading = cpu->on;
	pvperf_batch_flush(cpu);
	cpu->online = false;
	if (!cpu->attached)
		return;
	pvperf_cpu_release(cpu);
	pvperf_call_detach();
}

/* An NMI wanted something of its slots changed. */
static void pvperf_cpu_work(struct irq_work *work)
{
	pvperf_batch_flush(container_of(work, struct pvperf_cpu, work));
}

/* ---------------------------------------------------------------- hotplug */

static int pvperf_cpu_online(unsigned int nr)
{
	struct pvperf_cpu *cpu = per_cpu_ptr(pvperf_cpus, nr);
	struct page *area;

	if (!cpu->area) {
		area = alloc_pages_node(cpu_to_node(nr), GFP_KERNEL | __GFP_ZERO,
					get_order(sizeof(*cpu->area)));
		if (!area)
			return -ENOMEM;
		cpu->area = page_address(area);
	}
	local_irq_disable();
	pvperf_cpu_up(NULL);
	local_irq_enable();
	return 0;
}

static int pvperf_cpu_offline(unsigned int nr)
{
	local_irq_disable();
	pvperf_cpu_down(NULL);
	local_irq_enable();
	return 0;
}

void pvperf_cpu_suspend(void)
{
	cpus_read_lock();
	pvperf_cpu_asleep = true;
	on_each_cpu(pvperf_cpu_down, NULL, 1);
	cpus_read_unlock();
}

void pvperf_cpu_resume(void)
{
	cpus_read_lock();
	pvperf_cpu_asleep = false;
	on_each_cpu(pvperf_cpu_up, NULL, 1);
	cpus_read_unlock();
}

/* ------------------------------------------------------------------ watch */

/* What runs on for nobody since the last look has done so long enough. */
static void pvperf_cpu_stop_stale(struct pvperf_cpu *cpu)
{
	unsigned long stale = cpu->stale;
	int s;

	cpu->idling &= ~stale;
	cpu->stale = cpu->idling;
	pvperf_for_each_slot(s, stale)
		set_bit(s, &cpu->dirty);
}

/*
 * An event that only counts, or whose host side has been replaced (migration),
 * makes nobody notice for long; so one of each CPU is read now and then.
 */
static void pvperf_cpu_check(void *unused)
{
	struct pvperf_cpu *cpu = pvperf_cpu_this();

	cpu->reading |= cpu->on & -cpu->on;
	pvperf_cpu_stop_stale(cpu);
	cpu->crowded = false;
	/* What the host could not start or open may go now. */
	pvperf_cpu_soil(cpu);
	pvperf_batch_flush(cpu);
}

static void pvperf_cpu_idle(void *unused)
{
	struct pvperf_cpu *cpu = pvperf_cpu_this();

	cpu->crowded = false;
	pvperf_slot_close_idle(cpu);
	pvperf_batch_flush(cpu);
}

/* A look at another CPU's: as good as any moment's. */
static bool pvperf_cpu_has_used(int nr, void *unused)
{
	struct pvperf_cpu *cpu = per_cpu_ptr(pvperf_cpus, nr);

	return READ_ONCE(cpu->idling) ||
	       pvperf_cpu_slots(cpu, pvperf_cpu_slot_used);
}

static bool pvperf_cpu_has_open(int nr, void *unused)
{
	return pvperf_cpu_slots(per_cpu_ptr(pvperf_cpus, nr), pvperf_cpu_slot_open);
}

static bool pvperf_cpu_unserved(void)
{
	const struct pvperf_cpu *cpu;
	int nr;

	for_each_online_cpu(nr) {
		cpu = per_cpu_ptr(pvperf_cpus, nr);
		if (READ_ONCE(cpu->online) && !READ_ONCE(cpu->attached))
			return true;
	}
	return false;
}

static void pvperf_cpu_tell(void)
{
	static bool told_gone;
	static int told;
	int losses = atomic_read(&pvperf_cpu_losses);
	bool gone = pvperf_cpu_unserved();

	if (losses == told && gone == told_gone)
		return;
	if (gone && !told_gone)
		pr_info("the host side has gone; events don't count until it returns\n");
	else if (!gone)
		pr_info("the host side is back\n");
	told = losses;
	told_gone = gone;
}

static void pvperf_cpu_watch_work(struct work_struct *work);
static DECLARE_DELAYED_WORK(pvperf_cpu_watching, pvperf_cpu_watch_work);

static void pvperf_cpu_watch_work(struct work_struct *work)
{
	bool needed = atomic_read(&pvperf_cpu_events);

	cpus_read_lock();
	on_each_cpu_cond(needed ? pvperf_cpu_has_used : pvperf_cpu_has_open,
			 needed ? pvperf_cpu_check : pvperf_cpu_idle, NULL, true);
	cpus_read_unlock();
	pvperf_cpu_tell();
	if (needed)
		schedule_delayed_work(&pvperf_cpu_watching, PVPERF_CPU_WATCH);
}

void pvperf_cpu_watch(void)
{
	if (atomic_inc_return(&pvperf_cpu_events) == 1)
		schedule_delayed_work(&pvperf_cpu_watching, PVPERF_CPU_WATCH);
}

void pvperf_cpu_unwatch(void)
{
	atomic_dec(&pvperf_cpu_events);
}

/* ---------------------------------------------------------- init and exit */

int pvperf_cpu_init(void)
{
	int nr;

	pvperf_cpus = alloc_percpu(struct pvperf_cpu);
	if (!pvperf_cpus)
		return -ENOMEM;
	for_each_possible_cpu(nr)
		per_cpu_ptr(pvperf_cpus, nr)->work =
			IRQ_WORK_INIT_HARD(pvperf_cpu_work);
	return 0;
}

void pvperf_cpu_exit(void)
{
	struct pvperf_cpu *cpu;
	int nr;

	for_each_possible_cpu(nr) {
		cpu = per_cpu_ptr(pvperf_cpus, nr);
		irq_work_sync(&cpu->work);
		free_pages((unsigned long)cpu->area, get_order(sizeof(*cpu->area)));
	}
	free_percpu(pvperf_cpus);
}

int pvperf_cpu_start(void)
{
	int state = cpuhp_setup_state(CPUHP_AP_ONLINE_DYN, "perf/x86/pvperf:online",
				      pvperf_cpu_online, pvperf_cpu_offline);

	if (state < 0)
		return state;
	pvperf_cpu_state = state;
	if (!pvperf_cpu_unserved())
		return 0;
	pr_err("the host refuses to attach a CPU: not loaded\n");
	cpuhp_remove_state(pvperf_cpu_state);
	return -ENODEV;
}

void pvperf_cpu_stop(void)
{
	cancel_delayed_work_sync(&pvperf_cpu_watching);
	cpuhp_remove_state(pvperf_cpu_state);
}
