/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _PVPERF_GUEST_KINDS_H
#define _PVPERF_GUEST_KINDS_H

#include <linux/types.h>

struct pmu;

/* At load. */
void pvperf_kinds_init(void);

/* For how many kinds of the host's cores there is a PMU. */
extern unsigned int pvperf_nr_kinds;

/* The PMU of KVM_PERF_FLAG_KIND(@kind); NULL: there is none. */
const char *pvperf_kinds_name(unsigned int kind);

unsigned int pvperf_kinds_find(const struct pmu *pmu);

/* The kind that @pmu is for; 0: all. */
static inline unsigned int pvperf_kinds_of(const struct pmu *pmu)
{
	return pvperf_nr_kinds ? pvperf_kinds_find(pmu) : 0;
}

#endif /* _PVPERF_GUEST_KINDS_H */
