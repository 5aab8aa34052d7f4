/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _PVPERF_GUEST_CAPS_H
#define _PVPERF_GUEST_CAPS_H

#include <linux/types.h>
#include "counters.h"

struct pvperf_caps {
	u32 features;
	u32 events;	/* that a vCPU may have open */
	u32 batch;	/* operations in one batch */
	struct pvperf_counters counters;
	u32 min_period;
};

/* The present host's. When the host is replaced the members change one by one. */
extern struct pvperf_caps pvperf_caps;

/*
 * Looks for a host that serves us, and takes its capabilities. Returns NULL, or in
 * a few words why there is none. Any context but NMI.
 */
const char *pvperf_caps_discover(void);

#endif /* _PVPERF_GUEST_CAPS_H */
