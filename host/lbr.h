/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _PVPERF_HOST_LBR_H
#define _PVPERF_HOST_LBR_H

/*
 * The stack of last branches of a CPU: AMD's LbrExtV2, and Intel's of Haswell to Ice Lake. perf's
 * driver switches it on and off, and sets its filter; here it is read and cleared, and lent to a
 * guest. Knows the CPU, neither KVM nor perf.
 */

#include <linux/types.h>

struct pvperf_cut_raw;

/* How many branches the CPU keeps; 0: it has no such stack. */
extern u32 pvperf_lbr_depth;

/* KVM_PERF_BRANCH_*: what it tells of a branch. */
extern u64 pvperf_lbr_tells;

/* Does the CPU keep no branches of a guest but those of one whose VMCS says so? Intel's. */
extern bool pvperf_lbr_stops;

/* At load. */
void pvperf_lbr_init(void);

/* Forget this CPU's branches; preemption off. */
void pvperf_lbr_clear(void);

/* Does this CPU keep all branches that end in user mode, and no others? Any context. */
bool pvperf_lbr_is_of_user_nmi(void);

/* Read this CPU's entries, the last branch first. @raw: pvperf_lbr_depth of them. Any context. */
void pvperf_lbr_read_nmi(struct pvperf_cut_raw *raw);

/*
 * Before the CPU enters a guest: if perf keeps branches of user mode now, the guest's are kept,
 * too. With pvperf_lbr_stops, IRQs off, and the vCPU's VMCS the current one. Returns false if they
 * are not.
 */
bool pvperf_lbr_lend(void);

/* Undo pvperf_lbr_lend(), before KVM handles the exit; the same context. */
void pvperf_lbr_take_back(void);

#endif /* _PVPERF_HOST_LBR_H */
