// SPDX-License-Identifier: GPL-2.0
/*
 * guest/counters.c against a search: events are put on counters one by one, in all ways,
 * and they fit if any way has a counter for each.
 */

#include <stdint.h>
#include "counters.h"
#include "tap.h"

#include <linux/perf_event.h>

#define INTEL	(KVM_PERF_COUNTERS_INSTRUCTIONS | KVM_PERF_COUNTERS_CYCLES | \
		 KVM_PERF_COUNTERS_REF_CYCLES)

/* The kinds of event: what is opened, and which fixed counter takes it. */
enum { INSTRUCTIONS, CYCLES, REF_CYCLES, OTHER, FLOPS, LOADS, KINDS };

static const struct {
	uint32_t type;
	uint64_t config;
} events[KINDS] = {
	[INSTRUCTIONS]	= { KVM_PERF_TYPE_RAW, 0xc0 },
	[CYCLES]	= { KVM_PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES },
	[REF_CYCLES]	= { KVM_PERF_TYPE_HARDWARE, PERF_COUNT_HW_REF_CPU_CYCLES },
	[OTHER]		= { KVM_PERF_TYPE_HW_CACHE, 0 },
	[FLOPS]		= { KVM_PERF_TYPE_RAW, 0xff03 },
	[LOADS]		= { KVM_PERF_TYPE_RAW, 0x81d0 },
};

static uint64_t need_of(const struct pvperf_counters *has, int kind)
{
	return pvperf_counters_need(has, events[kind].type, events[kind].config);
}

/* Is there a way to put @n[kind] events of each kind on @general counters and on @fixed? */
static int search(const struct pvperf_counters *has, const int *n, int kind, int general,
		  uint32_t fixed, int narrow)
{
	int left[KINDS], pair, i;
	uint32_t own = kind <= REF_CYCLES ? 1u << kind : 0;

	if (kind == KINDS)
		return general >= 0;
	if (!n[kind])
		return search(has, n, kind + 1, general, fixed, narrow);
	for (i = 0; i < KINDS; i++)
		left[i] = n[i];
	left[kind]--;
	if ((fixed & own) && search(has, left, kind, general, fixed & ~own, narrow))
		return 1;
	if (kind == REF_CYCLES && (has->kinds & KVM_PERF_COUNTERS_REF_CYCLES))
		return 0;
	pair = kind == FLOPS && (has->kinds & KVM_PERF_COUNTERS_PAIR);
	if (kind == LOADS && has->narrow.counters && !narrow--)
		return 0;
	return general > pair && search(has, left, kind, general - 1 - pair, fixed, narrow);
}

/* All mixes of up to four events of each kind. */
static int wrong_mixes(const struct pvperf_counters *has)
{
	int n[KINDS], mix, i, wrong = 0;

	for (mix = 0; mix < 5 * 5 * 5 * 5 * 5 * 5; mix++) {
		uint64_t need = 0;

		for (i = 0, n[0] = mix; i < KINDS; i++) {
			if (i + 1 < KINDS)
				n[i + 1] = n[i] / 5;
			n[i] %= 5;
			need += n[i] * need_of(has, i);
		}
		wrong += !pvperf_counters_fit(has, need) !=
			 !search(has, n, 0, has->general, has->kinds & INTEL,
				 has->narrow.counters);
	}
	return wrong;
}

static void test_mixes(const char *what, uint32_t general, uint32_t kinds, uint32_t narrow)
{
	const struct pvperf_counters has = {
		general, kinds, { .counters = narrow, .codes = { [0xd0 / 32] = 1 << 0xd0 % 32 } },
	};
	int wrong = wrong_mixes(&has);

	tap(!wrong, "%s: %u counters, all mixes (%d wrong)", what, general, wrong);
}

static void need_is(uint32_t kinds, uint32_t type, uint64_t config, uint64_t want,
		    const char *what)
{
	const struct pvperf_counters has = { .general = 4, .kinds = kinds };
	uint64_t got = pvperf_counters_need(&has, type, config);

	tap(got == want, "%s: %#llx", what, (unsigned long long)got);
}

