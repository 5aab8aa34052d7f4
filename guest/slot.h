/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _PVPERF_GUEST_SLOT_H
#define _PVPERF_GUEST_SLOT_H

#include <linux/atomic.h>
#include <linux/perf_event.h>
#include "state.h"

/*
 * The number of the round in which the host is asked: one ends with the watch's second, and when a
 * CPU loses its host. What the host has refused it is asked for in another round: too many OPENs
 * make it stop the vCPU.
 */
extern atomic_t pvperf_slot_round;
/* The last one in which the host had no room for an event. */
extern int pvperf_slot_full;

static inline bool pvperf_key_equal(const struct pvperf_key *a,
				    const struct pvperf_key *b)
{
	return a->what == b->what && a->how == b->how && a->config == b->config;
}

/* Is @slot free while its host event counts for @key? The next user only needs a READ. */
static inline bool pvperf_slot_is_ready(const struct pvperf_slot *slot,
					const struct pvperf_key *key)
{
	return slot->on && !slot->event && !slot->leaving && !slot->close &&
	       !slot->rearm && pvperf_key_equal(&slot->key, key);
}

/* Has the host refused the slot's event in this round? */
static inline bool pvperf_slot_refused(const struct pvperf_slot *slot)
{
	int round = pvperf_event_of(slot->event)->refused;

	return unlikely(round) && round == atomic_read(&pvperf_slot_round);
}

/* With IRQs off, on @cpu, except where another context is named. */

/* Returns a slot that an event with @key can have now, or -1. Tries @last first. */
int pvperf_slot_find(struct pvperf_cpu *cpu, const struct pvperf_key *key, int last);
/*
 * Gives slot @s to @key. A host event with another key will be closed. If the host
 * event counts for @key already, the slot does not become dirty.
 */
void pvperf_slot_claim(struct pvperf_cpu *cpu, int s, const struct pvperf_key *key);
/* The slots with a host event that no perf_event uses. */
unsigned long pvperf_slot_unused(const struct pvperf_cpu *cpu);
/* Has the next flush close the host events of @slots. */
void pvperf_slot_close(struct pvperf_cpu *cpu, unsigned long slots);

/* Marks all slots with an event dirty. */
void pvperf_slot_mark_dirty(struct pvperf_cpu *cpu);

/* The slots with an event, or with a host event. A guess if @cpu is another CPU. */
unsigned long pvperf_slot_all(struct pvperf_cpu *cpu, bool open);

#endif /* _PVPERF_GUEST_SLOT_H */
