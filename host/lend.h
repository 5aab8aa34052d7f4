/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _PVPERF_HOST_LEND_H
#define _PVPERF_HOST_LEND_H

/*
 * perf lends the whole PMU to VMs with a mediated vPMU, but only while nobody has a
 * hardware event that counts guests. With yield=1 guests give up
 * their hardware events for such a VM.
 */

/* The parameter yield. */
extern bool pvperf_lend_yield;

/**
 * pvperf_lend_begin() - take the hardware events of all guests; may sleep
 *
 * perf can lend the PMU from now until pvperf_lend_end().
 */
void pvperf_lend_begin(void);

/**
 * pvperf_lend_end() - perf has lent the PMU, or has refused to
 * @err: perf's answer; unless it is 0 the guests get their events back
 */
void pvperf_lend_end(int err);

/**
 * pvperf_lend_back() - give guests their events back, if perf can; soon, without waiting
 *
 * A VM has returned the PMU, perhaps not the last one that has it.
 */
void pvperf_lend_back(void);

#endif /* _PVPERF_HOST_LEND_H */
