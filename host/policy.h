/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _PVPERF_HOST_POLICY_H
#define _PVPERF_HOST_POLICY_H

/*
 * A VM's policy, and which events it allows. Pure: knows neither KVM nor perf, and is tested
 * in userspace.
 */

#include <linux/kvm_pvperf.h>
#ifdef __KERNEL__
#include <linux/compiler.h>
#else
#define READ_ONCE(x)		(x)
#define WRITE_ONCE(x, value)	((x) = (value))
#endif

/**
 * enum pvperf_access - what guests may count
 * @PVPERF_ACCESS_UNAVAILABLE: nothing, as if there were no host side
 * @PVPERF_ACCESS_LOCAL: what the VM's own vCPUs do
 * @PVPERF_ACCESS_GLOBAL: and what the host does in their threads, and what its CPUs do, counts
 *	only
 * @PVPERF_ACCESS_EXCLUSIVE: the same, if no other VM counts, and none does meanwhile
 * @PVPERF_ACCESS_FORCE: the same, and the events of other VMs end for it
 */
enum pvperf_access {
	PVPERF_ACCESS_UNAVAILABLE,
	PVPERF_ACCESS_LOCAL,
	PVPERF_ACCESS_GLOBAL,
	PVPERF_ACCESS_EXCLUSIVE,
	PVPERF_ACCESS_FORCE,
};

/* Who waits when the host's own perf wants the same counters. */
enum pvperf_priority {
	PVPERF_PRIORITY_FLEXIBLE,	/* the guest */
	PVPERF_PRIORITY_PINNED,		/* the host's unpinned events wait as well */
};

/* Which raw events guests may have. */
enum pvperf_raw {
	PVPERF_RAW_NO,		/* none */
	PVPERF_RAW_YES,		/* all that the CPU can count for them */
	PVPERF_RAW_LIST,	/* of these the ones in selects.c */
};

/* What guests may have of the branches that they take in user mode. */
enum pvperf_branches_word {
	PVPERF_BRANCHES_OFF,		/* nothing */
	PVPERF_BRANCHES_ADDRESSES,	/* from where to where */
	PVPERF_BRANCHES_FULL,		/* and what the CPU had predicted */
};

/* The words of a policy: enum pvperf_access, and those of words.h. */
enum pvperf_word {
	PVPERF_WORD_ACCESS,
#define PVPERF_WORD(ID, ...)	PVPERF_WORD_##ID,
#include "words.h"
	PVPERF_WORDS
};

/* The value of PVPERF_WORD_MAX_CALLS that means no limit. */
#define PVPERF_CALLS_UNBOUNDED	1000000000

/* What a VM may have. */
struct pvperf_policy {
	/* May change at any time, each by itself: read them by pvperf_policy_word(). */
	__u32 word[PVPERF_WORDS];
};

/* One word; any context. Returns its value now. */
static inline __u32 pvperf_policy_word(const struct pvperf_policy *policy,
				       enum pvperf_word word)
{
	return READ_ONCE(policy->word[word]);
}

/* May a VM make calls at all? */
static inline bool pvperf_policy_has_access(const struct pvperf_policy *policy)
{
	return pvperf_policy_word(policy, PVPERF_WORD_ACCESS) >= PVPERF_ACCESS_LOCAL;
}

/*
 * Change a policy, word by word. @to: what it shall be. Returns bit n: word n has changed, so
 * that the VM may have something else.
 */
__u32 pvperf_policy_assign(struct pvperf_policy *policy, const struct pvperf_policy *to);

struct pvperf_selects;

/* What this CPU's counters can count for a guest, whatever the policy. */
struct pvperf_offer {
	/* Perf's driver for this CPU can exclude the host from an event. */
	bool hardware;
	/* The cache events of the memory node are about the vCPU alone. */
	bool node;
	/* Some raw events use an MSR besides the counter, which siblings share. */
	bool extra_msr;
	/* The config bits that a raw event may use; 0: no raw events. */
	__u64 raw_mask;
	const struct pvperf_selects *selects;	/* the raw events of PVPERF_RAW_LIST; NULL: none */
	__u32 kinds;			/* of cores; 0: they are alike */
	__u32 branches;			/* how many a CPU keeps; 0: none for guests */
	const int *per_tick;		/* perf's limit of an event's overflows; NULL: unknown */
};

/* Event select, unit mask, edge, invert, counter mask; AMD: select 11:8. */
#define PVPERF_RAW_MASK_INTEL	0xff84ffffULL
#define PVPERF_RAW_MASK_AMD	(0xff84ffffULL | 0xfULL << 32)

/* AMD's select of a counter that is the upper half of the one before it; perf sets it itself. */
#define PVPERF_RAW_SELECT_AMD	(0xffULL | 0xfULL << 32)
#define PVPERF_RAW_MERGE_AMD	0xf000000ffULL

/*
 * May a VM open this event? @policy: the VM's; @offer: this host's; @attr: was decoded. Returns
 * 0 or -KVM_E*; -KVM_EUSERS: only when the VM has the host alone.
 */
int pvperf_policy_check(const struct pvperf_policy *policy, const struct pvperf_offer *offer,
			const struct guest_perf_attr *attr);

/*
 * Which word refuses an event? @policy: the VM's; @offer: this host's; @attr: was refused.
 * Returns the word that alone could allow the event; PVPERF_WORDS: none could.
 */
enum pvperf_word pvperf_policy_why(const struct pvperf_policy *policy,
				   const struct pvperf_offer *offer,
				   const struct guest_perf_attr *attr);

/*
 * The shortest sampling period; any context. @type: KVM_PERF_TYPE_*. A software event has no
 * minimum: such events are rare, and overflow.c paces them. Returns the period.
 */
static inline __u32 pvperf_policy_min_period(const struct pvperf_policy *policy, __u32 type)
{
	return type == KVM_PERF_TYPE_SOFTWARE ? 1 :
	       pvperf_policy_word(policy, PVPERF_WORD_MIN_PERIOD);
}

/*
 * What CPUID tells a guest. @policy: the VM's; @offer: this host's. Returns KVM_PERF_FEATURE_*.
 */
__u32 pvperf_policy_features(const struct pvperf_policy *policy,
			     const struct pvperf_offer *offer);

#endif /* _PVPERF_HOST_POLICY_H */
