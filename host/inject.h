/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _PVPERF_HOST_INJECT_H
#define _PVPERF_HOST_INJECT_H

/*
 * What an overflow does to a vCPU, and what forbids it: the vCPU's reset. From the reset on
 * another kernel may own the vCPU's memory, so nothing is written to it.
 */

#include <linux/types.h>

struct irq_work;
struct pvperf_pin;
struct pvperf_vcpu;

/*
 * May a vCPU's memory be written to? Any context. Returns false if the vCPU was reset, even
 * where no hook has seen it, or is to be cleared, or the current thread runs another one.
 */
bool pvperf_reset_alive_nmi(const struct pvperf_vcpu *vcpu);

/*
 * Queue an NMI for a vCPU; NMI context. @vcpu: the vCPU whose thread this is; @written: where
 * the overflow was told, for KVM's log of dirty pages.
 */
void pvperf_inject_nmi(struct pvperf_vcpu *vcpu, const struct pvperf_pin *written);

/*
 * Does the current thread run another vCPU than @vcpu? Any context. What @vcpu's events of this
 * thread count now is that one's.
 */
bool pvperf_inject_is_other(const struct pvperf_vcpu *vcpu);

/* Is the current thread in KVM_RUN? Any context. Returns false in the VMM's own code. */
bool pvperf_inject_is_running(void);

/* The function of pvperf_vcpu.wake. @work: in a struct pvperf_vcpu. */
void pvperf_inject_wake(struct irq_work *work);

#endif /* _PVPERF_HOST_INJECT_H */
