/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _PVPERF_GUEST_PMU_H
#define _PVPERF_GUEST_PMU_H

struct perf_event;
struct pmu;
struct pvperf_key;

int pvperf_pmu_init(void);
void pvperf_pmu_exit(void);

/* What all our PMUs have in common. */
extern struct pmu pvperf_pmu_template;

/* The rest of a PMU's ->event_init(): asks the host for @key. Returns 0 or its error. */
int pvperf_pmu_event_begin(struct perf_event *event, const struct pvperf_key *key);

#endif /* _PVPERF_GUEST_PMU_H */
