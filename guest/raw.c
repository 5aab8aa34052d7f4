// SPDX-License-Identifier: GPL-2.0
/*
 * The tables of raw.h. The invariant: a code counts what it counts on bare metal, or
 * is refused.
 */
#include <pvperf/codes.h>
#include "raw.h"

#define PVPERF_RAW_SELECT	0xff84ffffULL	/* select, umask, edge, inv, cmask */
#define PVPERF_RAW_SELECT_AMD	(0xfULL << 32)	/* select, bits 11:8 */
#define PVPERF_RAW_ANY_THREAD	0x00200000ULL
#define PVPERF_RAW_IN_TX	(3ULL << 32)	/* in a transaction; checkpointed */
#define PVPERF_RAW_EQUAL	(0x10ULL << 32)	/* compares with cmask for equality */
#define PVPERF_RAW_UMASK2	(0xffULL << 40)	/* both Intel's, since PerfMon version 6 */

static const __u64 taken_bits[] = {
	[PVPERF_RAW_OTHER]	= PVPERF_RAW_SELECT,
	[PVPERF_RAW_AMD]	= PVPERF_RAW_SELECT | PVPERF_RAW_SELECT_AMD,
	[PVPERF_RAW_INTEL]	= PVPERF_RAW_SELECT | PVPERF_RAW_ANY_THREAD |
				  PVPERF_RAW_EQUAL | PVPERF_RAW_UMASK2,
	[PVPERF_RAW_INTEL_TSX]	= PVPERF_RAW_SELECT | PVPERF_RAW_ANY_THREAD |
				  PVPERF_RAW_EQUAL | PVPERF_RAW_UMASK2 |
				  PVPERF_RAW_IN_TX,
};

__u64 pvperf_raw_config(enum pvperf_raw_maker maker, __u64 config)
{
	return config & taken_bits[maker];
}

int pvperf_raw_has_more(enum pvperf_raw_maker maker, __u64 config)
{
	__u64 fields = PVPERF_RAW_SELECT | (maker == PVPERF_RAW_AMD ? PVPERF_RAW_SELECT_AMD : 0);

	return !!(config & ~fields);
}

int pvperf_raw_wants_config1(enum pvperf_raw_maker maker, __u64 config)
{
	return (maker == PVPERF_RAW_INTEL || maker == PVPERF_RAW_INTEL_TSX) &&
	       pvperf_code_has_msr(config);
}
