/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _PVPERF_GUEST_SLOT_H
#define _PVPERF_GUEST_SLOT_H

#include <linux/bitops.h>
#include <linux/kvm_pvperf.h>
#include <linux/perf_event.h>

struct pvperf_cpu;

#define PVPERF_SLOTS	KVM_PERF_EVENTS_MAX	/* one bit each in .pending */

/* The slots of a set, as it is when this begins; for_each_set_bit() costs thrice that. */
#define pvperf_for_each_slot(s, set)						\
	for (unsigned long __left = (set);					\
	     __left && ((s) = __ffs(__left), true); __left &= __left - 1)

/* What the host counts. Events alike in this can follow each other in a slot. */
struct pvperf_key {
	u32 type;
	u32 flags;
	u64 config;
	bool sampling;
};

/*
 * A counter of a CPU's. Its host event, once open, stays so when its perf_event
 * has gone, for the next one of the same key. Touched on its CPU only, with
 * IRQs off; NMIs read .event and .leaving, and write .armed, .rearm, .halted.
 */
struct pvperf_slot {
	struct pvperf_key key;
	struct perf_event *event;	/* whose it is */
	struct perf_event *leaving;	/* whose it was until the coming flush */
	u64 armed;	/* the sampling period that runs at the host */
	int error;	/* of the last OPEN */
	bool open;	/* the host has it */
	bool on;	/* the host counts, for nobody if there's no event */
	bool begins;	/* on when .event came: counts from its READ or DISABLE */
	bool rearm;	/* start the period anew */
	bool halted;	/* throttled: no samples, though the host counts on */
	bool close;	/* for another key, or for good */
	bool trial;	/* open it without an event */
};

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

/*
 * Would the host open it? 0 if so or if there's no telling, or -KVM_E*. @slot: where it
 * is open then, to be looked at first; else left as it is.
 */
int pvperf_slot_try(const struct pvperf_key *key, int *slot);

#endif /* _PVPERF_GUEST_SLOT_H */
