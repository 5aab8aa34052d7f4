// SPDX-License-Identifier: GPL-2.0
/*
 * host/policy.c: which events a VM may have, and which error it gets for others.
 */

#include <stdint.h>
#include <string.h>
#include "policy.h"
#include "selects.h"
#include "tap.h"

/* perf's own numbers, from the system's header. */
#include <linux/perf_event.h>

#define MIN_PERIOD	1000

/* A VM that may have everything, and what its host can count. */
struct side {
	struct pvperf_policy policy;
	struct pvperf_offer offer;
};

static const struct side local = {
	.policy.word = {
		[PVPERF_WORD_ACCESS] = PVPERF_ACCESS_LOCAL, [PVPERF_WORD_RAW] = true,
		[PVPERF_WORD_HOST_EVENTS] = true, [PVPERF_WORD_MIN_PERIOD] = MIN_PERIOD,
	},
	.offer = { .hardware = true, .node = true, .raw_mask = PVPERF_RAW_MASK_AMD },
};

static enum pvperf_word why;	/* of the last check() */

static int check(const struct side *side, uint32_t type, uint64_t config, uint64_t period)
{
	struct guest_perf_attr attr = {
		.type = type, .config = config, .sample_period = period,
	};

	why = pvperf_policy_why(&side->policy, &side->offer, &attr);
	return pvperf_policy_check(&side->policy, &side->offer, &attr);
}

static uint32_t features(const struct side *side)
{
	return pvperf_policy_features(&side->policy, &side->offer);
}

static void is(int want, int got, const char *what)
{
	tap(got == want, "%s: %d", what, got);
}

static void test_types(void)
{
	unsigned int type, wrong = 0;

	for (type = 0; type < 4096; type++) {
		int known = type == PERF_TYPE_HARDWARE ||
			    type == PERF_TYPE_SOFTWARE ||
			    type == PERF_TYPE_HW_CACHE || type == PERF_TYPE_RAW;

		wrong += check(&local, type, 0, 0) != (known ? 0 : -KVM_EPERM);
	}
	tap(!wrong, "no type but four, whatever the host has (%u wrong)", wrong);
	is(-KVM_EPERM, check(&local, ~0u, 0, 0), "type 2^32 - 1");
}

static void test_hardware(void)
{
	uint64_t config;
	unsigned int wrong = 0;

	for (config = 0; config < PERF_COUNT_HW_MAX; config++)
		wrong += !!check(&local, PERF_TYPE_HARDWARE, config, 0);
	tap(!wrong, "hardware: all that perf knows (%u wrong)", wrong);
	is(-KVM_ENOENT, check(&local, PERF_TYPE_HARDWARE, PERF_COUNT_HW_MAX, 0),
	   "hardware: one more");
	/* bits from 32 on would select a PMU of the host */
	for (wrong = 0, config = 1ull << 32; config; config <<= 1)
		wrong += !check(&local, PERF_TYPE_HARDWARE, config, 0);
	tap(!wrong, "hardware: no PMU of the host can be chosen (%u wrong)",
	    wrong);
}

static void test_software(void)
{
	uint64_t config;
	unsigned int wrong = 0;

	for (config = 0; config < 64; config++) {
		int allowed = config == PERF_COUNT_SW_CPU_CLOCK ||
			      config == PERF_COUNT_SW_PAGE_FAULTS ||
			      config == PERF_COUNT_SW_CONTEXT_SWITCHES ||
			      config == PERF_COUNT_SW_CPU_MIGRATIONS;

		wrong += check(&local, PERF_TYPE_SOFTWARE, config, 0) !=
			 (allowed ? 0 : -KVM_EPERM);
	}
	tap(!wrong, "software: four of the host's, about the vCPU (%u wrong)",
	    wrong);
	is(-KVM_EPERM, check(&local, PERF_TYPE_SOFTWARE, 1ull << 32, 0),
	   "software: none with high bits");
}

