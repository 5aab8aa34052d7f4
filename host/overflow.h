/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _PVPERF_HOST_OVERFLOW_H
#define _PVPERF_HOST_OVERFLOW_H

/* From an overflow of a host perf_event to the guest's page and an NMI. */

#include <linux/types.h>

struct perf_event;
struct perf_sample_data;
struct pt_regs;
struct pvperf_host_event;

/*
 * Before enabling a perf_event that is off: the period that the guest wants
 * now, and how much is left of the first one (0: all of it).
 */
void pvperf_overflow_arm(struct pvperf_host_event *event, u64 left);

/*
 * perf's overflow handler, in the vCPU's thread: NMI for a hardware event, interrupt or
 * process context (a page fault) for a software one.
 */
void pvperf_overflow_nmi(struct perf_event *perf, struct perf_sample_data *data,
			 struct pt_regs *regs);

#endif /* _PVPERF_HOST_OVERFLOW_H */
