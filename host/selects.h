/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _PVPERF_HOST_SELECTS_H
#define _PVPERF_HOST_SELECTS_H

/*
 * The raw events of raw=list: those that are about the hyperthread that counts them, alone.
 * Pure: knows neither KVM nor perf, and is tested in userspace.
 */

#include <linux/types.h>
#ifndef __KERNEL__
#include <stdbool.h>
#endif

/* Some event selects that are next to each other. */
struct pvperf_selects {
	__u16 first;	/* the first of them */
	__u16 last;	/* the last one; 0: only .first */
	__u8 units;	/* the bits that their unit masks may have */
};

/* Each ends with an entry that allows no unit mask. */
extern const struct pvperf_selects pvperf_selects_intel[];
extern const struct pvperf_selects pvperf_selects_amd[];

/* Is an event in a list? @config: a raw event's. */
bool pvperf_selects_has(const struct pvperf_selects *list, __u64 config);

#endif /* _PVPERF_HOST_SELECTS_H */
