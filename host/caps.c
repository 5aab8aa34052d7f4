// SPDX-License-Identifier: GPL-2.0
/*
 * Parameters and CPUID leaves.
 */
#define pr_fmt(fmt) "pvperf_host: " fmt

#include <linux/module.h>
#include <linux/moduleparam.h>
#include <linux/random.h>
#include <linux/siphash.h>
#include <linux/string.h>
#include <asm/cpufeature.h>
#include "../compat/cpuid.h"
#include "caps.h"
#include "narrow.h"

struct pvperf_policy pvperf_policy = {
	.access = PVPERF_ACCESS_LOCAL,
	.yield = false,
	.max_events = KVM_PERF_EVENTS_MAX,
	.max_vm_events = 4096,
	.max_opens = 4096,
	.max_pages = 2048,
	.min_period = 1000,
};

static bool raw = true;
module_param(raw, bool, 0444);
MODULE_PARM_DESC(raw, "allow raw events: event select, unit mask, edge, invert, counter mask (default yes)");

module_param_named(yield, pvperf_policy.yield, bool, 0644);
MODULE_PARM_DESC(yield, "take hardware events from guests while a VM with a mediated vPMU runs (default no: it can't start while a guest has one)");

module_param_named(max_events, pvperf_policy.max_events, uint, 0444);
MODULE_PARM_DESC(max_events, "events that one vCPU may have open, 1 to 64 (default 64)");
module_param_named(max_vm_events, pvperf_policy.max_vm_events, uint, 0444);
MODULE_PARM_DESC(max_vm_events, "events that all vCPUs of a VM may have open, 1 to 65536 (default 4096)");

static int max_opens_set(const char *text, const struct kernel_param *kp)
{
	return param_set_uint_minmax(text, kp, 1, 1000000);
}

static const struct kernel_param_ops max_opens_ops = {
	.set = max_opens_set,
	.get = param_get_uint,
};
module_param_cb(max_opens, &max_opens_ops, &pvperf_policy.max_opens, 0644);
MODULE_PARM_DESC(max_opens, "events that all vCPUs of a VM may open in a second, 1 to 1000000 (default 4096); more wait for their turn");

module_param_named(max_pages, pvperf_policy.max_pages, uint, 0444);
MODULE_PARM_DESC(max_pages, "pages that one VM's pins may hold in place, 1 to 65536 (default 2048); a transparent huge page is held as a whole");
module_param_named(min_period, pvperf_policy.min_period, uint, 0444);
MODULE_PARM_DESC(min_period, "shortest sampling period, at least 100 (default 1000)");

static siphash_key_t epoch_key;
static u32 counters;		/* general-purpose ones; 0: not known */
static u32 counter_kinds;	/* KVM_PERF_COUNTERS_* */

u64 pvperf_caps_epoch(u64 vm)
{
	return siphash_1u64(vm, &epoch_key);
}

/* The number of general-purpose counters, if the CPU tells it; else 0. */
static u32 caps_counters(void)
{
	switch (boot_cpu_data.x86_vendor) {
	case X86_VENDOR_AMD:
	case X86_VENDOR_HYGON:
		if (boot_cpu_data.extended_cpuid_level >= 0x80000022 &&
		    cpuid_eax(0x80000022) & 1)
			return cpuid_ebx(0x80000022) & 0xf;
		return boot_cpu_has(X86_FEATURE_PERFCTR_CORE) ? 6 : 4;
	case X86_VENDOR_INTEL:
		return boot_cpu_data.cpuid_level >= 0xa ?
		       cpuid_eax(0xa) >> 8 & 0xff : 0;
	default:
		return 0;
	}
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

/* What is not alike among the counters. */
static u32 caps_kinds(void)
{
	switch (boot_cpu_data.x86_vendor) {
	case X86_VENDOR_AMD:
	case X86_VENDOR_HYGON:
		return boot_cpu_data.x86 >= 0x17 ? KVM_PERF_COUNTERS_PAIR : 0;
	case X86_VENDOR_INTEL:
		return caps_fixed();
	default:
		return 0;
	}
}

/* What this CPU's counters see, and so what a guest may count with them. */
static void caps_counting(bool hardware)
{
	/* Before Zen they also saw the north bridge: other VMs' traffic. */
	bool zen = boot_cpu_data.x86 >= 0x17;

	switch (boot_cpu_data.x86_vendor) {
	case X86_VENDOR_AMD:
	case X86_VENDOR_HYGON:
		pvperf_policy.hardware = hardware;
		pvperf_policy.node = zen;
		pvperf_policy.raw_mask = raw && zen ? PVPERF_RAW_MASK_AMD : 0;
		break;
	case X86_VENDOR_INTEL:
		pvperf_policy.hardware = hardware;
		pvperf_policy.node = true;
		pvperf_policy.extra_msr = true;
		pvperf_policy.raw_mask = raw ? PVPERF_RAW_MASK_INTEL : 0;
		break;
	}
	if (!pvperf_policy.hardware)
		return;
	counters = caps_counters();
	counter_kinds = caps_kinds();
	pvperf_narrow_init();
}

static int caps_check(const char *name, u32 value, u32 min, u32 max)
{
	if (value >= min && value <= max)
		return 0;
	pr_err("parameter %s=%u is not between %u and %u; not loading\n",
	       name, value, min, max);
	return -EINVAL;
}

int pvperf_caps_init(bool hardware)
{
	int err;

	err = caps_check("max_events", pvperf_policy.max_events, 1,
			 KVM_PERF_EVENTS_MAX);
	if (!err)
		err = caps_check("max_vm_events", pvperf_policy.max_vm_events, 1, 65536);
	if (!err)
		err = caps_check("max_pages", pvperf_policy.max_pages, 1, 65536);
	if (!err)
		err = caps_check("min_period", pvperf_policy.min_period, 100,
				 INT_MAX);
	if (err)
		return err;
	caps_counting(hardware);
	get_random_bytes(&epoch_key, sizeof(epoch_key));
	return 0;
}

void pvperf_caps_cpuid(u32 leaf, u32 *eax, u32 *ebx, u32 *ecx, u32 *edx)
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
		*ebx = pvperf_policy_features(&pvperf_policy);
		*ecx = KVM_PERF_OP;
		*edx = counter_kinds;
		break;
	case KVM_PERF_CPUID_LIMITS:
		*eax = pvperf_policy.max_events;
		*ebx = KVM_PERF_BATCH_MAX;
		*ecx = counters;
		*edx = pvperf_policy.min_period;
		break;
	case KVM_PERF_CPUID_CPU:
		cpuid(0, eax, ebx, ecx, edx);
		*eax = cpuid_eax(1);
		break;
	default:
		pvperf_narrow_cpuid(leaf, eax, ebx, ecx, edx);
	}
}