/* As a host says it: branches, and the events of the second cache. */
static void narrow_is(uint32_t type, uint64_t config, int want, const char *what)
{
	const struct pvperf_counters has = {
		8, INTEL, { .counters = 4, .generic = 1 << PERF_COUNT_HW_BRANCH_INSTRUCTIONS,
			    .codes = { [7] = 1U << 31 }, .cache = { 0x3f << 6, 1 << 9 },
			    .exceptions = { 0x04ff02fe, [7] = 0x05ff0000 } },
	};

	tap(!want == !(pvperf_counters_need(&has, type, config) >> 32), "%s", what);
}

int main(void)
{
	const struct pvperf_counters amd = { .general = 6, .kinds = KVM_PERF_COUNTERS_PAIR };
	const struct pvperf_counters narrow = {
		8, INTEL, { .counters = 4, .codes = { [0xd0 / 32] = 1 << 0xd0 % 32 } },
	}, plain = { .general = 4 };

	test_mixes("Intel", 4, INTEL, 0);
	test_mixes("Intel", 8, INTEL, 0);
	test_mixes("Intel without ref-cycles", 4, KVM_PERF_COUNTERS_INSTRUCTIONS |
		   KVM_PERF_COUNTERS_CYCLES, 0);
	test_mixes("Intel with narrow events", 8, INTEL, 4);
	test_mixes("AMD", 6, KVM_PERF_COUNTERS_PAIR, 0);
	test_mixes("AMD before family 17h", 4, 0, 0);

	need_is(INTEL, KVM_PERF_TYPE_SOFTWARE, 0, 0, "a software event takes none");
	need_is(INTEL, KVM_PERF_TYPE_RAW, 0x10000c0, 1, "a counter mask is for general ones");
	need_is(INTEL, KVM_PERF_TYPE_RAW, 0x01c0, 1, "another unit mask, too");
	need_is(0, KVM_PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS, 1, "no fixed counter");
	need_is(INTEL, KVM_PERF_TYPE_RAW, 0x0003, 1, "select 003h is a pair on AMD only");
	need_is(KVM_PERF_COUNTERS_PAIR, KVM_PERF_TYPE_RAW, 0x100000003, 1, "select 103h is none");

	narrow_is(KVM_PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_INSTRUCTIONS, 1, "branches");
	narrow_is(KVM_PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_MISSES, 0, "branch misses");
	narrow_is(KVM_PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES, 0, "cycles");
	narrow_is(KVM_PERF_TYPE_HW_CACHE, PERF_COUNT_HW_CACHE_L1I, 1, "L1i");
	narrow_is(KVM_PERF_TYPE_HW_CACHE, PERF_COUNT_HW_CACHE_L1I | 0x10200, 1, "L1i prefetches");
	narrow_is(KVM_PERF_TYPE_HW_CACHE, PERF_COUNT_HW_CACHE_LL, 0, "LL");
	narrow_is(KVM_PERF_TYPE_HW_CACHE, PERF_COUNT_HW_CACHE_NODE | 0x10200, 1, "the last one");
	narrow_is(KVM_PERF_TYPE_RAW, 0x10000ff, 1, "the last code");
	narrow_is(KVM_PERF_TYPE_RAW, 0xfe, 0, "the code before");
	narrow_is(KVM_PERF_TYPE_RAW, 0x10002fe, 1, "the code before, with the unit mask that is");
	narrow_is(KVM_PERF_TYPE_RAW, 0x04ff, 0, "the last code, with a unit mask that is not");
	narrow_is(KVM_PERF_TYPE_RAW, 0x05ff, 0, "the last code, with another one");
	narrow_is(KVM_PERF_TYPE_RAW, 0, 0, "no exception is no event");
	/* The VM has moved: what its events need was found at another host. */
	tap(pvperf_counters_fit(&plain, 4 * need_of(&narrow, LOADS)) &&
	    !pvperf_counters_fit(&plain, 5 * need_of(&narrow, LOADS)), "narrow where none is");
	tap(pvperf_counters_fit(&plain, 4 * need_of(&narrow, REF_CYCLES)) &&
	    !pvperf_counters_fit(&plain, 5 * need_of(&narrow, REF_CYCLES)),
	    "ref-cycles where no counter is theirs");
	tap(pvperf_counters_sum(6 * need_of(&amd, OTHER) + 2 * need_of(&amd, FLOPS)) == 10,
	    "the sum counts pairs twice");
	return tap_end();
}
