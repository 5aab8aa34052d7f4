/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _PVPERF_COMPAT_PERF_H
#define _PVPERF_COMPAT_PERF_H

#include <linux/perf_event.h>
#include <linux/static_call.h>

/* Look up what perf core does not export, at load. Returns 0 or an error, after a message. */
int pvperf_compat_init(void);

/*
 * Give a sample its branches. @data: the sample; @event: has overflowed; @stack: the branches;
 * newer kernels shorten it to the event's sample_max_stack.
 */
static inline void pvperf_compat_save_branches(struct perf_sample_data *data,
					       struct perf_event *event,
					       struct perf_branch_stack *stack)
{
#ifdef PERF_PMU_CAP_HETEROGENEOUS_CPUS	/* up to 6.1 */
	data->br_stack = stack;
	data->sample_flags |= PERF_SAMPLE_BRANCH_STACK;
#else
	perf_sample_save_brstack(data, event, stack, NULL);
#endif
}

/* Can this kernel tell what kind of branch an instruction is? */
bool pvperf_compat_has_branch_types(void);

/*
 * What kind of branch has been taken. @from: where, in the current task; @to: where to; @offset:
 * how far behind @from the branch itself is, if @from is a comparison. Returns one of PERF_BR_*;
 * PERF_BR_UNKNOWN also if the instruction is not in memory.
 */
int pvperf_compat_branch_type_nmi(unsigned long from, unsigned long to, int *offset);

/* What no kernel exports. A static call is a direct one, which IBT allows: see symbol.h. */
DECLARE_STATIC_CALL(pvperf_overflow, perf_event_overflow);
DECLARE_STATIC_CALL(pvperf_sample_took, perf_sample_event_took);

/*
 * Register a new struct pmu; process context. @like: is copied; @name: the PMU's; @type: the
 * PMU's, or -1. Returns the PMU, or ERR_PTR().
 */
struct pmu *pvperf_compat_pmu_register(const struct pmu *like, const char *name,
				       int type);

/* Unregister a PMU; process context. @pmu: is freed where the kernel lets us. */
void pvperf_compat_pmu_unregister(struct pmu *pmu);

#endif /* _PVPERF_COMPAT_PERF_H */
