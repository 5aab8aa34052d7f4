/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _PVPERF_GUEST_SLOT_H
#define _PVPERF_GUEST_SLOT_H

#include <linux/perf_event.h>
#include "state.h"

static inline bool pvperf_key_equal(const struct pvperf_key *a,
				    const struct pvperf_key *b)
{
	return a->type == b->type && a->flags == b->flags &&
	       a->config == b->config && a->sampling == b->sampling;
}

/* Nobody's, and counts for @key: who takes it has nothing to ask for but a READ. */
static inline bool pvperf_slot_is_ready(const struct pvperf_slot *slot,
					const struct pvperf_key *key)
{
	return slot->on && !slot->event && !slot->leaving && !slot->close &&
	       !slot->rearm && pvperf_key_equal(&slot->key, key);
}

/* All with IRQs off, on @cpu. */

/* A slot that @event can have now, or -1. @last: the one that it had last. */
int pvperf_slot_find(struct pvperf_cpu *cpu, const struct pvperf_key *key,
		     struct perf_event *event, int last);
/*
 * Gives slot @s to @key, and whatever it still held back to the host. If it counts
 * for @key already it stays clean.
 */
void pvperf_slot_claim(struct pvperf_cpu *cpu, int s, const struct pvperf_key *key);
/* Marks all that nobody uses to be closed at the next flush. */
void pvperf_slot_close_idle(struct pvperf_cpu *cpu);

/* All that is in a slot has to be opened. */
void pvperf_slot_mark_dirty(struct pvperf_cpu *cpu);

/* Sets of slots: with an event; open at the host. Of another CPU, too: a guess then. */
unsigned long pvperf_slot_all_used(struct pvperf_cpu *cpu);
unsigned long pvperf_slot_all_open(struct pvperf_cpu *cpu);

#endif /* _PVPERF_GUEST_SLOT_H */
