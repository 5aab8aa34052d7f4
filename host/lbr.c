// SPDX-License-Identifier: GPL-2.0
/*
 * The stack of last branches of a CPU.
 *
 * perf may set another filter at any time: the events of a CPU have one stack, which keeps what
 * the last one to come wants, and perf drops the filter when one of them goes. So who reads looks
 * at the filter first.
 */
#include <linux/kvm_pvperf.h>
#include <asm/cpufeature.h>
#include <asm/msr.h>
#include "../compat/cpuid.h"
#include "cut.h"
#include "lbr.h"

/* Of MSR_AMD64_LBR_SELECT: kinds of branches that are not kept. Bit 0: those that end at CPL 0. */
#define SELECT_MASK	0x1ff
#define SELECT_USER	0x001

u32 pvperf_lbr_depth;

void pvperf_lbr_init(void)
{
	u32 depth = cpuid_ebx(0x80000022) >> 4 & 0x3f;

	/* What is not cleared may not be there. */
	if (boot_cpu_has(X86_FEATURE_AMD_LBR_V2) && depth <= KVM_PERF_BRANCHES_MAX)
		pvperf_lbr_depth = depth;
}

static u64 lbr_rdmsr(u32 msr)
{
	u32 low, high;

	rdmsr(msr, low, high);
	return low | (u64)high << 32;
}

void pvperf_lbr_clear(void)
{
	u32 i;

	for (i = 0; i < 2 * pvperf_lbr_depth; i++)
		wrmsr(MSR_AMD_SAMP_BR_FROM + i, 0, 0);
}

bool pvperf_lbr_is_of_user_nmi(void)
{
	return (lbr_rdmsr(MSR_AMD64_LBR_SELECT) & SELECT_MASK) == SELECT_USER;
}

void pvperf_lbr_read_nmi(u32 i, struct pvperf_cut_raw *to)
{
	to->from = lbr_rdmsr(MSR_AMD_SAMP_BR_FROM + 2 * i);
	to->to = lbr_rdmsr(MSR_AMD_SAMP_BR_FROM + 2 * i + 1);
}
