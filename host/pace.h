/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _PVPERF_HOST_PACE_H
#define _PVPERF_HOST_PACE_H

/*
 * How many events a VM may open in a second. What perf does to open one differs between
 * kernels, events and CPUs, and some of it costs the whole host. Knows neither KVM nor perf.
 */

#include <linux/types.h>

/**
 * pvperf_pace() - take a place in a VM's rate
 * @next: when the VM's next place begins, in ns; of all its threads
 * @now: the time, in ns
 * @rate: places a second, and how many may be taken at once after a second without any
 *
 * Return: how long to wait for the place, in ns; 0: not at all.
 */
u64 pvperf_pace(atomic64_t *next, u64 now, u32 rate);

#endif /* _PVPERF_HOST_PACE_H */
