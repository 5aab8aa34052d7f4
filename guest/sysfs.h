/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _PVPERF_GUEST_SYSFS_H
#define _PVPERF_GUEST_SYSFS_H

#include <linux/bits.h>
#include <linux/sysfs.h>

/* The config of events of "cpu" and "pvperf", as format/ in sysfs describes it. */
#define PVPERF_CONFIG_PV	GENMASK_ULL(51, 48)
#define PVPERF_CONFIG_HOST	BIT_ULL(52)	/* this and the next: of "pvperf" */
#define PVPERF_CONFIG_KIND	GENMASK_ULL(54, 53)
#define PVPERF_CONFIG_NUMBER	GENMASK_ULL(23, 0)

/* Values of the field pv. They say what the number is: */
#define PVPERF_PV_RAW		0	/* a raw event of the CPU's maker */
#define PVPERF_PV_HARDWARE	1	/* PERF_COUNT_HW_* */
#define PVPERF_PV_SOFTWARE	2	/* PERF_COUNT_SW_*, counted by the host */
#define PVPERF_PV_CACHE		3	/* PERF_COUNT_HW_CACHE_* << ... */

/* The attributes of each PMU. pvperf_sysfs_init() finds out which events the host has. */
extern const struct attribute_group *pvperf_sysfs_cpu[];
extern const struct attribute_group *pvperf_sysfs_kind[];
extern const struct attribute_group *pvperf_sysfs_pvperf[];
extern const struct attribute_group *pvperf_sysfs_host[];
void pvperf_sysfs_init(void);

/*
 * The guest's CPU that opens and reads the events of the host's CPUs. On 6.1 it can go offline;
 * they count nothing then.
 */
#define PVPERF_READER		0

#endif /* _PVPERF_GUEST_SYSFS_H */
