// SPDX-License-Identifier: GPL-2.0
/*
 * Counters for idle host events: which of them fit besides the wanted ones. Marks slots
 * dirty; makes no call. The invariant: a wanted event never waits for an idle one, as
 * far as the guest can know.
 */
#include <linux/bitops.h>
#include <linux/jiffies.h>
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
