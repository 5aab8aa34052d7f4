/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _PVPERF_GUEST_STARVE_H
#define _PVPERF_GUEST_STARVE_H

/*
 * An idle host event must not take the counter of a wanted event. There may be enough
 * counters by number, but counters are not alike: some events fit in few of them, or
 * take two; and the host has uses of its own. Only the host knows which events fit, so
 * when an event starves all idle ones stop.
 */

#include "idle.h"
#include "state.h"

/* All in a flush: with IRQs off, on @cpu. */

/*
 * Events that may just have lost their counter to one of @dirty that has begun: perf core at
 * the host schedules all events anew then. 0 if none idles.
 */
static inline unsigned long pvperf_starve_suspects(const struct pvperf_cpu *cpu,
						   unsigned long dirty)
{
	if (likely(!cpu->set.idling) || !(dirty & cpu->set.on) || pvperf_idle_is_shown(cpu))
		return 0;
	return cpu->set.on & ~(cpu->set.idling | cpu->set.whole);
}

/* @slots will be READ in this batch, to find those that starve. */
void pvperf_starve_watch(struct pvperf_cpu *cpu, unsigned long slots);

/* @slots were READ. */
void pvperf_starve_find(struct pvperf_cpu *cpu, unsigned long slots);

/*
 * Makes the slots of idle events dirty, to stop, and those of starved ones, to begin anew.
 * Returns the starved ones, or 0 if nothing idles that could stop.
 */
unsigned long pvperf_starve_make_room(struct pvperf_cpu *cpu);

/* That batch is done. What @slots have lost since @began (0: not known) was our own doing. */
void pvperf_starve_excuse(struct pvperf_cpu *cpu, unsigned long slots, u64 began);

#endif /* _PVPERF_GUEST_STARVE_H */
