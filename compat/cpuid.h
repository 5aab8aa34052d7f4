/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _PVPERF_COMPAT_CPUID_H
#define _PVPERF_COMPAT_CPUID_H

/* Newer kernels have cpuid_eax() and its like in a header of their own. */
#if __has_include(<asm/cpuid/api.h>)
#include <asm/cpuid/api.h>
#else
#include <asm/processor.h>
#endif

#endif /* _PVPERF_COMPAT_CPUID_H */