static void test_cache(void)
{
	unsigned int cache, op, result, wrong = 0;

	for (cache = 0; cache < 256; cache++)
		for (op = 0; op < 256; op++)
			for (result = 0; result < 256; result++) {
				uint64_t config = cache | op << 8 | result << 16;
				int good = cache < PERF_COUNT_HW_CACHE_MAX &&
					op < PERF_COUNT_HW_CACHE_OP_MAX &&
					result < PERF_COUNT_HW_CACHE_RESULT_MAX;

				wrong += check(&local, PERF_TYPE_HW_CACHE,
					       config, 0) !=
					 (good ? 0 : -KVM_EINVAL);
			}
	tap(!wrong, "cache: each of 2^24 configs (%u wrong)", wrong);
	is(-KVM_EINVAL, check(&local, PERF_TYPE_HW_CACHE, 1 << 24, 0),
	   "cache: nothing above");
}

/* A guest may not set bits that the host sets, or that count beyond the vCPU. */
static void test_raw(void)
{
	const uint64_t event = 0xffull, umask = 0xff00ull, edge = 1ull << 18,
		inv = 1ull << 23, cmask = 0xffull << 24, select_amd = 0xfull << 32,
		all = event | umask | edge | inv | cmask;
	const struct {
		const char *name;
		uint64_t mask, allowed;
	} cpus[] = {
		{ "AMD", PVPERF_RAW_MASK_AMD, all | select_amd },
		{ "Intel", PVPERF_RAW_MASK_INTEL, all },
	};
	struct side side = local;
	unsigned int i, bit;

	for (i = 0; i < 2; i++) {
		unsigned int wrong = 0;

		side.offer.raw_mask = cpus[i].mask;
		for (bit = 0; bit < 64; bit++)
			wrong += check(&side, PERF_TYPE_RAW, 1ull << bit, 0) !=
				 (cpus[i].allowed >> bit & 1 ? 0 : -KVM_EPERM);
		tap(!wrong, "raw, %s: each bit of config (%u wrong)",
		    cpus[i].name, wrong);
		is(0, check(&side, PERF_TYPE_RAW, cpus[i].allowed - 1, 0),
		   "raw: all fields, of select all but a bit");
	}
	side.offer.raw_mask = 0;
	is(-KVM_EPERM, check(&side, PERF_TYPE_RAW, 0, 0), "raw: forbidden");
	is(-KVM_EPERM, check(&side, PERF_TYPE_RAW, 0xc0, 0),
	   "raw: forbidden, whichever");
	is(0, check(&side, PERF_TYPE_HARDWARE, 0, 0),
	   "raw: forbidden, others are not");
	tap(!(features(&side) & KVM_PERF_FEATURE_RAW),
	    "raw: forbidden, and not announced");
	tap(features(&local) & KVM_PERF_FEATURE_RAW,
	    "raw: allowed, and announced");
	check(&side, PERF_TYPE_RAW, 0, 0);
	tap(why == PVPERF_WORDS, "raw: no word would allow what the CPU forbids");
}

/* Twenty-one codes have an MSR besides the counter on Intel; their neighbours have not. */
static void test_raw_msr(void)
{
	static const uint64_t codes[] = {
		0x01b7, 0x02b7, 0x01bb, 0x01c6, 0x02c6, 0x03c6, 0x04c2, 0x01cd, 0x02cd,
		0x012a, 0x012b, 0x40ad, 0x0127, 0x0227, 0x100b, 0x05d0, 0x022a, 0x042a, 0x082a,
		0x04b7, 0x08b7,
	};
	struct side side = local;
	unsigned int i, code, refused = 0, wrong = 0;

	side.offer.raw_mask = PVPERF_RAW_MASK_INTEL;
	side.offer.extra_msr = true;
	for (i = 0; i < 21; i++) {
		wrong += check(&side, PERF_TYPE_RAW, codes[i], 0) != -KVM_EPERM;
		wrong += check(&side, PERF_TYPE_RAW, codes[i] | 1 << 24, 0) != -KVM_EPERM;
		wrong += check(&local, PERF_TYPE_RAW, codes[i], 0) != 0;
	}
	for (code = 0; code < 0x10000; code++)
		refused += !!check(&side, PERF_TYPE_RAW, code, 0);
	tap(!wrong && refused == 22, "raw: none that wants a shared MSR (%u wrong, %u refused)",
	    wrong, refused);
}

