// SPDX-License-Identifier: GPL-2.0
/*
 * Allocates a block of areas for the present CPUs of a node when the first of them comes
 * online, and a block of one for a CPU that is added later. Knows neither perf nor the
 * host.
 */
#include <linux/cpumask.h>
#include <linux/gfp.h>
#include <linux/list.h>
#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/slab.h>
#include <linux/topology.h>
#include "area.h"
#include "state.h"

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

struct pvperf_area *pvperf_area_alloc(unsigned int nr)
{
	struct block *block = block_find(cpu_to_node(nr));

	return block ? &block->area[block->taken++] : NULL;
}

void pvperf_area_exit(void)
{
	struct block *block, *next;

	list_for_each_entry_safe(block, next, &blocks, list) {
		free_pages((unsigned long)block->area, block->order);
		kfree(block);
	}
	INIT_LIST_HEAD(&blocks);
}
