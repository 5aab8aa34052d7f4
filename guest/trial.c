// SPDX-License-Identifier: GPL-2.0
/*
 * Finds out whether the host would open an event: opens it, in a slot of this CPU that
 * has no perf_event. Calls slot.h for the slot and batch.h for the OPEN. The invariant:
 * a host event opened here is idle, so a perf_event takes it over or the watch closes
 * it.
 */
#define pr_fmt(fmt) "pvperf_guest: " fmt

#include <linux/irqflags.h>
#include <linux/printk.h>
#include "batch.h"
#include "link.h"
#include "slot.h"
#include "state.h"
#include "trial.h"

static int trial_here(struct pvperf_cpu *cpu, const struct pvperf_key *key,
		      int *found)
{
	struct pvperf_slot *slot;
	int s;

	for (s = 0; s < PVPERF_SLOTS; s++)
		if (cpu->slot[s].open && pvperf_key_equal(&cpu->slot[s].key, key)) {
			*found = s;
			return 0;
		}
	s = cpu->link.online ? pvperf_slot_find(cpu, key, NULL, 0) : -1;
	if (s < 0)
		return 0;
	*found = s;
	slot = &cpu->slot[s];
	slot->error = 0;
	slot->trial = true;
	pvperf_slot_claim(cpu, s, key);
	pvperf_batch_flush(cpu);
	slot->trial = false;
	if (slot->error)
		__clear_bit(s, &cpu->set.odd);
	return slot->error;
}

int pvperf_trial_open(const struct pvperf_key *key, int *slot)
{
	unsigned long flags;
	int err;

	local_irq_save(flags);
	err = trial_here(pvperf_cpu_this(), key, slot);
	local_irq_restore(flags);
	if (err == -KVM_EOPNOTSUPP)
		pr_notice_once("the host has lent out its PMU (mediated vPMU): no hardware event counts until it is back\n");
	if (err == -KVM_EUSERS)
		pr_notice_once("this VM counts only while no other VM does (access=exclusive at the host), and others count: its events begin when the others' have ended\n");
	return err;
}

/* While no event was there to notice, the host may have changed what it allows. */
void pvperf_trial_look_again(void)
{
	unsigned long flags;

	local_irq_save(flags);
	if (pvperf_link_gone(pvperf_cpu_this()))
		pvperf_batch_flush(pvperf_cpu_this());
	local_irq_restore(flags);
}
