/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _PVPERF_HOST_LBR_H
#define _PVPERF_HOST_LBR_H

/*
 * The stack of last branches of a CPU: AMD's LbrExtV2. perf's driver switches it on and off, and
 * sets its filter; here it is read and cleared. Knows the CPU, neither KVM nor perf.
 */

#include <linux/types.h>

struct pvperf_cut_raw;

/* How many branches the CPU keeps; 0: it has no such stack. */
extern u32 pvperf_lbr_depth;

/* At load. */
void pvperf_lbr_init(void);

/* Forget this CPU's branches; preemption off. */
void pvperf_lbr_clear(void);

/* Does this CPU keep all branches that end in user mode, and no others? Any context. */
bool pvperf_lbr_is_of_user_nmi(void);

/* Read an entry of this CPU. @i: 0 is the last branch; below pvperf_lbr_depth. Any context. */
void pvperf_lbr_read_nmi(u32 i, struct pvperf_cut_raw *to);

#endif /* _PVPERF_HOST_LBR_H */
