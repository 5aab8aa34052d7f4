// SPDX-License-Identifier: GPL-2.0
/*
 * guest/raw.c: which bits of a raw code remain, and whether the host's policy then allows
 * it.
 */

#include <stdbool.h>
#include <stdint.h>
#include "policy.h"
#include "raw.h"
#include "tap.h"

#include <linux/perf_event.h>

static const uint64_t masks[] = {
	[PVPERF_RAW_OTHER]	= PVPERF_RAW_MASK_AMD,
	[PVPERF_RAW_AMD]	= PVPERF_RAW_MASK_AMD,
	[PVPERF_RAW_INTEL]	= PVPERF_RAW_MASK_INTEL,
	[PVPERF_RAW_INTEL_TSX]	= PVPERF_RAW_MASK_INTEL,
};

static int passes(enum pvperf_raw_maker maker, uint64_t config)
{
	const struct pvperf_policy policy = { .word = {
		[PVPERF_WORD_ACCESS] = PVPERF_ACCESS_LOCAL, [PVPERF_WORD_RAW] = true,
	} };
	const struct pvperf_offer offer = { .hardware = true, .raw_mask = masks[maker] };
	struct guest_perf_attr attr = {
		.type = PERF_TYPE_RAW,
		.config = pvperf_raw_config(maker, config),
	};

	return !pvperf_policy_check(&policy, &offer, &attr);
}

static void is(enum pvperf_raw_maker maker, uint64_t config, uint64_t want,
	       const char *what)
{
	uint64_t got = pvperf_raw_config(maker, config);

	tap(got == want && passes(maker, config), "%s: %#llx is %#llx", what,
	    (unsigned long long)config, (unsigned long long)got);
}

/* Bits that a driver sets itself: each of them, and all. */
static void test_drivers_own(enum pvperf_raw_maker maker, const char *name)
{
	static const int own[] = { 16, 17, 19, 20, 22, 60, 63 };
	uint64_t all = 0;
	unsigned int i, wrong = 0;

	for (i = 0; i < sizeof(own) / sizeof(*own); i++) {
		all |= 1ull << own[i];
		wrong += pvperf_raw_config(maker, 0xc0 | 1ull << own[i]) != 0xc0;
	}
	tap(!wrong, "%s: each bit of the driver's own is ignored (%u wrong)", name, wrong);
	is(maker, 0x01040000c0 | all, 0x00040000c0 |
	   (maker == PVPERF_RAW_AMD ? 1ull << 32 : 0), name);
}

static void test_amd(void)
{
	test_drivers_own(PVPERF_RAW_AMD, "AMD");
	is(PVPERF_RAW_AMD, 0x5300c0, 0xc0, "libpfm4's INT, EN, USR and OS");
	is(PVPERF_RAW_AMD, 0x300005300c0, 0xc0, "guest and host");
	is(PVPERF_RAW_AMD, 0x5100d1, 0xd1, "rr's");
	is(PVPERF_RAW_AMD, 0xfff84fffe | 1 << 21, 0xfff84fffe, "all fields, and Intel's AnyThread");
	tap(!passes(PVPERF_RAW_AMD, 0xf000000ff) && !passes(PVPERF_RAW_AMD, 0xfff8400ff),
	    "the upper half of another counter: refused");
}

/* Bits that Intel's driver accepts and the host does not remain, so the host refuses them. */
static void test_intel(enum pvperf_raw_maker maker, bool tsx)
{
	static const int taken[] = { 21, 36, 40, 47 };
	unsigned int i, wrong = 0;

	for (i = 0; i < sizeof(taken) / sizeof(*taken); i++)
		wrong += passes(maker, 0x5300c0 | 1ull << taken[i]);
	tap(!wrong, "AnyThread, equal, a second unit mask: refused (%u pass)", wrong);
	for (wrong = 0, i = 32; i < 34; i++)
		wrong += passes(maker, 0xc0 | 1ull << i) == tsx;
	tap(!wrong, "in a transaction: %s (%u wrong)", tsx ? "refused" : "ignored", wrong);
	is(maker, 0x5300c0, 0xc0, "libpfm4's INT, EN, USR and OS");
}

static void test_config1(void)
{
	tap(pvperf_raw_wants_config1(PVPERF_RAW_INTEL, 0x5301b7) &&
	    pvperf_raw_wants_config1(PVPERF_RAW_INTEL_TSX, 0x01cd),
	    "Intel's off-core responses and load latency have a second register");
	tap(!pvperf_raw_wants_config1(PVPERF_RAW_INTEL, 0x5300c0) &&
	    !pvperf_raw_wants_config1(PVPERF_RAW_INTEL, 0x10b7),
	    "other events have none");
	tap(!pvperf_raw_wants_config1(PVPERF_RAW_AMD, 0x01b7) &&
	    !pvperf_raw_wants_config1(PVPERF_RAW_OTHER, 0x01b7), "nor has any of AMD's");
}

static void test_has_more(void)
{
	tap(!pvperf_raw_has_more(PVPERF_RAW_AMD, 0xfff84ffff) &&
	    !pvperf_raw_has_more(PVPERF_RAW_INTEL, 0xff84ffff), "all fields are no more");
	tap(pvperf_raw_has_more(PVPERF_RAW_INTEL, 0x1000000c0) &&
	    pvperf_raw_has_more(PVPERF_RAW_AMD, 0x2000c0), "other bits are");
}

int main(void)
{
	test_amd();
	test_drivers_own(PVPERF_RAW_INTEL, "Intel");
	test_intel(PVPERF_RAW_INTEL, false);
	test_intel(PVPERF_RAW_INTEL_TSX, true);
	test_drivers_own(PVPERF_RAW_OTHER, "another maker");
	test_config1();
	test_has_more();
	return tap_end();
}
