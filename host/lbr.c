// SPDX-License-Identifier: GPL-2.0
/*
 * The stack of last branches of a CPU.
 *
 * perf may set another filter at any time: the events of a CPU have one stack, which keeps what
 * the last one to come wants, and perf drops the filter when one of them goes. So who reads looks
 * at the filter first.
 */
#include <linux/kvm_pvperf.h>
#include <linux/percpu.h>
#include <asm/asm.h>
#include <asm/cpufeature.h>
#include <asm/msr.h>
#include <asm/processor.h>
#include "../compat/cpuid.h"
#include "cut.h"
#include "lbr.h"

/* Of the MSR that selects: kinds of branches that are not kept. Bit 0: those that end at CPL 0. */
#define SELECT_MASK	0x3ff
#define SELECT_USER	0x001

u32 pvperf_lbr_depth;
u64 pvperf_lbr_tells;
bool pvperf_lbr_stops;

/* Where its MSRs are. */
static struct {
	u32 from, to;		/* of the first entry */
	u32 step;		/* from one entry to the next */
	u32 select;
	u32 info;		/* Intel's, of the first entry; 0: .from says it all */
} msr;

static u64 lbr_rdmsr(u32 number)
{
	u32 low, high;

	rdmsr(number, low, high);
	return low | (u64)high << 32;
}

static void amd_init(void)
{
	u32 depth = cpuid_ebx(0x80000022) >> 4 & 0x3f;

	/* What is not cleared may not be there. */
	if (!boot_cpu_has(X86_FEATURE_AMD_LBR_V2) || depth > KVM_PERF_BRANCHES_MAX)
		return;
	pvperf_lbr_depth = depth;
	pvperf_lbr_tells = KVM_PERF_BRANCH_MISPREDICTED | KVM_PERF_BRANCH_SPECULATIVE |
			   KVM_PERF_BRANCH_CORRECT;
	msr.from = MSR_AMD_SAMP_BR_FROM;
	msr.to = MSR_AMD_SAMP_BR_FROM + 1;
	msr.step = 2;
	msr.select = MSR_AMD64_LBR_SELECT;
}

/* Formats of Intel's entries, by MSR_IA32_PERF_CAPABILITIES. */
#define FORMAT_MASK	0x3f
#define FORMAT_FLAGS2	4	/* Haswell, Broadwell */
#define FORMAT_INFO	5	/* Skylake to Ice Lake */

static bool intel_has_stack(void)
{
	return boot_cpu_data.x86_vendor == X86_VENDOR_INTEL && boot_cpu_has(X86_FEATURE_PDCM) &&
	       !boot_cpu_has(X86_FEATURE_ARCH_LBR);
}

/* The stacks before the architectural one. */
static void intel_init(void)
{
	/* On Hyper-V the VMCS may be in memory, out of reach of pvperf_lbr_lend(). */
	if (!intel_has_stack() || boot_cpu_has(X86_FEATURE_HYPERVISOR))
		return;
	switch (lbr_rdmsr(MSR_IA32_PERF_CAPABILITIES) & FORMAT_MASK) {
	case FORMAT_FLAGS2:
		pvperf_lbr_depth = 16;
		break;
	case FORMAT_INFO:
		pvperf_lbr_depth = 32;
		msr.info = MSR_LBR_INFO_0;
		break;
	default:
		return;
	}
	pvperf_lbr_tells = KVM_PERF_BRANCH_MISPREDICTED | KVM_PERF_BRANCH_CORRECT;
	pvperf_lbr_stops = true;
	msr.from = MSR_LBR_NHM_FROM;
	msr.to = MSR_LBR_NHM_TO;
	msr.step = 1;
	msr.select = MSR_LBR_SELECT;
}

void pvperf_lbr_init(void)
{
	amd_init();
	if (!pvperf_lbr_depth)
		intel_init();
}

void pvperf_lbr_clear(void)
{
	u32 from = msr.from, to = msr.to, n = pvperf_lbr_depth;
	const u32 step = msr.step;

	for (; n--; from += step, to += step) {
		wrmsr(from, 0, 0);
		wrmsr(to, 0, 0);
	}
	/* A guest with KVM's own vPMU may read these, too. */
	for (n = msr.info ? pvperf_lbr_depth : 0; n--;)
		wrmsr(msr.info + n, 0, 0);
}

