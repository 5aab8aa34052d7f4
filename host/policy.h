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
 * enum pvperf_raw - which raw events guests may have
 * @PVPERF_RAW_NO: none
 * @PVPERF_RAW_YES: all that the CPU can count for them
 * @PVPERF_RAW_LIST: of these the ones in selects.c
 */
enum pvperf_raw {
	PVPERF_RAW_NO,
	PVPERF_RAW_YES,
	PVPERF_RAW_LIST,
};

/**
 * enum pvperf_word - the words of a policy; their names and ranges are in rule.c
 * @PVPERF_WORD_ACCESS: enum pvperf_access
 * @PVPERF_WORD_PRIORITY: enum pvperf_priority
 * @PVPERF_WORD_RAW: enum pvperf_raw
 * @PVPERF_WORD_HOST_EVENTS: the host's software events about the vCPU's thread: 0 or 1
 * @PVPERF_WORD_MAX_EVENTS: of one vCPU
 * @PVPERF_WORD_MAX_VM_EVENTS: of all vCPUs of a VM
 * @PVPERF_WORD_MAX_OPENS: OPENs of a VM in a second; more wait
 * @PVPERF_WORD_MAX_CALLS: calls of a vCPU in a second; more wait
 * @PVPERF_WORD_MAX_OVERFLOWS: of an event in a second; beyond it the period is longer
 * @PVPERF_WORD_MAX_PAGES: that a VM's pins may hold, see pin.c
 * @PVPERF_WORD_MIN_PERIOD: the shortest sampling period
 * @PVPERF_WORDS: how many there are
 */
enum pvperf_word {
	PVPERF_WORD_ACCESS,
	PVPERF_WORD_PRIORITY,
	PVPERF_WORD_RAW,
	PVPERF_WORD_HOST_EVENTS,
	PVPERF_WORD_MAX_EVENTS,
	PVPERF_WORD_MAX_VM_EVENTS,
	PVPERF_WORD_MAX_OPENS,
	PVPERF_WORD_MAX_CALLS,
	PVPERF_WORD_MAX_OVERFLOWS,
	PVPERF_WORD_MAX_PAGES,
	PVPERF_WORD_MIN_PERIOD,
	PVPERF_WORDS
};

/* The value of PVPERF_WORD_MAX_CALLS that means no limit. */
#define PVPERF_CALLS_UNBOUNDED	1000000000

/**
 * struct pvperf_policy - what a VM may have
 * @word: may change at any time, each by itself: read them by pvperf_policy_word()
 */
struct pvperf_policy {
	__u32 word[PVPERF_WORDS];
};

/* One word; any context. Returns its value now. */
static inline __u32 pvperf_policy_word(const struct pvperf_policy *policy,
				       enum pvperf_word word)
{
	return READ_ONCE(policy->word[word]);
}

/*
 * Change a policy, word by word. @to: what it shall be. Returns bit n: word n has changed, so
 * that the VM may have something else.
 */
__u32 pvperf_policy_assign(struct pvperf_policy *policy, const struct pvperf_policy *to);

struct pvperf_selects;

/**
 * struct pvperf_offer - what this CPU's counters can count for a guest, whatever the policy
 * @hardware: perf's driver for this CPU can exclude the host from an event
 * @node: the cache events of the memory node are about the vCPU alone
 * @extra_msr: some raw events use an MSR besides the counter, which siblings share
 * @raw_mask: the config bits that a raw event may use; 0: no raw events
 * @selects: the raw events of PVPERF_RAW_LIST; NULL: none
 */
struct pvperf_offer {
	bool hardware;
	bool node;
	bool extra_msr;
	__u64 raw_mask;
	const struct pvperf_selects *selects;
};

/* Event select, unit mask, edge, invert, counter mask; AMD: select 11:8. */
#define PVPERF_RAW_MASK_INTEL	0xff84ffffULL
#define PVPERF_RAW_MASK_AMD	(0xff84ffffULL | 0xfULL << 32)

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
