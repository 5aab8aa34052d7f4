/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _PVPERF_GUEST_SYSFS_H
#define _PVPERF_GUEST_SYSFS_H

#include <linux/bits.h>
#include <linux/sysfs.h>

/* The config of type "cpu" and "pvperf"; what sysfs/format tells. */
#define PVPERF_CONFIG_PV	GENMASK_ULL(51, 48)
#define PVPERF_CONFIG_NUMBER	GENMASK_ULL(23, 0)

/* Values of its field pv: the number is ... */
#define PVPERF_PV_RAW		0	/* an event of the CPU, as its maker has it */
#define PVPERF_PV_HARDWARE	1	/* PERF_COUNT_HW_* */
#define PVPERF_PV_SOFTWARE	2	/* PERF_COUNT_SW_*, of the host */
#define PVPERF_PV_CACHE		3	/* PERF_COUNT_HW_CACHE_* << ... */

/* The groups of each PMU, and which of their events the host has. */
extern const struct attribute_group *pvperf_sysfs_cpu[];
extern const struct attribute_group *pvperf_sysfs_pvperf[];
void pvperf_sysfs_init(void);

#endif /* _PVPERF_GUEST_SYSFS_H */