bool pvperf_lbr_is_of_user_nmi(void)
{
	return (lbr_rdmsr(msr.select) & SELECT_MASK) == SELECT_USER;
}

static void amd_read_nmi(struct pvperf_cut_raw *raw)
{
	u32 i;

	for (i = 0; i < pvperf_lbr_depth; i++, raw++) {
		raw->from = lbr_rdmsr(MSR_AMD_SAMP_BR_FROM + 2 * i);
		raw->to = lbr_rdmsr(MSR_AMD_SAMP_BR_FROM + 2 * i + 1);
	}
}

/* In the form of AMD's. Intel's entries have no bit that says valid; those cleared are 0. */
static struct pvperf_cut_raw intel_entry_nmi(u32 n)
{
	const u64 from = lbr_rdmsr(MSR_LBR_NHM_FROM + n), to = lbr_rdmsr(MSR_LBR_NHM_TO + n);
	const u64 info = msr.info ? lbr_rdmsr(msr.info + n) : from;

	return (struct pvperf_cut_raw) {
		.from = (from & PVPERF_CUT_ADDRESS) |
			(info & LBR_INFO_MISPRED ? PVPERF_CUT_FROM_MISPREDICTED : 0),
		.to = (to & PVPERF_CUT_ADDRESS) | (from && to ? PVPERF_CUT_TO_VALID : 0),
	};
}

/* A ring, whose size is a power of two. */
static void intel_read_nmi(struct pvperf_cut_raw *raw)
{
	const u32 last = lbr_rdmsr(MSR_LBR_TOS);
	u32 i;

	for (i = 0; i < pvperf_lbr_depth; i++)
		raw[i] = intel_entry_nmi((last - i) & (pvperf_lbr_depth - 1));
}

void pvperf_lbr_read_nmi(struct pvperf_cut_raw *raw)
{
	if (pvperf_lbr_stops)
		intel_read_nmi(raw);
	else
		amd_read_nmi(raw);
}

/* ------------------------------------------------------------------------ VMCS */

#define GUEST_IA32_DEBUGCTL	0x2802

/* Is the bit in the VMCS of the vCPU that this CPU is about to enter, or has just left, ours? */
static DEFINE_PER_CPU(bool, lent);

/*
 * When the machine goes down KVM ends VMX under running vCPUs, and both instructions fault: see
 * kvm_spurious_fault(). Returns false then.
 */
static bool guest_debugctl(u64 *value)
{
	bool done = false;

	asm volatile("1: vmread %2, %1\n\tseta %0\n2:" _ASM_EXTABLE(1b, 2b)
		     : "+q" (done), "=r" (*value) : "r" ((u64)GUEST_IA32_DEBUGCTL) : "cc");
	return done;
}

static bool guest_debugctl_set(u64 value)
{
	bool done = false;

	asm volatile("1: vmwrite %1, %2\n\tseta %0\n2:" _ASM_EXTABLE(1b, 2b)
		     : "+q" (done) : "r" (value), "r" ((u64)GUEST_IA32_DEBUGCTL) : "cc");
	return done;
}

/* Does perf keep branches of user mode on this CPU now? */
static bool keeps_user(void)
{
	return lbr_rdmsr(MSR_IA32_DEBUGCTLMSR) & DEBUGCTLMSR_LBR && pvperf_lbr_is_of_user_nmi();
}

bool pvperf_lbr_lend(void)
{
	u64 value;

	if (!keeps_user() || !guest_debugctl(&value))
		return false;
	/* A guest that keeps branches by KVM's own vPMU has it set; or we, if KVM enters again. */
	if (value & DEBUGCTLMSR_LBR)
		return true;
	if (!guest_debugctl_set(value | DEBUGCTLMSR_LBR))
		return false;
	__this_cpu_write(lent, true);
	return true;
}

void pvperf_lbr_take_back(void)
{
	u64 value;

	if (!__this_cpu_read(lent))
		return;
	if (guest_debugctl(&value))
		guest_debugctl_set(value & ~(u64)DEBUGCTLMSR_LBR);
	__this_cpu_write(lent, false);
}
