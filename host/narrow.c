// SPDX-License-Identifier: GPL-2.0
/*
 * Ice Lake and its successors have eight general counters, and half of the events count
 * in the first four only. No CPUID leaf of Intel's says which, and perf's driver keeps
 * its table to itself. Before Ice Lake, and on AMD, all general counters are alike, or
 * too few events differ.
 */
#include <linux/bitmap.h>
#include <linux/build_bug.h>
#include <linux/err.h>
#include <linux/kvm_pvperf.h>
#include <linux/perf_event.h>
#include <linux/sched.h>
#include <linux/string.h>
#include <asm/processor.h>
#include "narrow.h"

#define CODES		256
#define EXCEPTIONS	16

/* Event codes from @first to @last. Ends with a @last of 0. */
struct code_range {
	u8 first;
	u8 last;
};

static const struct code_range ice_lake[] = {
	{ 0x03, 0x0a }, { 0x1f, 0x28 }, { 0x32, 0x32 }, { 0x48, 0x56 }, { 0x60, 0x8b },
	{ 0xa3, 0xa3 }, { 0xa8, 0xb0 }, { 0xb7, 0xbd }, { 0xd0, 0xe6 }, { 0xef, 0xef },
	{ 0xf0, 0xf4 }, { }
};

static const struct code_range golden_cove[] = {
	{ 0x01, 0x2d }, { 0x2f, 0x3b }, { 0x3d, 0x8f }, { 0xce, 0xce }, { 0xd0, 0xdf }, { }
};

/* Unit mask and select of events that are unlike the others of their code. */
static const u16 ice_lake_unlike[EXCEPTIONS] = { 0x04a3, 0x10a3, 0x14a3 };

/* Events of 0xa4, 0xcd and 0xce fit in one counter only; narrow is the closest. */
static const u16 golden_cove_unlike[EXCEPTIONS] = {
	0x01a3, 0x02a3, 0x05a3, 0x06a3, 0x08a3, 0x0ca3, 0x04a4, 0x08a4, 0x02cd,
};

/* Intel's models of family 6 whose CPUs are all alike. */
static const struct model {
	u8 model;
	const struct code_range *ranges;
	const u16 *unlike;
} models[] = {
	{ 0x6a, ice_lake, ice_lake_unlike },	/* Ice Lake, for servers */
	{ 0x6c, ice_lake, ice_lake_unlike },
	{ 0x7d, ice_lake, ice_lake_unlike },
	{ 0x7e, ice_lake, ice_lake_unlike },
	{ 0x8c, ice_lake, ice_lake_unlike },	/* Tiger Lake */
	{ 0x8d, ice_lake, ice_lake_unlike },
	{ 0xa7, ice_lake, ice_lake_unlike },	/* Rocket Lake */
	{ 0x8f, golden_cove, golden_cove_unlike },	/* Sapphire Rapids */
	{ 0xcf, golden_cove, golden_cove_unlike },	/* Emerald Rapids */
	{ 0xad, golden_cove, golden_cove_unlike },	/* Granite Rapids */
	{ 0xae, golden_cove, golden_cove_unlike },
};

/* The answers, as the leaves from KVM_PERF_CPUID_CODES on have them. */
static struct {
	DECLARE_BITMAP(codes, CODES);
	u32 counters;
	u32 generic;
	u64 cache;
	u16 unlike[EXCEPTIONS];
} narrow;

static const struct model *model_here(void)
{
	int i;

	if (boot_cpu_data.x86_vendor != X86_VENDOR_INTEL || boot_cpu_data.x86 != 6)
		return NULL;
	for (i = 0; i < ARRAY_SIZE(models); i++)
		if (models[i].model == boot_cpu_data.x86_model)
			return &models[i];
	return NULL;
}

static bool code_is_narrow(u16 event)
{
	bool is = test_bit(event & 0xff, narrow.codes);
	int i;

	for (i = 0; event && i < EXCEPTIONS; i++)
		if (narrow.unlike[i] == event)
			return !is;
	return is;
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
		.exclude_guest	= 1,	/* or perf refuses while a mediated VM runs */
	};
	struct perf_event *event;
	u16 code;

	event = perf_event_create_kernel_counter(&attr, -1, current, NULL, NULL);
	if (IS_ERR(event))
		return false;
	code = event->hw.config;
	perf_event_release_kernel(event);
	return code_is_narrow(code);
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
	const struct model *model = model_here();
	const struct code_range *r;

	if (!model)
		return;
	for (r = model->ranges; r->last; r++)
		bitmap_set(narrow.codes, r->first, r->last - r->first + 1);
	memcpy(narrow.unlike, model->unlike, sizeof(narrow.unlike));
	narrow.counters = 4;
	find_generic();
	find_cache();
}

void pvperf_narrow_cpuid(u32 leaf, u32 *eax, u32 *ebx, u32 *ecx, u32 *edx)
{
	const u32 *answer = (const u32 *)&narrow + (leaf - KVM_PERF_CPUID_CODES) * 4;

	BUILD_BUG_ON(sizeof(narrow) != (KVM_PERF_CPUID_CPU - KVM_PERF_CPUID_CODES) * 16);
	*eax = answer[0];
	*ebx = answer[1];
	*ecx = answer[2];
	*edx = answer[3];
}
