/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _PVPERF_HOST_INJECT_H
#define _PVPERF_HOST_INJECT_H

/* An NMI into a vCPU, from the overflow handler. */

#include <linux/types.h>

struct irq_work;
struct pvperf_vcpu;

/* NMI context, in the vCPU's own thread. */
void pvperf_inject_nmi(struct pvperf_vcpu *vcpu);
/* Of pvperf_vcpu.wake. */
void pvperf_inject_wake(struct irq_work *work);

#endif /* _PVPERF_HOST_INJECT_H */
