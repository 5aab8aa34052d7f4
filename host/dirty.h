/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _PVPERF_HOST_DIRTY_H
#define _PVPERF_HOST_DIRTY_H

/*
 * KVM's log of dirty pages, for pages that this module writes to. A migration sends a
 * page again only if the log has it. For KVM's rooms.
 */

#include <linux/kvm_host.h>
#include "../compat/kvm.h"
#include "pin.h"
#include "state.h"

/*
 * A number that changes when userspace begins or ends a log. @vcpu: the vCPU, whose VM has not
 * ended. It changes with any other change of a memory slot, too. Any context.
 */
static inline u64 pvperf_dirty_generation_nmi(const struct pvperf_vcpu *vcpu)
{
	return pvperf_kvm_generation(vcpu->kvcpu->kvm);
}

/* pvperf_dirty_pin() if there is a log, or may be. */
void pvperf_dirty_new(struct pvperf_vcpu *vcpu, struct pvperf_pin *pin);

/* A vCPU has got memory, and the host has written to it. @vcpu: the vCPU, locked. May sleep. */
static inline void pvperf_dirty_pin(struct pvperf_vcpu *vcpu, struct pvperf_pin *pin)
{
	if (unlikely(READ_ONCE(pin->unlogged) != pvperf_dirty_generation_nmi(vcpu)))
		pvperf_dirty_new(vcpu, pin);
}

/* pvperf_dirty_vcpu() if there is a log, or may be. */
void pvperf_dirty_all(struct pvperf_vcpu *vcpu);

/*
 * Enter the memory of all events of a vCPU, and its page. @vcpu: the vCPU, locked, after they
 * were written; it has an event, or makes a call. May sleep.
 */
static inline void pvperf_dirty_vcpu(struct pvperf_vcpu *vcpu)
{
	if (unlikely(vcpu->unlogged != pvperf_dirty_generation_nmi(vcpu)))
		pvperf_dirty_all(vcpu);
}

/*
 * The overflow handler has written. @vcpu: the vCPU, whose .head was written, too; @pin: the
 * event's memory. One event's page is remembered until the interrupt. If a guest has its events
 * in many pages, and two of them overflow at once, the next call enters the other page. Returns
 * true if vcpu->wake has to run, which enters the pages into the log.
 */
static inline bool pvperf_dirty_overflow_nmi(struct pvperf_vcpu *vcpu,
					     const struct pvperf_pin *pin)
{
	if (likely(READ_ONCE(vcpu->unlogged) == pvperf_dirty_generation_nmi(vcpu)))
		return false;
	WRITE_ONCE(vcpu->overflowed_gfn, pin->gfn + 1);
	return true;
}

/* The same of the branches' memory, before that of the event. */
static inline void pvperf_dirty_branches_nmi(struct pvperf_vcpu *vcpu,
					     const struct pvperf_pin *pin)
{
	if (unlikely(READ_ONCE(vcpu->unlogged) != pvperf_dirty_generation_nmi(vcpu)))
		WRITE_ONCE(vcpu->branches_gfn, pin->gfn + 1);
}

/* Do what pvperf_dirty_overflow_nmi() left to do; interrupts off. */
void pvperf_dirty_wake(struct pvperf_vcpu *vcpu);

#endif /* _PVPERF_HOST_DIRTY_H */