/* Of each vendor's list: events in it, and their neighbours. A CPU without a list has none. */
static void test_raw_list(void)
{
	static const struct {
		const struct pvperf_selects *selects;
		uint64_t config;
		int want;
	} events[] = {
		{ pvperf_selects_intel, 0x00c0, 0 },
		{ pvperf_selects_intel, 0x1ff83ffc4, -KVM_EPERM },	/* no bit of Intel's */
		{ pvperf_selects_intel, 0xff84ffc4, 0 },
		{ pvperf_selects_intel, 0x412e, 0 },
		{ pvperf_selects_intel, 0x512e, -KVM_EPERM },
		{ pvperf_selects_intel, 0x003c, 0 },
		{ pvperf_selects_intel, 0x023c, -KVM_EPERM },
		{ pvperf_selects_intel, 0x01b1, 0 },
		{ pvperf_selects_intel, 0x03b1, -KVM_EPERM },
		{ pvperf_selects_intel, 0xffd4, 0 },
		{ pvperf_selects_intel, 0x01d5, -KVM_EPERM },
		{ pvperf_selects_intel, 0x0000, -KVM_EPERM },
		{ pvperf_selects_amd, 0x0000, 0 },
		{ pvperf_selects_amd, 0xfff84ffc0, -KVM_EPERM },
		{ pvperf_selects_amd, 0x1000000c1, 0 },
		{ pvperf_selects_amd, 0x1000000c3, -KVM_EPERM },
		{ pvperf_selects_amd, 0xebd6, 0 },
		{ pvperf_selects_amd, 0x10d6, -KVM_EPERM },
		{ pvperf_selects_amd, 0x1000060a0, -KVM_EPERM },
		{ pvperf_selects_amd, 0x0164, -KVM_EPERM },
		{ NULL, 0x00c0, -KVM_EPERM },
	};
	struct side side = local;
	unsigned int i;

	side.policy.word[PVPERF_WORD_RAW] = PVPERF_RAW_LIST;
	for (i = 0; i < sizeof(events) / sizeof(*events); i++) {
		bool intel = events[i].selects == pvperf_selects_intel;

		side.offer.selects = events[i].selects;
		side.offer.raw_mask = intel ? PVPERF_RAW_MASK_INTEL : PVPERF_RAW_MASK_AMD;
		is(events[i].want, check(&side, PERF_TYPE_RAW, events[i].config, 0), "raw=list");
		if (events[i].want && !(events[i].config & ~side.offer.raw_mask))
			tap(why == PVPERF_WORD_RAW, "raw=list: raw=yes would allow %#llx",
			    (unsigned long long)events[i].config);
	}
	tap(features(&side) & KVM_PERF_FEATURE_RAW, "raw=list: raw events are announced");
}

#define ANNOUNCED	(KVM_PERF_FEATURE_HOST | KVM_PERF_FEATURE_HOST_CPUS)

