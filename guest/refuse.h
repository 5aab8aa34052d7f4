/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _PVPERF_GUEST_REFUSE_H
#define _PVPERF_GUEST_REFUSE_H

#include <linux/types.h>

/*
 * Refusals. Each function prints to the log why an event is refused and what to do
 * instead, and returns the error for perf core. Process context.
 */
int pvperf_refuse_precise(void);
int pvperf_refuse_samples(void);
int pvperf_refuse_branches(void);
/* The kinds that a program asked for. */
int pvperf_refuse_branches_of(u64 kinds);
int pvperf_refuse_group_branches(unsigned int most);
int pvperf_refuse_period(u64 period);
/* A group that takes @need of counters.h, all at the same time. */
int pvperf_refuse_group(u64 need);
/* @config is what the program gave. */
int pvperf_refuse_config1(u64 config);
int pvperf_refuse_msr(u64 config);
/* The host allows no raw events at all; or not these bits; or only those of its list. */
int pvperf_refuse_raw(u64 config);
int pvperf_refuse_raw_bits(u64 config);
int pvperf_refuse_raw_listed(u64 config);
/* A raw code of one kind of the host's cores, without that kind; a kind where there are none. */
int pvperf_refuse_raw_kind(u64 config);
int pvperf_refuse_kind(void);
/* What the host does in the vCPU's thread: not allowed, or not to be sampled. */
int pvperf_refuse_host(void);
int pvperf_refuse_host_samples(void);
/* A CPU of the host, which the host has allowed before. */
int pvperf_refuse_host_cpu(void);
int pvperf_refuse_host_cpu_many(int most);
int pvperf_refuse_host_cpu_samples(void);

#endif /* _PVPERF_GUEST_REFUSE_H */
