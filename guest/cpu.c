// SPDX-License-Identifier: GPL-2.0
/*
 * Hotplug and suspend of CPUs. A CPU gets the memory that it shares with the host when
 * it first comes online. Calls link.h and batch.h; knows nothing of perf. The
 * invariant: a CPU detaches before it goes offline, before it sleeps, and before the
 * module leaves.
 */
#define pr_fmt(fmt) "pvperf_guest: " fmt

#include <linux/cpu.h>
#include <linux/smp.h>
#include "area.h"
#include "batch.h"
#include "cpu.h"
#include "link.h"
#include "state.h"

struct pvperf_cpu __percpu *pvperf_cpus;

static enum cpuhp_state hotplug_state;
static bool asleep;		/* between suspend and resume */

/* With IRQs off, on the CPU to attach, detach or flush. */

static void cpu_begin_here(void *unused)
{
	struct pvperf_cpu *cpu = pvperf_cpu_this();

	if (!cpu->area || asleep)
		return;
	pvperf_link_begin(cpu);
	pvperf_batch_flush(cpu);
}

static void cpu_end_here(void *unused)
{
	struct pvperf_cpu *cpu = pvperf_cpu_this();

	if (!cpu->link.online)
		return;
	/* The last counts, while there is a host that has them. */
	cpu->set.reading = cpu->set.on;
	pvperf_batch_flush(cpu);
	pvperf_link_end(cpu);
}

/* An NMI has marked slots dirty. */
static void cpu_flush_here(struct irq_work *work)
{
	pvperf_batch_flush(container_of(work, struct pvperf_cpu, batch.work));
}

static int cpu_online_here(unsigned int nr)
{
	struct pvperf_cpu *cpu = per_cpu_ptr(pvperf_cpus, nr);
	bool left_out;

	if (!cpu->area)
		cpu->area = pvperf_area_alloc(nr);
	if (!cpu->area)
		return -ENOMEM;
	local_irq_disable();
	cpu_begin_here(NULL);
	left_out = pvperf_link_is_down(cpu, false);
	local_irq_enable();
	if (left_out)
		pr_notice("the host does not attach CPU %u, so no event counts there yet: it is not there now, or its limit of pages for this VM is reached (max_pages)\n",
			  nr);
	return 0;
}

static int cpu_offline_here(unsigned int nr)
{
	local_irq_disable();
	cpu_end_here(NULL);
	local_irq_enable();
	return 0;
}

void pvperf_cpu_suspend(void)
{
	cpus_read_lock();
	asleep = true;
	on_each_cpu(cpu_end_here, NULL, 1);
	cpus_read_unlock();
}

void pvperf_cpu_resume(void)
{
	cpus_read_lock();
	asleep = false;
	on_each_cpu(cpu_begin_here, NULL, 1);
	cpus_read_unlock();
}

int pvperf_cpu_init(void)
{
	int nr;

	pvperf_cpus = alloc_percpu(struct pvperf_cpu);
	if (!pvperf_cpus)
		return -ENOMEM;
	for_each_possible_cpu(nr)
		per_cpu_ptr(pvperf_cpus, nr)->batch.work =
			IRQ_WORK_INIT_HARD(cpu_flush_here);
	return 0;
}

void pvperf_cpu_exit(void)
{
	int nr;

	for_each_possible_cpu(nr)
		irq_work_sync(&per_cpu_ptr(pvperf_cpus, nr)->batch.work);
	pvperf_area_exit();
	free_percpu(pvperf_cpus);
}

int pvperf_cpu_start(void)
{
	int state = cpuhp_setup_state(CPUHP_AP_ONLINE_DYN, "perf/x86/pvperf:online",
				      cpu_online_here, cpu_offline_here);

	if (state < 0)
		return state;
	hotplug_state = state;
	if (!pvperf_link_any_down(false))
		return 0;
	pr_err("the host refuses to attach a CPU; not loading\n");
	cpuhp_remove_state(hotplug_state);
	return -ENODEV;
}

void pvperf_cpu_stop(void)
{
	cpuhp_remove_state(hotplug_state);
}