/* Only access=global has the host's side of a vCPU, and the host's CPUs, and only to count. */
static void test_host_side(void)
{
	static const struct guest_perf_attr events[] = {
		{ .type = PERF_TYPE_HARDWARE, .flags = KVM_PERF_FLAG_HOST },
		{ .type = PERF_TYPE_HW_CACHE, .flags = KVM_PERF_FLAG_HOST },
		{ .type = PERF_TYPE_RAW, .config = 0xc0, .flags = KVM_PERF_FLAG_HOST },
		{ .type = PERF_TYPE_HARDWARE, .flags = KVM_PERF_FLAG_CPU, .cpu = 3 },
		{ .type = PERF_TYPE_HW_CACHE, .flags = KVM_PERF_FLAG_CPU },
		{ .type = PERF_TYPE_RAW, .config = 0xc0, .flags = KVM_PERF_FLAG_CPU },
	};
	struct guest_perf_attr attr;
	struct side side = local;
	unsigned int i;

	tap(!(features(&side) & ANNOUNCED), "host: not announced");
	side.policy.word[PVPERF_WORD_ACCESS] = PVPERF_ACCESS_GLOBAL;
	tap((features(&side) & ANNOUNCED) == ANNOUNCED, "host: announced");
	for (i = 0; i < 6; i++) {
		attr = events[i];
		is(-KVM_EPERM, pvperf_policy_check(&local.policy, &local.offer, &attr), "host");
		tap(pvperf_policy_why(&local.policy, &local.offer, &attr) == PVPERF_WORD_ACCESS,
		    "host: access=global would allow it");
		is(0, pvperf_policy_check(&side.policy, &side.offer, &attr), "host");
		attr.sample_period = 100000;
		is(-KVM_EINVAL, pvperf_policy_check(&side.policy, &side.offer, &attr), "host, sampled");
	}
	attr = (struct guest_perf_attr) { .type = PERF_TYPE_SOFTWARE, .flags = KVM_PERF_FLAG_HOST };
	is(-KVM_EINVAL, pvperf_policy_check(&side.policy, &side.offer, &attr), "host, software");
	attr.flags = KVM_PERF_FLAG_CPU;
	is(-KVM_EINVAL, pvperf_policy_check(&side.policy, &side.offer, &attr), "CPU, software");
	side.offer.hardware = false;
	tap(!(features(&side) & ANNOUNCED), "host: not announced without counters");
}

/* The host has two kinds of cores. */
static void test_kinds(void)
{
	struct guest_perf_attr attr = { .type = PERF_TYPE_HARDWARE };
	struct side side = local;
	int kind;

	attr.flags = KVM_PERF_FLAG_KIND(1);
	is(-KVM_ENOENT, pvperf_policy_check(&local.policy, &local.offer, &attr), "kind 1 of none");
	tap(!(features(&side) & KVM_PERF_FEATURE_KINDS), "kinds: not announced");
	side.offer.kinds = 2;
	tap(features(&side) & KVM_PERF_FEATURE_KINDS, "kinds: announced");
	for (kind = 0; kind <= 3; kind++) {
		attr.flags = KVM_PERF_FLAG_KIND(kind);
		is(kind < 3 ? 0 : -KVM_ENOENT,
		   pvperf_policy_check(&side.policy, &side.offer, &attr), "a kind of two");
		attr.flags |= KVM_PERF_FLAG_HOST;
		is(kind < 3 ? -KVM_EPERM : -KVM_ENOENT,
		   pvperf_policy_check(&side.policy, &side.offer, &attr), "a kind, host");
	}
	attr = (struct guest_perf_attr){ .type = PERF_TYPE_SOFTWARE, .flags = KVM_PERF_FLAG_KIND(1) };
	is(-KVM_EINVAL, pvperf_policy_check(&side.policy, &side.offer, &attr), "kind, software");
}

/* The last branches before an overflow. */
static void test_branches(void)
{
	struct guest_perf_attr attr = {
		.type = PERF_TYPE_HARDWARE, .sample_period = 100000,
		.sample_type = KVM_PERF_SAMPLE_BRANCHES,
	};
	struct side side = local;
	__u32 word;

	for (word = PVPERF_BRANCHES_OFF; word <= PVPERF_BRANCHES_FULL; word++) {
		side.policy.word[PVPERF_WORD_BRANCHES] = word;
		side.offer.branches = 0;
		is(-KVM_ENOENT, pvperf_policy_check(&side.policy, &side.offer, &attr), "branches of a CPU without");
		tap(!(features(&side) & KVM_PERF_FEATURE_BRANCHES), "branches: not announced");
		side.offer.branches = 16;
		is(word ? 0 : -KVM_EPERM, pvperf_policy_check(&side.policy, &side.offer, &attr), "branches");
		tap(!(features(&side) & KVM_PERF_FEATURE_BRANCHES) == !word, "branches: announced");
	}
	attr.type = PERF_TYPE_SOFTWARE;
	is(-KVM_EINVAL, pvperf_policy_check(&side.policy, &side.offer, &attr), "branches, software");
	attr.type = PERF_TYPE_HARDWARE;
	side.policy.word[PVPERF_WORD_BRANCHES] = PVPERF_BRANCHES_OFF;
	tap(pvperf_policy_why(&side.policy, &side.offer, &attr) == PVPERF_WORD_BRANCHES,
	    "branches: the word that would allow them");
}

