/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _PVPERF_HOST_KINDS_H
#define _PVPERF_HOST_KINDS_H

/*
 * Hosts with several kinds of cores, as Intel's P and E cores. perf has a PMU for each kind, and an
 * event of a PMU counts while its thread runs on such a core: so an event of a guest's is a
 * perf_event of each kind there, pvperf_host_event.perf and .other. Other units call perf by the
 * static calls here: on a host whose cores are alike these are perf's functions themselves.
 */

#include <linux/jump_label.h>
#include <linux/perf_event.h>
#include <linux/static_call.h>
#include <linux/types.h>
#include "../compat/core.h"
#include "../compat/count.h"
#include "state.h"

/* perf_event_create_kernel_counter() of each kind that the event is about, or of the CPU's. */
DECLARE_STATIC_CALL(pvperf_perf_create, perf_event_create_kernel_counter);
DECLARE_STATIC_CALL(pvperf_perf_release, perf_event_release_kernel);
/* With the period and the rest of it that .perf was armed with. */
DECLARE_STATIC_CALL(pvperf_perf_enable, perf_event_enable);
DECLARE_STATIC_CALL(pvperf_perf_disable, perf_event_disable);
/* The sums of the kinds. */
DECLARE_STATIC_CALL(pvperf_perf_count, pvperf_compat_count);
DECLARE_STATIC_CALL(pvperf_perf_read_value, perf_event_read_value);

/* Are there several kinds? */
DECLARE_STATIC_KEY_FALSE(pvperf_kinds_differ);

/* At load. Returns how many kinds there are; 0: the cores are alike. */
u32 pvperf_kinds_init(void);

/* The leaves KVM_PERF_CPUID_KINDS. @leaf: which; the others: what it returns. */
void pvperf_kinds_cpuid(u32 leaf, u32 *eax, u32 *ebx, u32 *ecx, u32 *edx);

/* The state of that perf_event which is on, or else of one that has failed; any context. */
int pvperf_kinds_state(const struct pvperf_host_event *event);

/* pvperf_core_retry() of the other kinds. */
void pvperf_kinds_retry(struct pvperf_host_event *event);

/* What all kinds have counted; in the overflow handler of one of them. */
u64 pvperf_kinds_count_nmi(const struct pvperf_host_event *event);

/*
 * Give the other kinds @perf's next period, too, and cut what is left of a longer one. @perf: has
 * overflowed, in the overflow handler; the others are off, as the thread runs on one CPU.
 */
void pvperf_kinds_period_nmi(const struct pvperf_host_event *event, const struct perf_event *perf,
			     u64 period);

/* pvperf_core_failed() of any kind; any context. */
bool pvperf_kinds_failed(const struct pvperf_host_event *event);

/*
 * Has perf given up an enabled event, as it is pinned and has found no counter? Any context.
 * Inline: READ and ENABLE ask several times.
 */
static __always_inline bool pvperf_kinds_has_failed(const struct pvperf_host_event *event)
{
	if (!event->enabled || !event->perf)
		return false;
	if (static_branch_unlikely(&pvperf_kinds_differ))
		return pvperf_kinds_failed(event);
	return pvperf_core_failed(event->perf);
}

#endif /* _PVPERF_HOST_KINDS_H */
