/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _PVPERF_GUEST_CAPS_H
#define _PVPERF_GUEST_CAPS_H

#include <linux/types.h>

struct pvperf_caps {
	u32 features;
	u32 events;	/* that a vCPU may have open */
	u32 batch;	/* operations in one */
	u32 counters;	/* hardware events at the same time; 0: not known */
	u32 min_period;
};

/* Of the host at hand. Another host may change them at any time, one by one. */
extern struct pvperf_caps pvperf_caps;

/*
 * Looks for a host side and takes its caps. NULL if there is one for us, or in
 * a few words why not. Any context but NMI.
 */
const char *pvperf_caps_discover(void);

#endif /* _PVPERF_GUEST_CAPS_H */