/* A VM that counts alone opens nothing until it does; then it has access=global. */
static void test_alone(void)
{
	struct pvperf_policy policy = local.policy, to = local.policy;
	struct side side = local;
	uint32_t access;

	for (access = PVPERF_ACCESS_EXCLUSIVE; access <= PVPERF_ACCESS_FORCE; access++) {
		side.policy.word[PVPERF_WORD_ACCESS] = access;
		is(-KVM_EUSERS, check(&side, PERF_TYPE_HARDWARE, 0, 0), "alone: hardware");
		is(-KVM_EUSERS, check(&side, PERF_TYPE_SOFTWARE, 0, 0), "alone: software");
		tap((features(&side) & ANNOUNCED) == ANNOUNCED, "alone: announced");
		to.word[PVPERF_WORD_ACCESS] = access;
		policy.word[PVPERF_WORD_ACCESS] = PVPERF_ACCESS_GLOBAL;
		tap(!pvperf_policy_assign(&policy, &to) &&
		    policy.word[PVPERF_WORD_ACCESS] == access, "alone: has no more than global");
	}
	to.word[PVPERF_WORD_ACCESS] = PVPERF_ACCESS_LOCAL;
	tap(pvperf_policy_assign(&policy, &to) == 1 << PVPERF_WORD_ACCESS,
	    "alone: has more than local");
}

static void test_cpu(void)
{
	struct side side = local;
	unsigned int node = PERF_COUNT_HW_CACHE_NODE;

	is(0, check(&side, PERF_TYPE_HW_CACHE, node, 0), "node: of the vCPU alone");
	side.offer.node = false;
	is(-KVM_EPERM, check(&side, PERF_TYPE_HW_CACHE, node, 0), "node: of all VMs");
	is(0, check(&side, PERF_TYPE_HW_CACHE, node - 1, 0), "node: its neighbour");
	side.offer.hardware = false;
	is(-KVM_ENOENT, check(&side, PERF_TYPE_HARDWARE, 0, 0), "no counters: hardware");
	is(-KVM_ENOENT, check(&side, PERF_TYPE_HW_CACHE, 0, 0), "no counters: cache");
	is(-KVM_ENOENT, check(&side, PERF_TYPE_RAW, 0, 0), "no counters: raw");
	is(0, check(&side, PERF_TYPE_SOFTWARE, 0, 0), "no counters: software");
}

/* With one sample in a tick perf would stop these at each overflow. */
static void test_per_tick(void)
{
	struct side side = local;
	int per_tick = 1;

	side.offer.per_tick = &per_tick;
	is(-KVM_EOPNOTSUPP, check(&side, PERF_TYPE_HARDWARE, 0, MIN_PERIOD),
	   "one in a tick: hardware");
	is(-KVM_EOPNOTSUPP, check(&side, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK, MIN_PERIOD),
	   "one in a tick: a clock");
	is(0, check(&side, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS, 1), "one in a tick: faults");
	is(0, check(&side, PERF_TYPE_HARDWARE, 0, 0), "one in a tick: no samples");
	per_tick = 2;
	is(0, check(&side, PERF_TYPE_HARDWARE, 0, MIN_PERIOD), "two in a tick: hardware");
}

static void test_period(void)
{
	static const uint32_t types[] = {
		PERF_TYPE_HARDWARE, PERF_TYPE_SOFTWARE, PERF_TYPE_HW_CACHE,
		PERF_TYPE_RAW,
	};
	unsigned int i;

	for (i = 0; i < 4; i++) {
		/* software events overflow rarely, and a timer limits them */
		int small = types[i] == PERF_TYPE_SOFTWARE ? 0 : -KVM_EINVAL;

		is(0, check(&local, types[i], 0, 0), "period: none");
		is(small, check(&local, types[i], 0, 1), "period: 1");
		is(small, check(&local, types[i], 0, MIN_PERIOD - 1),
		   "period: one below the limit");
		is(0, check(&local, types[i], 0, MIN_PERIOD),
		   "period: the limit");
		is(0, check(&local, types[i], 0, INT64_MAX),
		   "period: the longest");
	}
}

