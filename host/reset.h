/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _PVPERF_HOST_RESET_H
#define _PVPERF_HOST_RESET_H

/*
 * How a vCPU's reset is recognised. From the reset on the vCPU's memory may be
 * another kernel's, and is not written to.
 */

#include <linux/types.h>

struct kvm_vcpu;
struct pvperf_vcpu;

/* Is the vCPU in real mode? Then no kernel runs in it. Any context. */
bool pvperf_reset_real_mode_nmi(const struct kvm_vcpu *kvcpu);
/* May the vCPU's memory be written to? False even where no hook saw the reset. */
bool pvperf_reset_alive_nmi(const struct pvperf_vcpu *vcpu);
/* From a hook, under RCU: the vCPU was reset. Does not sleep. */
void pvperf_reset_mark(struct pvperf_vcpu *vcpu);

#endif /* _PVPERF_HOST_RESET_H */
