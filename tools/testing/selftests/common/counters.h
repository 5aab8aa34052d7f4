/* SPDX-License-Identifier: GPL-2.0 */
#ifndef COUNTERS_H
#define COUNTERS_H

#include <linux/perf_event.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

#define COUNTERS_MAX	32

/* The host's own: pinned, until @cpu has no counter of PMU @type left (0: any). Returns how many. */
static inline int counters_take(int cpu, uint64_t type, int fd[COUNTERS_MAX])
{
	struct perf_event_attr attr = {
		.size = sizeof(attr), .type = PERF_TYPE_HARDWARE, .pinned = 1,
		.config = PERF_COUNT_HW_INSTRUCTIONS | type << 32,
	};
	uint64_t count;
	int n;

	for (n = 0; n < COUNTERS_MAX; n++) {
		fd[n] = syscall(SYS_perf_event_open, &attr, -1, cpu, -1, 0);
		if (fd[n] < 0)
			return n;
		/* an event in error has nothing to read */
		if (read(fd[n], &count, sizeof(count)) != sizeof(count)) {
			close(fd[n]);
			return n;
		}
	}
	return n;
}

#endif /* COUNTERS_H */
