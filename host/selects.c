// SPDX-License-Identifier: GPL-2.0
/*
 * An event is in the list if, on each CPU that is known to have it, it counts what one
 * hyperthread did: what it retired, decoded, issued, loaded and stored, how it translated
 * addresses, and how long it waited for that. The other hyperthread can make it slower, as it
 * can make any instruction slower, but is not itself counted.
 *
 * Not in the list: the second-level cache and what lies behind it, as seen from there (both
 * hyperthreads and the prefetcher share it; what a retired load found is in the list); snoops;
 * queues, dividers and power levels of the whole core; clocks that depend on whether the other
 * hyperthread sleeps. A select that one model uses for that is out for all models.
 *
 * checks/selects compares this with the events that perf knows by name, per CPU.
 */
#include "selects.h"

const struct pvperf_selects pvperf_selects_intel[] = {
	/* Loads and stores that wait or split, walks, the data TLB; uops that are issued. */
	{ 0x02, 0x08, 0xff }, { 0x0b, 0x0f, 0xff },
	/* Floating point, SIMD, the TLBs. */
	{ 0x10, 0x13, 0xff },
	/* The last cache, architectural; 0x10 and 0x20: by prefetchers and other cores. */
	{ 0x2e, 0, 0x4f },
	/* Prefetch instructions; 0x40 is the second-level cache. */
	{ 0x32, 0, 0x0f },
	/* What waited for memory. */
	{ 0x34, 0x35, 0xff },
	/* Cycles, architectural; 0x02 and 0x08 tell if the other hyperthread sleeps. */
	{ 0x3c, 0, 0x01 },
	/* The first-level cache as loads and stores see it; the TLB; nested pages. */
	{ 0x40, 0x44, 0xff }, { 0x47, 0x49, 0xff }, { 0x4c, 0, 0xff }, { 0x4f, 0, 0xff },
	/* Transactions, decoders, renaming; resources, rings, the scheduler. */
	{ 0x54, 0x56, 0xff }, { 0x58, 0x59, 0xff }, { 0x5b, 0x5f, 0xff },
	/* Slots, top-down. */
	{ 0x71, 0x74, 0xff },
	/* The front end: fetch, its TLB, decoders, branches, slots that it left empty. */
	{ 0x79, 0, 0xff }, { 0x80, 0x83, 0xff }, { 0x85, 0x89, 0xff }, { 0x9c, 0, 0xff },
	/* Ports, resources, what cycles were lost for, clears. */
	{ 0xa0, 0xae, 0xff },
	/* Uops that were executed; from 0x02 on by the core. */
	{ 0xb1, 0, 0x01 },
	/* Walks and flushes of TLBs. */
	{ 0xbc, 0xbd, 0xff },
	/* What was retired; interrupts, assists. */
	{ 0xc0, 0xd4, 0xff },
	/* Branches, corrections of the front end; vectors that were retired. */
	{ 0xe0, 0, 0xff }, { 0xe4, 0xe9, 0xff },
	/* Pauses; 0x02 is cycles that are shared out among the hyperthreads. */
	{ 0xec, 0, 0x70 },
	/* Assists, SIMD. */
	{ 0xf7, 0, 0xff }, { 0xfd, 0, 0xff },
	{ }
};

const struct pvperf_selects pvperf_selects_amd[] = {
	/* Floating point, by pipe and retired. */
	{ 0x000, 0, 0xff }, { 0x002, 0x005, 0xff }, { 0x008, 0, 0xff }, { 0x00a, 0x00e, 0xff },
	/* Stores that loads wait for; locks, but those of the bus; flushes. */
	{ 0x024, 0, 0xff }, { 0x025, 0, 0xfe }, { 0x026, 0x027, 0xff },
	/* Loads, stores; interrupts that were taken, RDTSC. */
	{ 0x029, 0, 0xff }, { 0x02c, 0x02d, 0xff }, { 0x035, 0, 0xff }, { 0x037, 0, 0xff },
	/* Where their data was found; the TLB; prefetches. */
	{ 0x040, 0x041, 0xff }, { 0x043, 0x047, 0xff }, { 0x04b, 0, 0xff }, { 0x052, 0, 0xff },
	{ 0x059, 0x05a, 0xff }, { 0x05f, 0, 0xff },
	/* Cycles; flushes of TLBs. */
	{ 0x076, 0, 0xff }, { 0x078, 0, 0xff },
	/* The front end: fetch, its TLB, branch prediction. */
	{ 0x080, 0x085, 0xff }, { 0x087, 0, 0xff }, { 0x08a, 0x08b, 0xff }, { 0x08e, 0, 0xff },
	{ 0x091, 0, 0xff }, { 0x094, 0, 0xff }, { 0x096, 0, 0xff }, { 0x099, 0, 0xff },
	{ 0x09f, 0, 0xff },
	/* Decoders, dispatch, and what it waited for. */
	{ 0x0a9, 0x0ab, 0xff }, { 0x0ae, 0x0af, 0xff },
	/* What was retired; divisions. */
	{ 0x0c0, 0x0cc, 0xff }, { 0x0d1, 0x0d2, 0xff }, { 0x0d4, 0, 0xff },
	/* Cycles without; 0x10: the other hyperthread had its turn. */
	{ 0x0d6, 0, 0xef },
	/* Cycles at the base frequency. */
	{ 0x120, 0, 0xff },
	/* Fetch. */
	{ 0x18e, 0, 0xff },
	/* Slots that were left empty; from 0x20 on for the other hyperthread. */
	{ 0x1a0, 0, 0x1f }, { 0x1a2, 0, 0xff },
	/* What was retired. */
	{ 0x1c1, 0x1c2, 0xff }, { 0x1c7, 0x1c9, 0xff }, { 0x1d0, 0, 0xff },
	/* The cache of decoded instructions. */
	{ 0x28a, 0, 0xff }, { 0x28f, 0, 0xff },
	{ }
};

/* Bits 0 to 7 and, on AMD, 32 to 35. */
static __u16 select_of(__u64 config)
{
	return (config & 0xff) | (config >> 24 & 0xf00);
}

bool pvperf_selects_has(const struct pvperf_selects *list, __u64 config)
{
	const __u16 select = select_of(config);
	const __u8 unit = config >> 8;

	for (; list->units; list++)
		if (select == list->first || (select > list->first && select <= list->last))
			return !(unit & ~list->units);
	return false;
}
