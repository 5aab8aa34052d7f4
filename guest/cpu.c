// SPDX-License-Identifier: GPL-2.0
/*
 * The CPUs: the memory that each shares with the host, from the time it is first
 * online; hotplug, suspend, and the watch for a host that went. Calls link.h and
 * batch.h; knows nothing of perf but that there are events. The invariant: a CPU
 * that goes offline, sleeps, or sees the module leave, says so to the host before.
 */
#define pr_fmt(fmt) "pvperf_guest: " fmt

#include <linux/cpu.h>
#include <linux/gfp.h>
#include <linux/smp.h>
#include <linux/topology.h>
#include <linux/workqueue.h>
#include "batch.h"
#include "cpu.h"
#include "link.h"
#include "slot.h"
#include "state.h"

#define PVPERF_CPU_WATCH	HZ

struct pvperf_cpu __percpu *pvperf_cpus;

static enum cpuhp_state pvperf_cpu_state;
static bool pvperf_cpu_asleep;		/* between suspend and resume */
static atomic_t pvperf_cpu_events;	/* perf_events that exist */

/* ------------------------------------------------- with IRQs off, this CPU */

static void pvperf_cpu_up(void *unused)
{
	struct pvperf_cpu *cpu = pvperf_cpu_this();

	if (!cpu->area || pvperf_cpu_asleep)
		return;
	pvperf_link_begin(cpu);
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
	pvperf_link_end(cpu);
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
	pvperf_slot_soil(cpu);
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

	return READ_ONCE(cpu->idling) || pvperf_slot_all_used(cpu);
}

static bool pvperf_cpu_has_open(int nr, void *unused)
{
	return pvperf_slot_all_open(per_cpu_ptr(pvperf_cpus, nr));
}

static void pvperf_cpu_tell(void)
{
	static bool told_gone;
	static int told;
	int losses = pvperf_link_losses();
	bool gone = pvperf_link_any_down();

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
	if (!pvperf_link_any_down())
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
