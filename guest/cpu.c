// SPDX-License-Identifier: GPL-2.0
/*
 * Hotplug and suspend of CPUs. A CPU gets the memory that it shares with the host when
 * it first comes online, if there is some. Calls link.h and batch.h; knows nothing of perf. The
 * invariant: a CPU detaches before it goes offline, before it sleeps, and before the
 * module leaves.
 */
#define pr_fmt(fmt) "pvperf_guest: " fmt

#include <linux/cpu.h>
#include <linux/cpumask.h>
#include <linux/gfp.h>
#include <linux/list.h>
#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/slab.h>
#include <linux/smp.h>
#include <linux/topology.h>
#include "batch.h"
#include "cpu.h"
#include "link.h"
#include "state.h"

struct pvperf_cpu __percpu *pvperf_cpus;

static enum cpuhp_state hotplug_state;
static bool asleep;		/* between suspend and resume */

/*
 * The memory that CPUs share with the host. The host pins it, and a pin holds the whole huge
 * page around it: so the areas of a node's CPUs lie next to each other. A block of them is
 * allocated for the present CPUs of a node, BLOCK_MAX at most, when the first of them comes
 * online, and a smaller block for CPUs that are added later.
 */

/* The areas of so many CPUs fill a huge page. */
#define BLOCK_MAX	(PMD_SIZE / sizeof(struct pvperf_area))

struct block {
	struct list_head list;
	struct pvperf_area *area;
	unsigned int order;
	int node;
	unsigned int taken, n;
};

static LIST_HEAD(blocks);	/* CPUs come online one at a time */

static unsigned int cpus_without(int node)
{
	unsigned int n = 0;
	int nr;

	for_each_present_cpu(nr)
		n += cpu_to_node(nr) == node && !per_cpu_ptr(pvperf_cpus, nr)->area;
	return clamp(n, 1U, (unsigned int)BLOCK_MAX);
}

static struct page *block_pages(struct block *block)
{
	block->order = get_order(block->n * sizeof(*block->area));
	return alloc_pages_node(block->node, GFP_KERNEL | __GFP_ZERO | __GFP_NOWARN,
				block->order);
}

static struct block *block_new(int node)
{
	struct block *block = kzalloc(sizeof(*block), GFP_KERNEL);
	struct page *pages;

	if (!block)
		return NULL;
	block->node = node;
	block->n = cpus_without(node);
	pages = block_pages(block);
	if (!pages && block->n > 1) {
		/* Memory is fragmented: the host may hold more than it would. */
		block->n = 1;
		pages = block_pages(block);
	}
	if (!pages) {
		kfree(block);
		return NULL;
	}
	block->area = page_address(pages);
	list_add(&block->list, &blocks);
	return block;
}

static struct block *block_find(int node)
{
	struct block *block;

	list_for_each_entry(block, &blocks, list)
		if (block->node == node && block->taken < block->n)
			return block;
	return block_new(node);
}

static struct pvperf_area *area_alloc(unsigned int nr)
{
	struct block *block = block_find(cpu_to_node(nr));

	return block ? &block->area[block->taken++] : NULL;
}

static void areas_free(void)
{
	struct block *block, *next;

	list_for_each_entry_safe(block, next, &blocks, list) {
		free_pages((unsigned long)block->area, block->order);
		kfree(block);
	}
	INIT_LIST_HEAD(&blocks);
}

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
		cpu->area = area_alloc(nr);
	/* Later the CPU is worth more than its counts. */
	if (!cpu->area && hotplug_state)
		pr_notice("no memory for CPU %u, so no event counts there\n", nr);
	if (!cpu->area)
		return hotplug_state ? 0 : -ENOMEM;
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
	areas_free();
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
