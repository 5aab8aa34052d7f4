/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _PVPERF_HOST_INJECT_H
#define _PVPERF_HOST_INJECT_H

/* Sends an NMI to a vCPU, from the overflow handler. */

#include <linux/types.h>

struct irq_work;
struct pvperf_pin;
struct pvperf_vcpu;

/**
 * pvperf_inject_nmi() - queue an NMI for a vCPU; NMI context
 * @vcpu: the vCPU whose thread this is
 * @written: where the overflow was told, for KVM's log of dirty pages
 */
void pvperf_inject_nmi(struct pvperf_vcpu *vcpu, const struct pvperf_pin *written);

/**
 * pvperf_inject_is_running() - is the current thread in KVM_RUN? Any context
 *
 * Return: false in the VMM's own code.
 */
bool pvperf_inject_is_running(void);

/**
 * pvperf_inject_wake() - the function of pvperf_vcpu.wake
 * @work: in a struct pvperf_vcpu
 */
void pvperf_inject_wake(struct irq_work *work);

#endif /* _PVPERF_HOST_INJECT_H */
