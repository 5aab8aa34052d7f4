// SPDX-License-Identifier: GPL-2.0
/*
 * Ice Lake and its successors have eight general counters, and half of the events count
 * in the first four only. No CPUID leaf of Intel's says which, and perf's driver keeps
 * its table to itself. Before Ice Lake, and on AMD, all general counters are alike, or
 * too few events differ.
 */
#include <linux/bitmap.h>
#include <linux/err.h>
#include <linux/kvm_pvperf.h>
#include <linux/perf_event.h>
#include <linux/sched.h>
#include <linux/string.h>
#include <asm/processor.h>
#include "narrow.h"

#define CODES	256

/* Event codes from @first to @last. Ends with a @last of 0. */
struct code_range {
	u8 first;
	u8 last;
};

/* 0xa3 has three unit masks that fit in all counters. */
static const struct code_range ice_lake[] = {
	{ 0x03, 0x0a }, { 0x1f, 0x28 }, { 0x32, 0x32 }, { 0x48, 0x56 }, { 0x60, 0x8b },
	{ 0xa3, 0xa3 }, { 0xa8, 0xb0 }, { 0xb7, 0xbd }, { 0xd0, 0xe6 }, { 0xef, 0xef },
	{ 0xf0, 0xf4 }, { }
};

/* Some unit masks of 0xa3, 0xa4, 0xcd and 0xce are narrow, too. */
static const struct code_range golden_cove[] = {
	{ 0x01, 0x2d }, { 0x2f, 0x3b }, { 0x3d, 0x8f }, { 0xd0, 0xdf }, { }
};

/* Intel's models of family 6 whose CPUs are all alike. */
static const struct {
	u8 model;
	const struct code_range *ranges;
} models[] = {
	{ 0x6a, ice_lake },	/* Ice Lake, for servers */
	{ 0x6c, ice_lake },
	{ 0x7d, ice_lake },
	{ 0x7e, ice_lake },
	{ 0x8c, ice_lake },	/* Tiger Lake */
	{ 0x8d, ice_lake },
	{ 0xa7, ice_lake },	/* Rocket Lake */
	{ 0x8f, golden_cove },	/* Sapphire Rapids */
	{ 0xcf, golden_cove },	/* Emerald Rapids */
	{ 0xad, golden_cove },	/* Granite Rapids */
	{ 0xae, golden_cove },
};

/* The answers: see KVM_PERF_CPUID_CODES. */
static struct {
	DECLARE_BITMAP(codes, CODES);
	u32 generic;
	u64 cache;
	u32 counters;
} narrow;

static const struct code_range *ranges_here(void)
{
	int i;

	if (boot_cpu_data.x86_vendor != X86_VENDOR_INTEL || boot_cpu_data.x86 != 6)
		return NULL;
	for (i = 0; i < ARRAY_SIZE(models); i++)
		if (models[i].model == boot_cpu_data.x86_model)
			return models[i].ranges;
	return NULL;
}

/* Does perf's driver count that by a narrow code? */
static bool is_narrow(u32 type, u64 config)
{
	struct perf_event_attr attr = {
		.type		= type,
		.size		= sizeof(attr),
		.config		= config,
		.disabled	= 1,
		.exclude_kernel	= 1,
	};
	struct perf_event *event;
	u8 code;

	event = perf_event_create_kernel_counter(&attr, -1, current, NULL, NULL);
	if (IS_ERR(event))
		return false;
	code = event->hw.config;
	perf_event_release_kernel(event);
	return test_bit(code, narrow.codes);
}

static void find_generic(void)
{
	u32 n;

	for (n = 0; n < PERF_COUNT_HW_MAX; n++)
		if (is_narrow(PERF_TYPE_HARDWARE, n))
			narrow.generic |= BIT(n);
}

static void find_cache(void)
{
	u32 n, op = PERF_COUNT_HW_CACHE_OP_MAX, result = PERF_COUNT_HW_CACHE_RESULT_MAX;

	for (n = 0; n < PERF_COUNT_HW_CACHE_MAX * op * result; n++)
		if (is_narrow(PERF_TYPE_HW_CACHE,
			      n / result / op | n / result % op << 8 | n % result << 16))
			narrow.cache |= BIT_ULL(n);
}

void pvperf_narrow_init(void)
{
	const struct code_range *r = ranges_here();

	if (!r)
		return;
	for (; r->last; r++)
		bitmap_set(narrow.codes, r->first, r->last - r->first + 1);
	narrow.counters = 4;
	find_generic();
	find_cache();
}

void pvperf_narrow_cpuid(u32 leaf, u32 *eax, u32 *ebx, u32 *ecx, u32 *edx)
{
	u32 codes[CODES / 32], *half = codes + (leaf - KVM_PERF_CPUID_CODES) * 4;

	if (leaf == KVM_PERF_CPUID_NARROW) {
		*eax = narrow.counters;
		*ebx = narrow.generic;
		*ecx = lower_32_bits(narrow.cache);
		*edx = upper_32_bits(narrow.cache);
		return;
	}
	bitmap_to_arr32(codes, narrow.codes, CODES);
	*eax = half[0];
	*ebx = half[1];
	*ecx = half[2];
	*edx = half[3];
}
