// SPDX-License-Identifier: GPL-2.0
/* Which of a CPU's last branches may pass to a guest. */
#include "cut.h"

/* The lower half. The bits between the address and bit 58 repeat the address's highest. */
static bool cut_is_user(__u64 word, unsigned int bits)
{
	return !((word & PVPERF_CUT_ADDRESS) >> (bits - 1));
}

static __u64 cut_flags(const struct pvperf_cut_raw *raw)
{
	return (raw->from & PVPERF_CUT_FROM_MISPREDICTED ? KVM_PERF_BRANCH_MISPREDICTED : 0) |
	       (raw->to & PVPERF_CUT_TO_SPECULATIVE ? KVM_PERF_BRANCH_SPECULATIVE : 0) |
	       (raw->to & PVPERF_CUT_TO_VALID ? KVM_PERF_BRANCH_CORRECT : 0);
}

enum pvperf_cut pvperf_cut(const struct pvperf_cut_raw *raw, unsigned int bits, bool full,
			   struct guest_perf_branch *to)
{
	const bool correct = raw->to & PVPERF_CUT_TO_VALID;
	const bool wrong = raw->to & PVPERF_CUT_TO_SPECULATIVE;

	if ((!correct && !wrong) || raw->to & PVPERF_CUT_TO_RESERVED)
		return PVPERF_CUT_END;
	if (!cut_is_user(raw->from, bits) || !cut_is_user(raw->to, bits))
		return PVPERF_CUT_END;
	if (!correct)
		return PVPERF_CUT_SKIP;
	to->from = raw->from & PVPERF_CUT_ADDRESS;
	to->to = raw->to & PVPERF_CUT_ADDRESS;
	to->flags = full ? cut_flags(raw) : 0;
	return PVPERF_CUT_PASS;
}
