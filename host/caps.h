/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _PVPERF_HOST_CAPS_H
#define _PVPERF_HOST_CAPS_H

/*
 * What this host has to offer, and to whom: the module's parameters, and the
 * CPUID leaves that tell a guest. Knows the CPU, neither KVM nor perf.
 */

#include <linux/types.h>
#include "policy.h"

extern struct pvperf_policy pvperf_policy;

/* @hardware: perf has a driver for this CPU's counters. */
int pvperf_caps_init(bool hardware);
/* Another number at each load of the module. */
u64 pvperf_caps_epoch(void);
/* @leaf is one of ours. */
void pvperf_caps_cpuid(u32 leaf, u32 *eax, u32 *ebx, u32 *ecx, u32 *edx);

#endif /* _PVPERF_HOST_CAPS_H */
