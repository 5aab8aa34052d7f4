// SPDX-License-Identifier: GPL-2.0
/*
 * Counters for idle host events: which of them fit besides the wanted ones, and which events
 * starve while others idle. Marks slots dirty; makes no call. The invariant: a wanted event never
 * waits for an idle one, as far as the guest can know.
 */
#include <linux/bitops.h>
#include <linux/jiffies.h>
#include <linux/minmax.h>
#include <linux/sched/clock.h>
#include "caps.h"
#include "counters.h"
#include "idle.h"
#include "state.h"

/* The host's own use of counters seldom changes; jiffies. */
#define PVPERF_IDLE_SHOWN	(HZ / 10)

static u64 idle_need(const struct pvperf_cpu *cpu)
{
	unsigned long idling = cpu->set.idling;
	u64 need = 0;
	int s;

	pvperf_for_each_slot(s, idling)
		need += cpu->slot[s].key.need;
	return need;
}

bool pvperf_idle_fits(const struct pvperf_cpu *cpu, u64 more)
{
	u64 need = cpu->counters.used + more;

	if (!cpu->set.odd && pvperf_counters_sum(need) + hweight_long(cpu->set.idling) <=
			     pvperf_caps.counters.general)
		return true;
	return pvperf_counters_fit(&pvperf_caps.counters, need + idle_need(cpu));
}

void pvperf_idle_make_room(struct pvperf_cpu *cpu)
{
	unsigned long idling = cpu->set.idling;
	u64 need = cpu->counters.used, more;
	int s;

	if (!cpu->counters.scarce && pvperf_idle_fits(cpu, 0))
		return;
	pvperf_for_each_slot(s, idling) {
		more = need + cpu->slot[s].key.need;
		if (!cpu->counters.scarce && pvperf_counters_fit(&pvperf_caps.counters, more))
			need = more;
		else
			set_bit(s, &cpu->set.dirty);
	}
}

static u32 all_need(const struct pvperf_cpu *cpu)
{
	return pvperf_counters_sum(cpu->counters.used + idle_need(cpu));
}

void pvperf_idle_show(struct pvperf_cpu *cpu)
{
	cpu->counters.shown = all_need(cpu);
	cpu->counters.shown_until = jiffies + PVPERF_IDLE_SHOWN;
}

bool pvperf_idle_is_shown(const struct pvperf_cpu *cpu)
{
	return time_before(jiffies, cpu->counters.shown_until) &&
	       !cpu->set.odd && all_need(cpu) <= cpu->counters.shown;
}

void pvperf_starve_watch(struct pvperf_cpu *cpu, unsigned long slots)
{
	struct pvperf_event *p;
	int s;

	pvperf_for_each_slot(s, slots) {
		p = pvperf_event_of(cpu->slot[s].event);
		p->lost_before = p->lost;
	}
	cpu->starve.began = local_clock();
}

void pvperf_starve_find(struct pvperf_cpu *cpu, unsigned long slots)
{
	int s;

	pvperf_for_each_slot(s, slots & cpu->set.on)
		if (READ_ONCE(cpu->area->event[s].state) != KVM_PERF_STATE_COUNTING)
			__set_bit(s, &cpu->starve.slots);
	if (cpu->starve.slots)
		return;
	cpu->starve.began = 0;
	pvperf_idle_show(cpu);
}

/* Takes the set of starved slots with events that should count. */
static unsigned long starve_take(struct pvperf_cpu *cpu)
{
	unsigned long all = cpu->starve.slots, starved = 0;
	int s;

	cpu->starve.slots = 0;
	pvperf_for_each_slot(s, all)
		if (pvperf_event_wanted(&cpu->slot[s]))
			__set_bit(s, &starved);
	return starved;
}

/* Of an event that has not run the books begin anew, too. */
static void starve_begin_again(struct pvperf_cpu *cpu, int s)
{
	struct pvperf_slot *slot = &cpu->slot[s];

	WRITE_ONCE(slot->begins, pvperf_event_has_run(pvperf_event_of(slot->event)) ?
				 PVPERF_BEGUN : PVPERF_BEGINS_READ);
	slot->rearm = true;
	pvperf_event_of(slot->event)->refused = 0;	/* elsewhere, perhaps: here it is open */
	set_bit(s, &cpu->set.dirty);
}

unsigned long pvperf_starve_make_room(struct pvperf_cpu *cpu)
{
	unsigned long starved = starve_take(cpu), idling = cpu->set.idling;
	int s;

	cpu->starve.began = 0;
	if (!starved || !idling || cpu->batch.lost)
		return 0;
	cpu->set.idling = cpu->set.stale = 0;
	pvperf_for_each_slot(s, idling)
		set_bit(s, &cpu->set.dirty);
	pvperf_for_each_slot(s, starved)
		starve_begin_again(cpu, s);
	/* Events that leave from now on would be in the way again. */
	cpu->counters.scarce = true;
	return starved;
}

/*
 * The event lost its counter in this flush, which took @time so far, and has it again. It has
 * lost nothing if it had the counter before: the guest has not run since.
 */
static void starve_excuse_event(struct pvperf_event *p, u64 time)
{
	if (p->lost - p->lost_before > time)
		return;
	p->lost = p->lost_before;
	/* If it has not run, its books began anew in this flush. */
	p->level_lost = min(p->level_lost, p->lost);
}

void pvperf_starve_excuse(struct pvperf_cpu *cpu, unsigned long slots, u64 began)
{
	int s;

	/* Nothing idles any more: what starves now has to wait. */
	cpu->starve.slots = 0;
	if (began)
		pvperf_for_each_slot(s, slots)
			starve_excuse_event(pvperf_event_of(cpu->slot[s].event),
					    cpu->batch.now - began);
}
