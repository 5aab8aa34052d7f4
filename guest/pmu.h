/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _PVPERF_GUEST_PMU_H
#define _PVPERF_GUEST_PMU_H

int pvperf_pmu_init(void);
void pvperf_pmu_exit(void);

#endif /* _PVPERF_GUEST_PMU_H */
