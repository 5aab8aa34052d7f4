/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _PVPERF_HOST_OVERFLOW_H
#define _PVPERF_HOST_OVERFLOW_H

/* Turns an overflow of a host perf_event into an update of the page and an NMI. */

#include <linux/types.h>

struct perf_event;
struct perf_sample_data;
struct pt_regs;
struct pvperf_host_event;
struct pvperf_vcpu;

/* Find perf's own limit; when the module is loaded. */
void pvperf_overflow_init(void);

/*
 * Set the period that the guest wants now. @event: its perf_event is off, and is enabled next;
 * @left: how much is left of the first period; 0: all of it.
 */
void pvperf_overflow_arm(struct pvperf_host_event *event, u64 left);

/*
 * Tell of overflows that could not be told when they happened. @vcpu: the vCPU whose thread
 * this is, in a call, locked.
 */
void pvperf_overflow_late(struct pvperf_vcpu *vcpu);

/*
 * perf's overflow handler for hardware events. Its event has overflowed in its vCPU's thread and
 * in its guest. In an NMI.
 */
extern void (*pvperf_overflow_hard)(struct perf_event *perf, struct perf_sample_data *data,
				    struct pt_regs *regs);

/* The same for an event with branches. */
void pvperf_overflow_branches(struct perf_event *perf, struct perf_sample_data *data,
			      struct pt_regs *regs);

/*
 * The same for software events. @perf: has overflowed, in its vCPU's thread, which may be in
 * the VMM's own code. Context: interrupt, or process (a page fault).
 */
void pvperf_overflow_soft(struct perf_event *perf, struct perf_sample_data *data,
			  struct pt_regs *regs);

#endif /* _PVPERF_HOST_OVERFLOW_H */
