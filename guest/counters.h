/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _PVPERF_GUEST_COUNTERS_H
#define _PVPERF_GUEST_COUNTERS_H

/*
 * Which events can count at the same time. A general counter takes any event, but
 * Intel's narrow events fit in the first few only. Intel's fixed counters take one kind
 * each, and AMD's FLOPs take two general ones. This file knows neither KVM nor perf, and
 * is tested in userspace.
 */

#include <linux/kvm_pvperf.h>
#include <linux/types.h>

/* Which events are narrow; see KVM_PERF_CPUID_CODES. */
struct pvperf_narrow {
	__u32 counters;		/* that take them; 0: there are no narrow events */
	__u32 generic;
	__u32 codes[8];
	__u32 cache[2];
	__u32 exceptions[8];
};

/* What the host's CPU has. */
struct pvperf_counters {
	__u32 general;		/* 0: not known */
	__u32 kinds;		/* KVM_PERF_COUNTERS_* */
	struct pvperf_narrow narrow;
};

/*
 * Returns what an event takes, so that the sum of several is what these take: byte 0 is
 * for general counters, byte 1 for instructions, 2 for cycles, 3 for ref-cycles, 4 for
 * narrow events. There are at most 64 events of a CPU. @type and @config are the ABI's.
 */
__u64 pvperf_counters_need(const struct pvperf_counters *has, __u32 type, __u64 config);

/* pvperf_counters_fit() by kinds. */
int pvperf_counters_fit_kinds(const struct pvperf_counters *has, __u64 need);

/* Which fixed counters there are: KVM_PERF_COUNTERS_*. */
static inline __u32 pvperf_counters_fixed(const struct pvperf_counters *has)
{
	return has->kinds & (KVM_PERF_COUNTERS_INSTRUCTIONS | KVM_PERF_COUNTERS_CYCLES |
			     KVM_PERF_COUNTERS_REF_CYCLES);
}

/* Does the event need something else than any one general counter? */
static inline int pvperf_counters_odd(__u64 need)
{
	return (need & 0xfe) || need >> 24;
}

/* General counters needed without any fixed one. */
static inline __u32 pvperf_counters_sum(__u64 need)
{
	return need * 0x0101010101ULL >> 32 & 0xff;
}

/* How many of the events are narrow. */
static inline __u32 pvperf_counters_narrow(__u64 need)
{
	return need >> 32 & 0xff;
}

/*
 * Do events that take @need fit, whatever the order in which they come? Few enough do
 * without a look at their kinds, unless one is narrow, or two want the one counter for
 * reference cycles.
 */
static inline int pvperf_counters_fit(const struct pvperf_counters *has, __u64 need)
{
	return (pvperf_counters_sum(need) <= has->general && !(need >> 25)) ||
	       pvperf_counters_fit_kinds(has, need);
}

#endif /* _PVPERF_GUEST_COUNTERS_H */
