// SPDX-License-Identifier: GPL-2.0
/*
 * Finds events that starve while others idle, and has the idle ones stop. Calls account.h
 * for the time that an event seems to have lost meanwhile.
 */
#include <linux/bitops.h>
#include <linux/sched/clock.h>
#include "account.h"
#include "starve.h"

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

/* If it never ran, its books begin anew, too. */
static void starve_begin_again(struct pvperf_cpu *cpu, int s)
{
	struct pvperf_slot *slot = &cpu->slot[s];

	WRITE_ONCE(slot->begins, !pvperf_event_has_run(pvperf_event_of(slot->event)));
	slot->rearm = true;
	set_bit(s, &cpu->set.dirty);
}

unsigned long pvperf_starve_make_room(struct pvperf_cpu *cpu)
{
	unsigned long starved = starve_take(cpu), idling = cpu->set.idling;
	int s;

	cpu->starve.began = 0;
	if (!starved || !idling || cpu->link.lost)
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

void pvperf_starve_excuse(struct pvperf_cpu *cpu, unsigned long slots, u64 began)
{
	int s;

	/* Nothing idles any more: what starves now has to wait. */
	cpu->starve.slots = 0;
	if (began)
		pvperf_for_each_slot(s, slots)
			pvperf_account_excuse(cpu->slot[s].event, cpu->batch.now - began);
}
