// SPDX-License-Identifier: GPL-2.0
/*
 * What this CPU can count for guests, and CPUID leaves.
 */
#include <linux/cpumask.h>
#include <linux/random.h>
#include <linux/siphash.h>
#include <linux/string.h>
#include <asm/cpufeature.h>
#include "../compat/cpuid.h"
#include "caps.h"
#include "kinds.h"
#include "lbr.h"
#include "narrow.h"
#include "selects.h"

struct pvperf_offer pvperf_offer;

static siphash_key_t epoch_key;
static u32 counters;		/* general-purpose ones; 0: not known */
static u32 counter_kinds;	/* KVM_PERF_COUNTERS_* */

u64 pvperf_caps_epoch(u64 vm)
{
	return siphash_1u64(vm, &epoch_key);
}

static u32 amd_counters(void)
{
	if (boot_cpu_data.extended_cpuid_level >= 0x80000022 && cpuid_eax(0x80000022) & 1)
		return cpuid_ebx(0x80000022) & 0xf;
	return boot_cpu_has(X86_FEATURE_PERFCTR_CORE) ? 6 : 4;
}

/* Intel's fixed counters: CPUID 0xA has their number, and from version 5 on a mask. */
static u32 caps_fixed(void)
{
	u32 eax, ebx, ecx, edx, fixed;

	if (boot_cpu_data.cpuid_level < 0xa)
		return 0;
	cpuid(0xa, &eax, &ebx, &ecx, &edx);
	if ((eax & 0xff) < 2)
		return 0;
	fixed = GENMASK(edx & 0x1f, 0) >> 1;
	if ((eax & 0xff) >= 5)
		fixed |= ecx;
	return fixed & (KVM_PERF_COUNTERS_INSTRUCTIONS | KVM_PERF_COUNTERS_CYCLES |
			KVM_PERF_COUNTERS_REF_CYCLES);
}

/* What this CPU's counters see, and so what a guest may count with them. */
static void caps_counting(bool hardware)
{
	/* Before Zen they also saw the north bridge: other VMs' traffic. */
	bool zen = boot_cpu_data.x86 >= 0x17;

	switch (boot_cpu_data.x86_vendor) {
	case X86_VENDOR_AMD:
	case X86_VENDOR_HYGON:
		pvperf_offer.hardware = hardware;
		pvperf_offer.node = zen;
		pvperf_offer.raw_mask = zen ? PVPERF_RAW_MASK_AMD : 0;
		pvperf_offer.selects = pvperf_selects_amd;
		counters = amd_counters();
		counter_kinds = zen ? KVM_PERF_COUNTERS_PAIR : 0;
		break;
	case X86_VENDOR_INTEL:
		pvperf_offer.hardware = hardware;
		pvperf_offer.node = true;
		pvperf_offer.extra_msr = true;
		pvperf_offer.raw_mask = PVPERF_RAW_MASK_INTEL;
		pvperf_offer.selects = pvperf_selects_intel;
		if (boot_cpu_data.cpuid_level >= 0xa)
			counters = cpuid_eax(0xa) >> 8 & 0xff;
		counter_kinds = caps_fixed();
		break;
	}
	if (!pvperf_offer.hardware) {
		counters = counter_kinds = 0;
		return;
	}
	pvperf_offer.kinds = pvperf_kinds_init();
	pvperf_lbr_init();
	/* An event of several kinds has several perf_events, and memory for one's branches. */
	pvperf_offer.branches = pvperf_offer.kinds ? 0 : pvperf_lbr_depth;
	pvperf_narrow_init();
}

void pvperf_caps_init(bool hardware)
{
	caps_counting(hardware);
	get_random_bytes(&epoch_key, sizeof(epoch_key));
}

/* A CPU that is present may come online at any time. */
static void caps_host_cpus(const struct pvperf_policy *policy, u32 *all, u32 *online)
{
	*all = *online = 0;
	if (!(pvperf_policy_features(policy, &pvperf_offer) & KVM_PERF_FEATURE_HOST_CPUS))
		return;
	*all = cpumask_last(cpu_present_mask) + 1;
	*online = num_online_cpus();
}

static void caps_branches(const struct pvperf_policy *policy, u32 *depth, u32 *fields)
{
	*depth = *fields = 0;
	if (!(pvperf_policy_features(policy, &pvperf_offer) & KVM_PERF_FEATURE_BRANCHES))
		return;
	*depth = pvperf_offer.branches;
	if (pvperf_policy_word(policy, PVPERF_WORD_BRANCHES) == PVPERF_BRANCHES_FULL)
		*fields = pvperf_lbr_tells;
}

void pvperf_caps_cpuid(const struct pvperf_policy *policy, u32 leaf, u32 *eax, u32 *ebx,
		       u32 *ecx, u32 *edx)
{
	switch (leaf) {
	case KVM_PERF_CPUID_BASE:
		*eax = KVM_PERF_CPUID_MAX;
		memcpy(ebx, KVM_PERF_SIGNATURE, 4);
		memcpy(ecx, KVM_PERF_SIGNATURE + 4, 4);
		memcpy(edx, KVM_PERF_SIGNATURE + 8, 4);
		break;
	case KVM_PERF_CPUID_FEATURES:
		*eax = KVM_PERF_ABI_VERSION;
		*ebx = pvperf_policy_features(policy, &pvperf_offer);
		*ecx = KVM_PERF_OP;
		*edx = counter_kinds;
		break;
	case KVM_PERF_CPUID_LIMITS:
		*eax = pvperf_policy_word(policy, PVPERF_WORD_MAX_EVENTS);
		*ebx = KVM_PERF_BATCH_MAX;
		*ecx = counters;
		*edx = pvperf_policy_word(policy, PVPERF_WORD_MIN_PERIOD);
		break;
	case KVM_PERF_CPUID_CPU:
		cpuid(0, eax, ebx, ecx, edx);
		*eax = cpuid_eax(1);
		break;
	case KVM_PERF_CPUID_HOST_CPUS:
		caps_host_cpus(policy, eax, ebx);
		*ecx = *edx = 0;
		break;
	case KVM_PERF_CPUID_BRANCHES:
		caps_branches(policy, eax, ebx);
		*ecx = *edx = 0;
		break;
	case KVM_PERF_CPUID_KINDS ... KVM_PERF_CPUID_KINDS + KVM_PERF_KINDS - 1:
		pvperf_kinds_cpuid(leaf, eax, ebx, ecx, edx);
		break;
	default:
		pvperf_narrow_cpuid(leaf, eax, ebx, ecx, edx);
	}
}
