/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _PVPERF_COMPAT_CPUID_H
#define _PVPERF_COMPAT_CPUID_H

/* cpuid_eax() and friends moved out of asm/processor.h's reach in 6.16. */

#include <asm/processor.h>
#if __has_include(<asm/cpuid/api.h>)
#include <asm/cpuid/api.h>
#endif

#endif /* _PVPERF_COMPAT_CPUID_H */
