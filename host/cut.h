/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _PVPERF_HOST_CUT_H
#define _PVPERF_HOST_CUT_H

/*
 * Which of a CPU's last branches may pass to a guest. Pure: knows neither KVM nor perf, and is
 * tested in userspace.
 */

#include <linux/kvm_pvperf.h>
#ifndef __KERNEL__
#include <stdbool.h>
#endif

/* One entry, as the two MSRs of AMD's LbrExtV2 have it. */
struct pvperf_cut_raw {
	__u64 from;
	__u64 to;
};

#define PVPERF_CUT_ADDRESS		0x03ffffffffffffffULL
#define PVPERF_CUT_FROM_MISPREDICTED	0x8000000000000000ULL
#define PVPERF_CUT_TO_VALID		0x8000000000000000ULL
#define PVPERF_CUT_TO_SPECULATIVE	0x4000000000000000ULL
/* The entry is no branch: erratum 1452. */
#define PVPERF_CUT_TO_RESERVED		0x2000000000000000ULL

enum pvperf_cut {
	PVPERF_CUT_END,		/* neither this one nor any before it */
	PVPERF_CUT_SKIP,	/* not this one */
	PVPERF_CUT_PASS,	/* this one */
};

/*
 * Look at the entries from the last branch on, until PVPERF_CUT_END. @raw: an entry; @bits: of a
 * linear address; @full: also what KVM_PERF_BRANCH_* say; @to: is written if the entry may pass.
 *
 * Passes what goes from user mode to user mode. What comes before the way out of the kernel may be
 * another task's. A branch that the CPU took by a wrong guess is skipped: another program's
 * branches, the VMM's among them, may have led to the guess.
 */
enum pvperf_cut pvperf_cut(const struct pvperf_cut_raw *raw, unsigned int bits, bool full,
			   struct guest_perf_branch *to);

#endif /* _PVPERF_HOST_CUT_H */
