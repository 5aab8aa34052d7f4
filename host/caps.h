/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _PVPERF_HOST_CAPS_H
#define _PVPERF_HOST_CAPS_H

/*
 * What this host offers, and the CPUID leaves that tell a guest. Knows the CPU, neither
 * KVM nor perf.
 */

#include <linux/types.h>
#include "policy.h"

extern struct pvperf_offer pvperf_offer;

/* Find out what there is. @hardware: perf has a driver for this CPU's counters. */
void pvperf_caps_init(bool hardware);

/*
 * The VM's epoch: changes when the host side does. @vm: the VM's serial number. No VM can find
 * out from its epoch which others share its host. Returns a number unique to this VM and load
 * of the module.
 */
u64 pvperf_caps_epoch(u64 vm);

/* Answer CPUID. @policy: of the VM; @leaf: one of ours. */
void pvperf_caps_cpuid(const struct pvperf_policy *policy, u32 leaf, u32 *eax, u32 *ebx,
		       u32 *ecx, u32 *edx);

#endif /* _PVPERF_HOST_CAPS_H */
