/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PVPERF_CLOCKS_H
#define PVPERF_CLOCKS_H

/* What the host's clock events say: which map each vCPU has from when. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "map.h"

#define CPUS_MAX	4096	/* of a guest */

/* One event, pvperf_clock. */
struct clock {
	uint64_t name;		/* of the VM; its process, if only KVM's debugfs tells the clock */
	uint64_t vm;		/* its process */
	uint64_t vcpu, tid;	/* .vcpu: its APIC id, or of an old host module its index */
	uint64_t at;		/* the host's TSC */
	struct map map;
	bool by_guest;		/* who wrote it may be the guest */
};

/* How far an event's time may be from the TSC in it; of one event at least. */
#define CLOCK_APART_MAX	100000

static inline uint64_t clock_apart(uint64_t time, uint64_t tsc)
{
	return time < tsc ? tsc - time : time - tsc;
}

static inline int compare(uint64_t a, uint64_t b)
{
	return a < b ? -1 : a > b;
}

struct clocks {
	struct clock *all;
	size_t nr;
	bool by_index;		/* the host has told no APIC ids */
};

/* False if there is no room. An event that cannot be is left out. */
bool clocks_add(struct clocks *clocks, const struct clock *clock);

/* Once all are added. */
void clocks_sort(struct clocks *clocks);

/* The first of the VM's clocks, of whichever vCPU, or NULL. */
const struct clock *clocks_first(const struct clocks *clocks, uint64_t name);

/*
 * Of the VMs whose clock KVM's debugfs tells: how many are not @claimed, and one of them, whose
 * name is its process.
 */
unsigned int clocks_unclaimed(const struct clocks *clocks, bool (*claimed)(uint64_t vm), uint64_t *name);

/* Of one vCPU, in the order of time. */
struct run {
	const struct clock *now;	/* NULL: there is none */
	const struct clock *end;
	bool others;		/* they are another vCPU's */
	const struct clock *judged;	/* as far as the proof is */
};

#define APIC_UNKNOWN	UINT64_MAX	/* the guest tells none ... */
#define APIC_LOST	(UINT64_MAX - 1)	/* ... of this CPU, but of others */

/* As an event has it. A kernel without a local APIC says all ones. */
static inline uint64_t apic_of(uint64_t told)
{
	return told == 0xffff || told == 0xffffffff ? APIC_UNKNOWN : told;
}

/*
 * Of the vCPU that is the guest's @cpu, whose APIC id is @apic. Of a guest that tells none the CPUs
 * are taken to be in the order of the APIC ids, as a kernel has them that was booted as usual; with
 * an old host module, which tells none, CPU n is the vCPU with the index n.
 */
struct run clocks_run(const struct clocks *clocks, uint64_t name, unsigned int cpu, uint64_t apic);

/* The last clock that had begun when the vCPU's TSC was @tsc; moves .now there. */
const struct clock *run_at(struct run *run, uint64_t tsc);

/*
 * The thread that runs the vCPU at @at; if a call before had a later time, at that. 0: nobody says,
 * as with -t.
 */
uint64_t run_thread(struct run *run, uint64_t at);

/* Passes the clocks that say the same as .now: the next that does not, or .end. */
const struct clock *run_next(const struct run *run);

#endif /* PVPERF_CLOCKS_H */
