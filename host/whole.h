/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _PVPERF_HOST_WHOLE_H
#define _PVPERF_HOST_WHOLE_H

/*
 * perf_events of whole CPUs of the host, for VMs whose policy has access=global.
 */

#include <linux/types.h>

struct perf_event;
struct perf_event_attr;

/**
 * pvperf_whole_init() - at load
 *
 * Return: 0 or -ENOMEM.
 */
int pvperf_whole_init(void);

/**
 * pvperf_whole_exit() - at unload, when no VM is left
 */
void pvperf_whole_exit(void);

/**
 * pvperf_whole_create() - create an event of a CPU; may sleep
 * @attr: what it counts
 * @cpu: the CPU, as a guest has said
 *
 * Return: the event, or an ERR_PTR(): -ENODEV if no such CPU is online, -EDQUOT if VMs have as
 * many events of this CPU as are allowed.
 */
struct perf_event *pvperf_whole_create(struct perf_event_attr *attr, u32 cpu);

/**
 * pvperf_whole_released() - an event of a CPU is released
 * @cpu: the CPU
 */
void pvperf_whole_released(u32 cpu);

#endif /* _PVPERF_HOST_WHOLE_H */
