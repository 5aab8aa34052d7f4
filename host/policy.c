// SPDX-License-Identifier: GPL-2.0
/*
 * What a VM may open: which types, and which bits of config. Everything else is
 * refused.
 *
 * A raw event may use only the harmless fields of the event select: not the ring
 * and interrupt bits, which the host sets, and not AnyThread (bit 21), which would
 * count the sibling thread, perhaps another VM's. Raw events count while this vCPU
 * runs guest code (the host excludes itself). All the same a few selects of some
 * CPUs are about the whole core or package; raw=list and raw=no are the answers where a
 * guest may not see that.
 *
 * Software events are the host's, about the vCPU's own thread: how the host
 * scheduled it, which the guest sees as steal time, too. host_events=no refuses them.
 */
#include <pvperf/codes.h>
#include "policy.h"
#include "selects.h"

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

static bool raw_allowed(const struct pvperf_policy *policy, const struct pvperf_offer *offer,
			__u64 config)
{
	switch (pvperf_policy_word(policy, PVPERF_WORD_RAW)) {
	case PVPERF_RAW_YES:
		return true;
	case PVPERF_RAW_LIST:
		return offer->selects && pvperf_selects_has(offer->selects, config);
	default:
		return false;
	}
}

/* A guest would block the sibling's use of an MSR that hyperthreads share. */
static int check_raw(const struct pvperf_policy *policy, const struct pvperf_offer *offer,
		     const struct guest_perf_attr *attr)
{
	if (!raw_allowed(policy, offer, attr->config) || attr->config & ~offer->raw_mask ||
	    !offer->raw_mask)
		return -KVM_EPERM;
	if ((attr->config & PVPERF_RAW_SELECT_AMD) == PVPERF_RAW_MERGE_AMD)
		return -KVM_EPERM;
	return offer->extra_msr && pvperf_code_has_msr(attr->config) ? -KVM_EPERM : 0;
}

/* More than what the vCPU does in the guest. */
#define FLAGS_GLOBAL		(KVM_PERF_FLAG_HOST | KVM_PERF_FLAG_CPU)
#define FLAGS_SPECIAL		(FLAGS_GLOBAL | KVM_PERF_FLAG_KINDS)

static int check_branches(const struct pvperf_policy *policy, const struct pvperf_offer *offer,
			  const struct guest_perf_attr *attr)
{
	if (!attr->sample_type)
		return 0;
	if (!offer->branches)
		return -KVM_ENOENT;
	return pvperf_policy_word(policy, PVPERF_WORD_BRANCHES) ? 0 : -KVM_EPERM;
}

static int is_special(const struct guest_perf_attr *attr)
{
	return (attr->flags & FLAGS_SPECIAL) | attr->sample_type;
}

/* Counts only: samples would tell where the host's kernel and its processes are. */
static int check_special(const struct pvperf_policy *policy, const struct pvperf_offer *offer,
			 const struct guest_perf_attr *attr)
{
	if (!is_special(attr))
		return 0;
	if (KVM_PERF_FLAG_KIND_OF(attr->flags) > offer->kinds)
		return -KVM_ENOENT;
	if (!(attr->flags & FLAGS_GLOBAL))
		return check_branches(policy, offer, attr);
	if (pvperf_policy_word(policy, PVPERF_WORD_ACCESS) < PVPERF_ACCESS_GLOBAL)
		return -KVM_EPERM;
	return attr->sample_period ? -KVM_EINVAL : 0;
}

/* A driver that knows no exclude_host would count what the host does. */
static int check_counter(const struct pvperf_policy *policy, const struct pvperf_offer *offer,
			 const struct guest_perf_attr *attr)
{
	int err = check_special(policy, offer, attr);

	if (err)
		return err;
	if (!offer->hardware)
		return -KVM_ENOENT;
	switch (attr->type) {
	case KVM_PERF_TYPE_HARDWARE:
		return attr->config < HW_MAX ? 0 : -KVM_ENOENT;
	case KVM_PERF_TYPE_HW_CACHE:
		return check_cache(offer, attr);
	default:
		return check_raw(policy, offer, attr);
	}
}

