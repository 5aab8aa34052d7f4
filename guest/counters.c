// SPDX-License-Identifier: GPL-2.0
/*
 * The arithmetic of counters.h. The invariant: what fits here, the host's driver can
 * schedule, unless it knows of an event that it is bound to fewer counters than the
 * narrow ones are.
 */
#include "counters.h"

#define NEED_GENERAL		0x0000000001ULL
#define NEED_PAIR		0x0000000002ULL
#define NEED_INSTRUCTIONS	0x0000000100ULL
#define NEED_CYCLES		0x0000010000ULL
#define NEED_REF_CYCLES		0x0001000000ULL
#define NEED_NARROW		0x0100000000ULL

/* An event of the kind that a flag of KVM_PERF_COUNTERS_* is about. */
struct kind {
	__u32 flag;
	__u32 generic;		/* KVM_PERF_TYPE_HARDWARE: its number */
	__u64 raw;		/* KVM_PERF_TYPE_RAW: its code ... */
	__u64 mask;		/* ... in these bits */
	__u64 need;
};

#define NOT_GENERIC	~0u
#define INTEL_CODE	0xff84ffffULL	/* a filter or an edge needs a general counter */
#define AMD_SELECT	0xf000000ffULL

static const struct kind kinds[] = {
	{ KVM_PERF_COUNTERS_INSTRUCTIONS, 1, 0x00c0, INTEL_CODE, NEED_INSTRUCTIONS },
	{ KVM_PERF_COUNTERS_CYCLES, 0, 0x003c, INTEL_CODE, NEED_CYCLES },
	{ KVM_PERF_COUNTERS_REF_CYCLES, 9, 0x0300, INTEL_CODE, NEED_REF_CYCLES },
	{ KVM_PERF_COUNTERS_PAIR, NOT_GENERIC, 0x0003, AMD_SELECT, NEED_PAIR },
};

static int kind_is(const struct kind *kind, __u32 type, __u64 config)
{
	switch (type) {
	case KVM_PERF_TYPE_HARDWARE:
		return config == kind->generic;
	case KVM_PERF_TYPE_RAW:
		return (config & kind->mask) == kind->raw;
	default:
		return 0;
	}
}

static int bits_have(const __u32 *bits, __u32 n)
{
	return bits[n / 32] >> n % 32 & 1;
}

/* Is that select with that unit mask unlike its code? */
static int narrow_excepts(const struct pvperf_narrow *narrow, __u32 event)
{
	unsigned int i;

	if (!event)
		return 0;
	for (i = 0; i < sizeof(narrow->exceptions) / sizeof(*narrow->exceptions); i++)
		if ((narrow->exceptions[i] & 0xffff) == event ||
		    narrow->exceptions[i] >> 16 == event)
			return 1;
	return 0;
}

static int narrow_has(const struct pvperf_narrow *narrow, __u32 type, __u64 config)
{
	switch (type) {
	case KVM_PERF_TYPE_HARDWARE:
		return config < 32 && bits_have(&narrow->generic, config);
	case KVM_PERF_TYPE_HW_CACHE:	/* of 3 operations, with 2 results each */
		config = ((config & 0xff) * 3 + (config >> 8 & 0xff)) * 2 + (config >> 16);
		return config < 64 && bits_have(narrow->cache, config);
	default:
		return bits_have(narrow->codes, config & 0xff) !=
		       narrow_excepts(narrow, config & 0xffff);
	}
}

__u64 pvperf_counters_need(const struct pvperf_counters *has, __u32 type, __u64 config)
{
	unsigned int i;

	if (type == KVM_PERF_TYPE_SOFTWARE)
		return 0;
	for (i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
		if ((has->kinds & kinds[i].flag) && kind_is(&kinds[i], type, config))
			return kinds[i].need;
	return has->narrow.counters && narrow_has(&has->narrow, type, config) ?
	       NEED_NARROW : NEED_GENERAL;
}

/* Events of one kind that are left over after its fixed counter. */
static __u32 counters_left(const struct pvperf_counters *has, __u32 n, __u32 flag)
{
	return n && (has->kinds & flag) ? n - 1 : n;
}

int pvperf_counters_fit_kinds(const struct pvperf_counters *has, __u64 need)
{
	__u32 narrow = pvperf_counters_narrow(need), ref = need >> 24 & 0xff;
	int has_ref = has->kinds & KVM_PERF_COUNTERS_REF_CYCLES;
	__u32 general = (need & 0xff) + narrow + (has_ref ? 0 : ref) +
			counters_left(has, need >> 8 & 0xff, KVM_PERF_COUNTERS_INSTRUCTIONS) +
			counters_left(has, need >> 16 & 0xff, KVM_PERF_COUNTERS_CYCLES);

	/* No general counter takes ref-cycles. The need may be that of a host before this one. */
	return general <= has->general && (!has_ref || ref <= 1) &&
	       (!has->narrow.counters || narrow <= has->narrow.counters);
}
