/* SPDX-License-Identifier: GPL-2.0 */
#ifndef BENCH_ALLOCS_H
#define BENCH_ALLOCS_H

/*
 * The kernel memory that this thread's system calls allocate and keep, from the tracepoints
 * of slab and percpu allocations. Sizes are those that the allocator returns, not those
 * that were asked for. Pages belong to slabs, so they are not counted again.
 */
struct allocs {
	long ours;		/* bytes asked for by pvperf_host */
	long tree;		/* by xarrays, of which only pvperf_host's grow here */
	long perf;		/* by perf_event_alloc(): struct perf_event */
	long rest;		/* perf's contexts, and whatever else */
};

/* Both return 0 or -errno; each begin needs its end. */
int allocs_begin(void);
int allocs_end(struct allocs *a);

static inline long allocs_sum(const struct allocs *a)
{
	return a->ours + a->tree + a->perf + a->rest;
}

#endif /* BENCH_ALLOCS_H */
