/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _PVPERF_GUEST_IDLE_H
#define _PVPERF_GUEST_IDLE_H

/*
 * An idle host event: one that runs on when its perf_event leaves. The next perf_event
 * takes the difference of two counts. Two READs cost the host far less than a DISABLE
 * and an ENABLE, and a task that has just left is often back soon.
 */

#include "caps.h"
#include "state.h"

/* All with IRQs off, on @cpu. */

/* Do all wanted and all idle events fit, and one that needs @more? */
bool pvperf_idle_fits(const struct pvperf_cpu *cpu, u64 more);

/*
 * May the host event of @slot run on? Not if it samples or is apart, if the host has too few
 * counters for it and all wanted events, or if the host has just shown that it uses some counters
 * itself. The watch stops it after a few seconds.
 */
static inline bool pvperf_idle_may(const struct pvperf_cpu *cpu,
				   const struct pvperf_slot *slot)
{
	if (!slot->on || slot->close || cpu->counters.scarce ||
	    slot->key.how & PVPERF_KEY_RESTLESS || slot->key.type == KVM_PERF_TYPE_SOFTWARE)
		return false;
	/* Nearly always they fit by number, and then it does not matter what kinds they are. */
	return (!cpu->set.odd && hweight_long(cpu->set.on) <= pvperf_caps.counters.general) ||
	       pvperf_idle_fits(cpu, slot->key.need);
}

/* Wanted events come before idle ones: makes those dirty that do not fit. */
void pvperf_idle_make_room(struct pvperf_cpu *cpu);

/* All wanted and idle events were seen to count at the same time. */
void pvperf_idle_show(struct pvperf_cpu *cpu);

/* Were as many events seen to count at the same time not long ago? */
bool pvperf_idle_is_shown(const struct pvperf_cpu *cpu);

/*
 * There may be enough counters by number, but counters are not alike: some events fit in few of
 * them, or take two; and the host has uses of its own. Only the host knows which events fit, so
 * when an event starves all idle ones stop. In a flush.
 */

/*
 * Events that may just have lost their counter to one of @dirty that has begun: perf core at
 * the host schedules all events anew then. 0 if none idles.
 */
static inline unsigned long pvperf_starve_suspects(const struct pvperf_cpu *cpu,
						   unsigned long dirty)
{
	if (likely(!cpu->set.idling) || !(dirty & cpu->set.on) || pvperf_idle_is_shown(cpu))
		return 0;
	return cpu->set.on & ~(cpu->set.idling | cpu->apart.slots);
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

/*
 * The batch of pvperf_starve_make_room() has freed counters: what @slots have lost since @began (0:
 * not known) is not told as lost, as our own idle events had the counters.
 */
void pvperf_starve_excuse(struct pvperf_cpu *cpu, unsigned long slots, u64 began);

#endif /* _PVPERF_GUEST_IDLE_H */
