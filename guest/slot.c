// SPDX-License-Identifier: GPL-2.0
/*
 * The slots of a CPU: which slot serves which key. Changes what a slot wants, and
 * leaves the flush to the caller; knows nothing of counts, times and samples. The
 * invariant: a slot with an event, or with an event that is leaving, is not given to
 * another event.
 */
#include <linux/bitops.h>
#include <linux/lockdep.h>
#include <linux/minmax.h>
#include "caps.h"
#include "slot.h"
#include "state.h"

atomic_t pvperf_slot_round = ATOMIC_INIT(1);
int pvperf_slot_full;

static bool slot_idle(const struct pvperf_slot *slot)
{
	return !slot->event && !slot->leaving;
}

/* From here on the slot has the key already. */
#define SLOT_FITS	4

/* How well @slot suits @key; 0: not at all. */
static int slot_fit(const struct pvperf_slot *slot, const struct pvperf_key *key)
{
	if (!slot_idle(slot))
		return 0;
	if (!slot->open)
		return 3;
	if (!slot->close && pvperf_key_equal(&slot->key, key))
		return SLOT_FITS;
	/* Rather not one that runs on for an event that may be back soon. */
	return slot->on ? 1 : 2;
}

/*
 * Has another slot the memory for the branches of slot @s? The last slots are others when the host
 * changes how many events there may be.
 */
static bool slot_shares_branches(const struct pvperf_cpu *cpu, int s)
{
	const struct pvperf_slot *slot;
	int other;

	for (other = s % PVPERF_BRANCH_SLOTS; other < PVPERF_SLOTS; other += PVPERF_BRANCH_SLOTS) {
		slot = &cpu->slot[other];
		if (other != s && slot->key.flags & PVPERF_KEY_BRANCHES &&
		    (slot->open || !slot_idle(slot)))
			return true;
	}
	return false;
}

/* Events with branches have the last slots: others take the first ones. */
static noinline int slot_find_branches(struct pvperf_cpu *cpu, const struct pvperf_key *key)
{
	int s = max_t(int, pvperf_caps.events - PVPERF_BRANCH_SLOTS, 0);
	int fit, best = -1, best_fit = 0;

	for (; s < pvperf_caps.events; s++) {
		fit = slot_shares_branches(cpu, s) ? 0 : slot_fit(&cpu->slot[s], key);
		if (fit > best_fit) {
			best = s;
			best_fit = fit;
		}
	}
	return best;
}

/* The slot in which the host has refused @key in this round; or -1. */
static noinline int slot_find_refused(struct pvperf_cpu *cpu, const struct pvperf_key *key)
{
	int s;

	pvperf_for_each_slot(s, cpu->set.refused) {
		if (cpu->refused_in[s] != atomic_read(&pvperf_slot_round))
			__clear_bit(s, &cpu->set.refused);
		else if (slot_idle(&cpu->slot[s]) && pvperf_key_equal(&cpu->slot[s].key, key))
			return s;
	}
	return -1;
}

int pvperf_slot_find(struct pvperf_cpu *cpu, const struct pvperf_key *key, int last)
{
	int s, fit, best = -1, best_fit = 0;

	lockdep_assert_irqs_disabled();
	if (unlikely(key->flags & PVPERF_KEY_BRANCHES))
		return slot_find_branches(cpu, key);
	/* True nearly always; the search costs more than the rest of ->add(). */
	if (last < pvperf_caps.events && slot_fit(&cpu->slot[last], key) == SLOT_FITS)
		return last;
	for (s = 0; s < pvperf_caps.events; s++) {
		fit = slot_fit(&cpu->slot[s], key);
		if (fit <= best_fit)
			continue;
		best = s;
		best_fit = fit;
		if (fit == SLOT_FITS)
			return best;
	}
	s = unlikely(cpu->set.refused) ? slot_find_refused(cpu, key) : -1;
	return s < 0 ? best : s;
}

void pvperf_slot_claim(struct pvperf_cpu *cpu, int s, const struct pvperf_key *key)
{
	struct pvperf_slot *slot = &cpu->slot[s];

	lockdep_assert_irqs_disabled();
	pvperf_slot_forget_user(cpu, s);
	if (!pvperf_key_equal(&slot->key, key)) {
		slot->close |= slot->open;
		slot->error = 0;
		__clear_bit(s, &cpu->set.refused);
	}
	slot->key = *key;
	__assign_bit(s, &cpu->set.whole, key->flags & KVM_PERF_FLAG_CPU);
	__assign_bit(s, &cpu->apart.slots, key->flags & PVPERF_KEY_APART);
	__assign_bit(s, &cpu->set.odd, pvperf_counters_odd(key->need));
	if (!slot->on || slot->close)
		set_bit(s, &cpu->set.dirty);
}

unsigned long pvperf_slot_unused(const struct pvperf_cpu *cpu)
{
	unsigned long slots = 0;
	int s;

	for (s = 0; s < PVPERF_SLOTS; s++)
		if (cpu->slot[s].open && slot_idle(&cpu->slot[s]))
			__set_bit(s, &slots);
	return slots;
}

void pvperf_slot_close(struct pvperf_cpu *cpu, unsigned long slots)
{
	int s;

	lockdep_assert_irqs_disabled();
	pvperf_for_each_slot(s, slots) {
		cpu->slot[s].close = true;
		set_bit(s, &cpu->set.dirty);
	}
}

unsigned long pvperf_slot_all(struct pvperf_cpu *cpu, bool open)
{
	unsigned long slots = 0;
	int s;

	for (s = 0; s < PVPERF_SLOTS; s++)
		if (open ? READ_ONCE(cpu->slot[s].open) : !!READ_ONCE(cpu->slot[s].event))
			__set_bit(s, &slots);
	return slots;
}

void pvperf_slot_mark_dirty(struct pvperf_cpu *cpu)
{
	unsigned long used = pvperf_slot_all(cpu, false);
	int s;

	lockdep_assert_irqs_disabled();
	/* Atomic, as an NMI may set bits, too. */
	pvperf_for_each_slot(s, used)
		set_bit(s, &cpu->set.dirty);
}
