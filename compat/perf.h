/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _PVPERF_COMPAT_PERF_H
#define _PVPERF_COMPAT_PERF_H

#include <linux/perf_event.h>

/* Process context, at load, before all else here. */
int pvperf_compat_init(void);

/* perf_event_overflow(), which no kernel exports. NMI. */
int pvperf_compat_overflow_nmi(struct perf_event *event,
			       struct perf_sample_data *data,
			       struct pt_regs *regs);

/* perf_sample_event_took(), without which core knows no way to slow us down. */
void pvperf_compat_sample_took_nmi(u64 ns);

/*
 * A struct pmu of its own for each registration, a copy of @like, and its end.
 * Process context. Unregistering frees it where the kernel lets us.
 */
struct pmu *pvperf_compat_pmu_register(const struct pmu *like, const char *name,
				       int type);
void pvperf_compat_pmu_unregister(struct pmu *pmu);

#endif /* _PVPERF_COMPAT_PERF_H */
