/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _PVPERF_HOST_POLICY_H
#define _PVPERF_HOST_POLICY_H

/*
 * May a VM have this event? Pure: knows neither KVM nor perf, and is tested in
 * userspace.
 */

#include <linux/kvm_pvperf.h>

/**
 * enum pvperf_access - what guests may count
 * @PVPERF_ACCESS_UNAVAILABLE: nothing, as if there were no host side
 * @PVPERF_ACCESS_LOCAL: what the VM's own vCPUs do
 */
enum pvperf_access {
	PVPERF_ACCESS_UNAVAILABLE,
	PVPERF_ACCESS_LOCAL,
};

/**
 * enum pvperf_priority - who waits when the host's own perf wants the same counters
 * @PVPERF_PRIORITY_FLEXIBLE: the guest
 * @PVPERF_PRIORITY_PINNED: the host's unpinned events wait as well
 */
enum pvperf_priority {
	PVPERF_PRIORITY_FLEXIBLE,
	PVPERF_PRIORITY_PINNED,
};

/**
 * struct pvperf_policy - the module's parameters
 * @access: for all VMs
 * @priority: of VMs that make their first call from now on
 * @yield: a VM that wants the whole PMU (mediated vPMU) gets it from the guests
 * @max_events: of one vCPU
 * @max_vm_events: of all vCPUs of a VM
 * @max_opens: OPENs of a VM in a second; more wait
 * @max_pages: that one VM's pins may hold, see hold.h
 * @min_period: the shortest sampling period
 * @hardware: perf's driver for this CPU can exclude the host from an event
 * @node: the cache events of the memory node are about the vCPU alone
 * @extra_msr: some raw events use an MSR besides the counter, which siblings share
 * @raw_mask: the config bits that a raw event may use; 0: no raw events
 */
struct pvperf_policy {
	enum pvperf_access access;
	enum pvperf_priority priority;
	bool yield;
	__u32 max_events;
	__u32 max_vm_events;
	__u32 max_opens;
	__u32 max_pages;
	__u32 min_period;
	bool hardware;
	bool node;
	bool extra_msr;
	__u64 raw_mask;
};

/* Event select, unit mask, edge, invert, counter mask; AMD: select 11:8. */
#define PVPERF_RAW_MASK_INTEL	0xff84ffffULL
#define PVPERF_RAW_MASK_AMD	(0xff84ffffULL | 0xfULL << 32)

/**
 * pvperf_policy_check() - may a VM open this event?
 * @policy: the policy
 * @attr: was decoded
 *
 * Return: 0 or -KVM_E*.
 */
int pvperf_policy_check(const struct pvperf_policy *policy,
			const struct guest_perf_attr *attr);

/**
 * pvperf_policy_min_period() - the shortest sampling period
 * @policy: the policy
 * @type: KVM_PERF_TYPE_*
 *
 * Return: the period.
 */
__u32 pvperf_policy_min_period(const struct pvperf_policy *policy, __u32 type);

/**
 * pvperf_policy_features() - what CPUID tells a guest
 * @policy: the policy
 *
 * Return: KVM_PERF_FEATURE_*.
 */
__u32 pvperf_policy_features(const struct pvperf_policy *policy);

#endif /* _PVPERF_HOST_POLICY_H */
