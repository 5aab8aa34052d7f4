/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _PVPERF_GUEST_KINDS_H
#define _PVPERF_GUEST_KINDS_H

#include <linux/types.h>

struct pmu;

/* At load. */
void pvperf_kinds_init(void);

/* Is there a PMU for each kind of the host's cores? */
bool pvperf_kinds_differ(void);

/* The PMU of KVM_PERF_FLAG_KIND(@kind); NULL: there is none. */
const char *pvperf_kinds_name(unsigned int kind);

/* The kind that @pmu is for; 0: all. */
unsigned int pvperf_kinds_of(const struct pmu *pmu);

#endif /* _PVPERF_GUEST_KINDS_H */
