/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _PVPERF_COMPAT_PERF_H
#define _PVPERF_COMPAT_PERF_H

#include <linux/perf_event.h>

/**
 * pvperf_compat_init() - look up what perf core does not export, at load
 *
 * Return: 0 or an error, after a message.
 */
int pvperf_compat_init(void);

/**
 * pvperf_compat_save_branches() - give a sample its branches
 * @data: the sample
 * @event: has overflowed
 * @stack: the branches; newer kernels shorten it to the event's sample_max_stack
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

/**
 * pvperf_compat_branch_type_nmi() - what kind of branch has been taken
 * @from: where, in the current task
 * @to: where to
 * @offset: how far behind @from the branch itself is, if @from is a comparison
 *
 * Return: one of PERF_BR_*; PERF_BR_UNKNOWN also if the instruction is not in memory.
 */
int pvperf_compat_branch_type_nmi(unsigned long from, unsigned long to, int *offset);

/**
 * pvperf_compat_overflow_nmi() - perf_event_overflow(), which no kernel exports
 * @event: has overflowed
 * @data: the sample
 * @regs: of what was interrupted
 *
 * Return: what perf_event_overflow() returns.
 */
int pvperf_compat_overflow_nmi(struct perf_event *event,
			       struct perf_sample_data *data,
			       struct pt_regs *regs);

/**
 * pvperf_compat_sample_took_nmi() - perf_sample_event_took(), not exported either
 * @ns: what a sample took; core lowers its limit if that is too long
 */
void pvperf_compat_sample_took_nmi(u64 ns);

/**
 * pvperf_compat_pmu_register() - register a new struct pmu; process context
 * @like: is copied
 * @name: the PMU's
 * @type: the PMU's, or -1
 *
 * Return: the PMU, or ERR_PTR().
 */
struct pmu *pvperf_compat_pmu_register(const struct pmu *like, const char *name,
				       int type);

/**
 * pvperf_compat_pmu_unregister() - unregister a PMU; process context
 * @pmu: is freed where the kernel lets us
 */
void pvperf_compat_pmu_unregister(struct pmu *pmu);

#endif /* _PVPERF_COMPAT_PERF_H */
