/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _PVPERF_HOST_POLICY_H
#define _PVPERF_HOST_POLICY_H

/*
 * May a VM have this event? Pure tables: knows neither KVM nor perf, and is
 * tested in userspace.
 */

#include <linux/kvm_pvperf.h>

enum pvperf_access {
	PVPERF_ACCESS_UNAVAILABLE,	/* as if there were no host side */
	PVPERF_ACCESS_LOCAL,		/* what the VM's own vCPUs do */
};

/* Who waits when the host's own perf wants the same counters. */
enum pvperf_priority {
	PVPERF_PRIORITY_FLEXIBLE,	/* the guest */
	PVPERF_PRIORITY_PINNED,		/* what is not pinned, too, at the host */
};

struct pvperf_policy {
	enum pvperf_access access;
	enum pvperf_priority priority;	/* of VMs to come */
	__u32 max_events;		/* per vCPU */
	__u32 max_pages;		/* pinned, per VM */
	__u32 min_period;
	__u64 raw_mask;			/* config bits of a raw event; 0: none */
};

/* Event select, unit mask, edge, invert, counter mask; AMD: select 11:8. */
#define PVPERF_RAW_MASK_INTEL	0xff84ffffULL
#define PVPERF_RAW_MASK_AMD	(0xff84ffffULL | 0xfULL << 32)

/* @attr was decoded. Returns 0 or a -KVM_E* value. */
int pvperf_policy_check(const struct pvperf_policy *policy,
			const struct guest_perf_attr *attr);
__u32 pvperf_policy_min_period(const struct pvperf_policy *policy, __u32 type);
__u32 pvperf_policy_features(const struct pvperf_policy *policy);

#endif /* _PVPERF_HOST_POLICY_H */
