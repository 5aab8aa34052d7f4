// SPDX-License-Identifier: GPL-2.0
/*
 * Which pages of a vCPU to enter into KVM's log of dirty pages, and when. KVM's room.
 */
#include <linux/kvm_host.h>
#include "dirty.h"
#include "pin.h"
#include "memory.h"
#include "state.h"

/* Enters each page once if its events are neighbours in the list. Returns if there is a log. */
static bool dirty_events(const struct pvperf_vcpu *vcpu)
{
	const struct pvperf_host_event *event;
	const struct pvperf_pin *last = NULL;
	bool logged = false;

	list_for_each_entry(event, &vcpu->events, node) {
		if (unlikely(event->attr.sample_type))
			logged |= pvperf_memory_log(vcpu->kvcpu->kvm, event->branches->pin->gfn);
		if (event->pin == last)
			continue;
		last = event->pin;
		logged |= pvperf_memory_log(vcpu->kvcpu->kvm, last->gfn);
	}
	return logged;
}

void pvperf_dirty_new(struct pvperf_vcpu *vcpu, struct pvperf_pin *pin)
{
	u64 slots = pvperf_dirty_generation_nmi(vcpu);

	lockdep_assert_held(&vcpu->lock);
	if (pvperf_memory_log(vcpu->kvcpu->kvm, pin->gfn))
		WRITE_ONCE(vcpu->unlogged, ~0ULL);	/* the next call looks at all */
	else
		WRITE_ONCE(pin->unlogged, slots);
}

void pvperf_dirty_all(struct pvperf_vcpu *vcpu)
{
	u64 slots = pvperf_dirty_generation_nmi(vcpu);
	bool logged = dirty_events(vcpu);

	lockdep_assert_held(&vcpu->lock);
	if (vcpu->pin)
		logged |= pvperf_memory_log(vcpu->kvcpu->kvm, vcpu->pin->gfn);
	/* No generation: the next call looks again. */
	WRITE_ONCE(vcpu->unlogged, logged ? ~0ULL : slots);
}

void pvperf_dirty_wake(struct pvperf_vcpu *vcpu)
{
	u64 branches = xchg(&vcpu->branches_gfn, 0);
	u64 overflowed = xchg(&vcpu->overflowed_gfn, 0);

	if (branches)
		pvperf_memory_log(vcpu->kvcpu->kvm, branches - 1);
	if (!overflowed)
		return;
	pvperf_memory_log(vcpu->kvcpu->kvm, overflowed - 1);
	if (READ_ONCE(vcpu->head))
		pvperf_memory_log(vcpu->kvcpu->kvm, vcpu->page_addr >> PAGE_SHIFT);
}
