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
	u32 branches;	/* that a sample may have */
	u32 family;	/* family and model of the host's CPU, by CPUID 1; 0: not known */
	u8 model;	/* a number of its own for each kind of CPU; 0: not known */
};

/* The VM has seen more kinds of hosts than it can tell apart. */
#define PVPERF_MODEL_ANY	0xff

/* The present host's. When the host is replaced the members change one by one. */
extern struct pvperf_caps pvperf_caps;

/*
 * Looks for a host that serves us, and takes its capabilities. Returns NULL, or in
 * a few words why there is none. Any context but NMI.
 */
const char *pvperf_caps_discover(void);

/*
 * How many CPUs of the host are online, if this VM may count them; else 0. Stores in @all 1 +
 * the highest number. Asks the host each time.
 */
u32 pvperf_caps_host_cpus(u32 *all);

/* Stores the name of a kind of cores, KVM_PERF_KIND_NAME + 1 bytes; "": there is none. */
void pvperf_caps_kind(u32 kind, char *name);

/* Is the host's CPU of the kind that the guest's CPUID claims, as far as is known? */
bool pvperf_caps_cpu_is_ours(void);

/* May raw codes that were chosen on a host's @model mean something else here? */
static inline bool pvperf_caps_is_other_model(u8 model)
{
	u8 here = pvperf_caps.model;

	return model && here && (model != here || here == PVPERF_MODEL_ANY);
}

#endif /* _PVPERF_GUEST_CAPS_H */
