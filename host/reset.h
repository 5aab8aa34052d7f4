/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _PVPERF_HOST_RESET_H
#define _PVPERF_HOST_RESET_H

/*
 * How a vCPU's reset is recognised. From the reset on another kernel may own the
 * vCPU's memory, so nothing is written to it.
 */

#include <linux/types.h>

struct kvm_vcpu;
struct pvperf_vcpu;

/**
 * pvperf_reset_real_mode_nmi() - is a vCPU in real mode? Any context
 * @kvcpu: the vCPU
 *
 * Return: true if it is; then no kernel runs in it.
 */
bool pvperf_reset_real_mode_nmi(const struct kvm_vcpu *kvcpu);

/**
 * pvperf_reset_alive_nmi() - may a vCPU's memory be written to? Any context
 * @vcpu: the vCPU
 *
 * Return: false if the vCPU was reset, even where no hook has seen it, or is to be cleared.
 */
bool pvperf_reset_alive_nmi(const struct pvperf_vcpu *vcpu);

/**
 * pvperf_reset_mark() - a vCPU was reset; from a hook, under RCU, does not sleep
 * @vcpu: the vCPU
 */
void pvperf_reset_mark(struct pvperf_vcpu *vcpu);

#endif /* _PVPERF_HOST_RESET_H */
