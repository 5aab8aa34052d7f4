/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PVPERF_PMU_H
#define PVPERF_PMU_H

#include <stdint.h>

/* On a CPU with P and E cores: their PMUs. */
#define PMU_CORE	"/sys/bus/event_source/devices/cpu_core"
#define PMU_ATOM	"/sys/bus/event_source/devices/cpu_atom"

/* The result of trying one event of this kernel's PMU. */

struct pmu_try {
	int err;		/* errno of perf_event_open(), or 0 */
	uint64_t count, enabled, running;
};

/* Counts this process's cycles in user mode for a moment. */
struct pmu_try pmu_try_cycles(void);

#endif /* PVPERF_PMU_H */
