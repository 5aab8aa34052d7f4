/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _PVPERF_COMPAT_CPUID_H
#define _PVPERF_COMPAT_CPUID_H

/* cpuid() has moved: out of asm/processor.h, and then once more. */
#if __has_include(<asm/cpuid/api.h>)
#include <asm/cpuid/api.h>
#else
#include <asm/processor.h>
#endif

#endif /* _PVPERF_COMPAT_CPUID_H */