static int check_software(const struct pvperf_policy *policy,
			  const struct guest_perf_attr *attr)
{
	if (is_special(attr))
		return -KVM_EINVAL;
	switch (attr->config) {
	case SW_CPU_CLOCK:
	case SW_PAGE_FAULTS:
	case SW_CONTEXT_SWITCHES:
	case SW_CPU_MIGRATIONS:
		return pvperf_policy_word(policy, PVPERF_WORD_HOST_EVENTS) ? 0 : -KVM_EPERM;
	default:
		return -KVM_EPERM;
	}
}

/* With a limit of one perf stops events of hardware and of timers at each overflow. */
static int check_period(const struct pvperf_policy *policy, const struct pvperf_offer *offer,
			const struct guest_perf_attr *attr)
{
	if (attr->sample_period < pvperf_policy_min_period(policy, attr->type))
		return -KVM_EINVAL;
	if (!offer->per_tick || __atomic_load_n(offer->per_tick, __ATOMIC_RELAXED) > 1)
		return 0;
	return attr->type == KVM_PERF_TYPE_SOFTWARE && attr->config != SW_CPU_CLOCK ?
	       0 : -KVM_EOPNOTSUPP;
}

int pvperf_policy_check(const struct pvperf_policy *policy, const struct pvperf_offer *offer,
			const struct guest_perf_attr *attr)
{
	__u32 access = pvperf_policy_word(policy, PVPERF_WORD_ACCESS);
	int err;

	/* One comparison. */
	if (access - PVPERF_ACCESS_LOCAL > PVPERF_ACCESS_GLOBAL - PVPERF_ACCESS_LOCAL)
		return access < PVPERF_ACCESS_LOCAL ? -KVM_ENOSYS : -KVM_EUSERS;
	if (attr->sample_period) {
		err = check_period(policy, offer, attr);
		if (err)
			return err;
	}
	switch (attr->type) {
	case KVM_PERF_TYPE_SOFTWARE:
		return check_software(policy, attr);
	case KVM_PERF_TYPE_HARDWARE:
	case KVM_PERF_TYPE_HW_CACHE:
	case KVM_PERF_TYPE_RAW:
		return check_counter(policy, offer, attr);
	default:
		return -KVM_EPERM;
	}
}

enum pvperf_word pvperf_policy_why(const struct pvperf_policy *policy,
				   const struct pvperf_offer *offer,
				   const struct guest_perf_attr *attr)
{
	static const struct {
		enum pvperf_word word;
		__u32 most;
	} words[] = {
		{ PVPERF_WORD_ACCESS, PVPERF_ACCESS_GLOBAL }, { PVPERF_WORD_RAW, PVPERF_RAW_YES },
		{ PVPERF_WORD_HOST_EVENTS, 1 }, { PVPERF_WORD_MIN_PERIOD, 1 },
		{ PVPERF_WORD_BRANCHES, PVPERF_BRANCHES_FULL },
	};
	struct pvperf_policy other;
	unsigned int i;

	for (i = 0; i < sizeof(words) / sizeof(*words); i++) {
		other = *policy;
		other.word[words[i].word] = words[i].most;
		if (!pvperf_policy_check(&other, offer, attr))
			return words[i].word;
	}
	return PVPERF_WORDS;
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
	if (offer->hardware &&
	    pvperf_policy_word(policy, PVPERF_WORD_ACCESS) >= PVPERF_ACCESS_GLOBAL)
		features |= KVM_PERF_FEATURE_HOST | KVM_PERF_FEATURE_HOST_CPUS;
	if (offer->kinds)
		features |= KVM_PERF_FEATURE_KINDS;
	if (offer->branches && pvperf_policy_word(policy, PVPERF_WORD_BRANCHES))
		features |= KVM_PERF_FEATURE_BRANCHES;
	return features;
}

/* global, exclusive and force allow the same events. */
static int word_is_same(int i, __u32 a, __u32 b)
{
	return a == b || (i == PVPERF_WORD_ACCESS && a >= PVPERF_ACCESS_GLOBAL &&
			  b >= PVPERF_ACCESS_GLOBAL);
}

__u32 pvperf_policy_assign(struct pvperf_policy *policy, const struct pvperf_policy *to)
{
	__u32 changed = 0;
	int i;

	for (i = 0; i < PVPERF_WORDS; i++) {
		if (!word_is_same(i, policy->word[i], to->word[i]))
			changed |= 1u << i;
		WRITE_ONCE(policy->word[i], to->word[i]);
	}
	return changed;
}