static void test_access(void)
{
	struct side side = local;
	unsigned int type, wrong = 0;

	side.policy.word[PVPERF_WORD_ACCESS] = PVPERF_ACCESS_UNAVAILABLE;
	for (type = 0; type < 16; type++)
		wrong += check(&side, type, 0, 0) != -KVM_ENOSYS;
	tap(!wrong, "unavailable: nothing, and as if nobody were there");
	tap(!(features(&local) &
	      ~(KVM_PERF_FEATURE_PAGE | KVM_PERF_FEATURE_BATCH |
		KVM_PERF_FEATURE_TIMES | KVM_PERF_FEATURE_SAMPLING |
		KVM_PERF_FEATURE_RAW | KVM_PERF_FEATURE_HOST_SW |
		KVM_PERF_FEATURE_READ_MANY | KVM_PERF_FEATURE_COUNTERS |
		KVM_PERF_FEATURE_NARROW | KVM_PERF_FEATURE_OPEN_PAGE |
		KVM_PERF_FEATURE_CPU | KVM_PERF_FEATURE_CLOCK |
		KVM_PERF_FEATURE_REASON | KVM_PERF_FEATURE_HOST |
		KVM_PERF_FEATURE_HOST_CPUS | KVM_PERF_FEATURE_KINDS)),
	    "only features that the ABI knows are announced");
}

/* Each word refuses its events alone, and is named. */
static void test_words(void)
{
	const struct {
		enum pvperf_word word;
		uint32_t type, config, period, feature;
		int err;
	} words[] = {
		{ PVPERF_WORD_ACCESS, PERF_TYPE_HARDWARE, 0, 0, 0, -KVM_ENOSYS },
		{ PVPERF_WORD_RAW, PERF_TYPE_RAW, 0xc0, 0, KVM_PERF_FEATURE_RAW, -KVM_EPERM },
		{ PVPERF_WORD_HOST_EVENTS, PERF_TYPE_SOFTWARE, 0, 0, KVM_PERF_FEATURE_HOST_SW,
		  -KVM_EPERM },
		{ PVPERF_WORD_MIN_PERIOD, PERF_TYPE_HARDWARE, 0, 999, 0, -KVM_EINVAL },
	};
	unsigned int i, j;

	for (i = 0; i < 4; i++) {
		struct side side = local;

		if (words[i].word != PVPERF_WORD_MIN_PERIOD)
			side.policy.word[words[i].word] = 0;
		is(words[i].err, check(&side, words[i].type, words[i].config, words[i].period),
		   "word: refuses");
		tap(why == words[i].word, "word: is named");
		tap(!(features(&side) & words[i].feature) &&
		    (features(&local) & words[i].feature) == words[i].feature,
		    "word: is what the guest is told");
		for (j = 1; j < 3; j++)
			if (j != i && words[i].word != PVPERF_WORD_ACCESS)
				is(0, check(&side, words[j].type, words[j].config, 0),
				   "word: allows the others");
	}
}

static void test_assign(void)
{
	struct pvperf_policy policy = local.policy, to = local.policy;

	tap(!pvperf_policy_assign(&policy, &to), "assign: nothing has changed");
	to.word[PVPERF_WORD_RAW] = 0;
	to.word[PVPERF_WORD_MAX_PAGES] = 77;
	tap(pvperf_policy_assign(&policy, &to) ==
	    (1u << PVPERF_WORD_RAW | 1u << PVPERF_WORD_MAX_PAGES) &&
	    !memcmp(&policy, &to, sizeof(to)), "assign: two words have");
}

int main(void)
{
	test_words();
	test_assign();
	test_types();
	test_hardware();
	test_raw_msr();
	test_raw_list();
	test_host_side();
	test_kinds();
	test_branches();
	test_alone();
	test_cpu();
	test_software();
	test_cache();
	test_raw();
	test_period();
	test_per_tick();
	test_access();
	return tap_end();
}
