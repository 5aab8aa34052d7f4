// SPDX-License-Identifier: GPL-2.0
/* Which of a CPU's last branches may pass to a guest. */
#include "cut.h"

#define CUT_ADDRESS		0x03ffffffffffffffULL
#define CUT_FROM_MISPREDICTED	0x8000000000000000ULL
#define CUT_TO_VALID		0x8000000000000000ULL
#define CUT_TO_SPECULATIVE	0x4000000000000000ULL
#define CUT_TO_RESERVED		0x2000000000000000ULL	/* a branch that never was (erratum 1452) */

/* The lower half. The bits between the address and bit 58 repeat the address's highest. */
static bool cut_is_user(__u64 word, unsigned int bits)
{
	return !((word & CUT_ADDRESS) >> (bits - 1));
}

static __u64 cut_flags(const struct pvperf_cut_raw *raw)
{
	return (raw->from & CUT_FROM_MISPREDICTED ? KVM_PERF_BRANCH_MISPREDICTED : 0) |
	       (raw->to & CUT_TO_SPECULATIVE ? KVM_PERF_BRANCH_SPECULATIVE : 0) |
	       (raw->to & CUT_TO_VALID ? KVM_PERF_BRANCH_CORRECT : 0);
}

enum pvperf_cut pvperf_cut(const struct pvperf_cut_raw *raw, unsigned int bits, bool full,
			   struct guest_perf_branch *to)
{
	const bool correct = raw->to & CUT_TO_VALID;

	if ((!correct && !(raw->to & CUT_TO_SPECULATIVE)) || raw->to & CUT_TO_RESERVED)
		return PVPERF_CUT_END;
	if (!cut_is_user(raw->from, bits) || !cut_is_user(raw->to, bits))
		return PVPERF_CUT_END;
	if (!correct && !full)
		return PVPERF_CUT_SKIP;
	to->from = raw->from & CUT_ADDRESS;
	to->to = raw->to & CUT_ADDRESS;
	to->flags = full ? cut_flags(raw) : 0;
	return PVPERF_CUT_PASS;
}
