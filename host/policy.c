// SPDX-License-Identifier: GPL-2.0
/*
 * What a VM may open: which types, and which bits of config. Everything else is
 * refused.
 *
 * A raw event may use only the harmless fields of the event select: not the ring
 * and interrupt bits, which the host sets, and not AnyThread (bit 21), which would
 * count the sibling thread, perhaps another VM's. Raw events count while this vCPU
 * runs guest code (the host excludes itself). All the same a few selects of some
 * CPUs are about the whole core or package; raw=no is the answer where a guest may
 * not see that.
 *
 * Software events are the host's, about the vCPU's own thread: how the host
 * scheduled it, which the guest sees as steal time, too. host_events=no refuses them.
 */
#include <pvperf/codes.h>
#include "policy.h"

/* The values of enum perf_hw_id and enum perf_sw_ids, which are ABI. */
#define HW_MAX			10
#define SW_CPU_CLOCK		0
#define SW_PAGE_FAULTS		2
#define SW_CONTEXT_SWITCHES	3
#define SW_CPU_MIGRATIONS	4
#define CACHE_NODE		6
#define CACHE_MAX		7
#define CACHE_OP_MAX		3
#define CACHE_RESULT_MAX	2

static int check_hardware(const struct guest_perf_attr *attr)
{
	return attr->config < HW_MAX ? 0 : -KVM_ENOENT;
}

static int check_cache(const struct pvperf_offer *offer, const struct guest_perf_attr *attr)
{
	__u64 c = attr->config;

	if (c >> 24)
		return -KVM_EINVAL;
	if ((c & 0xff) >= CACHE_MAX || (c >> 8 & 0xff) >= CACHE_OP_MAX ||
	    (c >> 16) >= CACHE_RESULT_MAX)
		return -KVM_EINVAL;
	return (c & 0xff) == CACHE_NODE && !offer->node ? -KVM_EPERM : 0;
}

/* A guest would block the sibling's use of an MSR that hyperthreads share. */
static int check_raw(const struct pvperf_policy *policy, const struct pvperf_offer *offer,
		     const struct guest_perf_attr *attr, enum pvperf_word *why)
{
	if (attr->config & ~offer->raw_mask || !offer->raw_mask)
		return -KVM_EPERM;
	if (offer->extra_msr && pvperf_code_has_msr(attr->config))
		return -KVM_EPERM;
	if (pvperf_policy_word(policy, PVPERF_WORD_RAW))
		return 0;
	*why = PVPERF_WORD_RAW;
	return -KVM_EPERM;
}

/* A driver that knows no exclude_host would count what the host does. */
static int check_counter(const struct pvperf_policy *policy, const struct pvperf_offer *offer,
			 const struct guest_perf_attr *attr, enum pvperf_word *why)
{
	if (!offer->hardware)
		return -KVM_ENOENT;
	switch (attr->type) {
	case KVM_PERF_TYPE_HARDWARE:
		return check_hardware(attr);
	case KVM_PERF_TYPE_HW_CACHE:
		return check_cache(offer, attr);
	default:
		return check_raw(policy, offer, attr, why);
	}
}

static int check_software(const struct pvperf_policy *policy,
			  const struct guest_perf_attr *attr, enum pvperf_word *why)
{
	switch (attr->config) {
	case SW_CPU_CLOCK:
	case SW_PAGE_FAULTS:
	case SW_CONTEXT_SWITCHES:
	case SW_CPU_MIGRATIONS:
		break;
	default:
		return -KVM_EPERM;
	}
	if (pvperf_policy_word(policy, PVPERF_WORD_HOST_EVENTS))
		return 0;
	*why = PVPERF_WORD_HOST_EVENTS;
	return -KVM_EPERM;
}

/* A software event has no minimum: such events are rare, and overflow.c paces them. */
__u32 pvperf_policy_min_period(const struct pvperf_policy *policy, __u32 type)
{
	return type == KVM_PERF_TYPE_SOFTWARE ? 1 :
	       pvperf_policy_word(policy, PVPERF_WORD_MIN_PERIOD);
}

static int check_type(const struct pvperf_policy *policy, const struct pvperf_offer *offer,
		      const struct guest_perf_attr *attr, enum pvperf_word *why)
{
	switch (attr->type) {
	case KVM_PERF_TYPE_SOFTWARE:
		return check_software(policy, attr, why);
	case KVM_PERF_TYPE_HARDWARE:
	case KVM_PERF_TYPE_HW_CACHE:
	case KVM_PERF_TYPE_RAW:
		return check_counter(policy, offer, attr, why);
	default:
		return -KVM_EPERM;
	}
}

int pvperf_policy_check(const struct pvperf_policy *policy, const struct pvperf_offer *offer,
			const struct guest_perf_attr *attr, enum pvperf_word *why)
{
	*why = PVPERF_WORD_ACCESS;
	if (pvperf_policy_word(policy, PVPERF_WORD_ACCESS) < PVPERF_ACCESS_LOCAL)
		return -KVM_ENOSYS;
	*why = PVPERF_WORD_MIN_PERIOD;
	if (attr->sample_period &&
	    attr->sample_period < pvperf_policy_min_period(policy, attr->type))
		return -KVM_EINVAL;
	*why = PVPERF_WORDS;
	return check_type(policy, offer, attr, why);
}

__u32 pvperf_policy_features(const struct pvperf_policy *policy,
			     const struct pvperf_offer *offer)
{
	__u32 features = KVM_PERF_FEATURE_PAGE | KVM_PERF_FEATURE_BATCH |
			 KVM_PERF_FEATURE_TIMES | KVM_PERF_FEATURE_SAMPLING |
			 KVM_PERF_FEATURE_READ_MANY |
			 KVM_PERF_FEATURE_COUNTERS | KVM_PERF_FEATURE_NARROW |
			 KVM_PERF_FEATURE_OPEN_PAGE | KVM_PERF_FEATURE_CPU |
			 KVM_PERF_FEATURE_CLOCK | KVM_PERF_FEATURE_REASON;

	if (offer->raw_mask && pvperf_policy_word(policy, PVPERF_WORD_RAW))
		features |= KVM_PERF_FEATURE_RAW;
	if (pvperf_policy_word(policy, PVPERF_WORD_HOST_EVENTS))
		features |= KVM_PERF_FEATURE_HOST_SW;
	return features;
}

__u32 pvperf_policy_assign(struct pvperf_policy *policy, const struct pvperf_policy *to)
{
	__u32 changed = 0;
	int i;

	for (i = 0; i < PVPERF_WORDS; i++) {
		if (policy->word[i] == to->word[i])
			continue;
		WRITE_ONCE(policy->word[i], to->word[i]);
		changed |= 1u << i;
	}
	return changed;
}
