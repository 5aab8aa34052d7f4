/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _PVPERF_HOST_INJECT_H
#define _PVPERF_HOST_INJECT_H

/*
 * What an overflow does to a vCPU, and what forbids it: the vCPU's reset. From the reset on
 * another kernel may own the vCPU's memory, so nothing is written to it.
 */

#include <linux/types.h>

struct irq_work;
struct kvm_vcpu;
struct pvperf_pin;
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
