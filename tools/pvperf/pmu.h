/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PVPERF_PMU_H
#define PVPERF_PMU_H

#include <stdint.h>

/* One event of this kernel's PMU, tried. */

struct pmu_try {
	int err;		/* of perf_event_open(), 0 if it opened */
	uint64_t count, enabled, running;
};

/* Cycles of this process in user mode, for a moment. */
struct pmu_try pmu_try_cycles(void);

#endif /* PVPERF_PMU_H */
