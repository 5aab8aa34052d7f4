/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _PVPERF_HOST_NARROW_H
#define _PVPERF_HOST_NARROW_H

/*
 * Events that fit in some of the general counters only. Knows the CPU's model, and asks
 * perf for the code of each event that it has a name for.
 */

#include <linux/types.h>

/* Find out which events are narrow. Without a known model, no event is treated as narrow. */
void pvperf_narrow_init(void);

/* Answer CPUID. @leaf: KVM_PERF_CPUID_CODES or one of the four that follow. */
void pvperf_narrow_cpuid(u32 leaf, u32 *eax, u32 *ebx, u32 *ecx, u32 *edx);

#endif /* _PVPERF_HOST_NARROW_H */
