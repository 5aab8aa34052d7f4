/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _PVPERF_GUEST_BRANCHES_H
#define _PVPERF_GUEST_BRANCHES_H

/* The branches that a sample has: of those that the host has written, the kinds asked for. */

#include <linux/perf_event.h>
#include "state.h"

/* Can a sample of @event have the branches that it asks for? */
bool pvperf_branches_can(const struct perf_event *event);

/*
 * Take what the host has written before the last of @n overflows of @event, in slot @s. In an NMI,
 * which has interrupted @regs, before the samples of these are made.
 */
void pvperf_branches_take_nmi(struct pvperf_cpu *cpu, int s, const struct perf_event *event,
			      u32 n, struct pt_regs *regs);

/* Give the last one of these samples the branches, and those before it none. */
void pvperf_branches_give_nmi(struct perf_event *event, struct perf_sample_data *data);

/* How often the host had none, for a reason of its own. */
u64 pvperf_branches_missing(void);

#endif /* _PVPERF_GUEST_BRANCHES_H */
