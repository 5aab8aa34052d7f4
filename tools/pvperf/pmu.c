// SPDX-License-Identifier: GPL-2.0
/*
 * Try whether a hardware event opens and counts. For tests, the file "perf_event"
 * below $PVPERF_ROOT has the result: errno, count, time enabled and time running, all
 * decimal.
 */
#include <errno.h>
#include <inttypes.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "pmu.h"
#include "root.h"

static struct pmu_try pmu_from_file(void)
{
	struct pmu_try t = { .err = ENOENT };
	FILE *f = root_open("/perf_event");

	if (!f)
		return t;
	if (fscanf(f, "%d %" SCNu64 " %" SCNu64 " %" SCNu64, &t.err, &t.count,
		   &t.enabled, &t.running) < 1)
		t.err = ENOENT;
	fclose(f);
	return t;
}

/* Of the cores of PMU @type; 0: of all, where they are alike. */
static int pmu_open(uint64_t type)
{
	struct perf_event_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.type = PERF_TYPE_HARDWARE;
	attr.size = sizeof(attr);
	attr.config = PERF_COUNT_HW_CPU_CYCLES | type << PERF_PMU_TYPE_SHIFT;
	attr.exclude_kernel = 1;
	attr.exclude_hv = 1;
	attr.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED |
			   PERF_FORMAT_TOTAL_TIME_RUNNING;
	return syscall(SYS_perf_event_open, &attr, 0, -1, -1,
		       PERF_FLAG_FD_CLOEXEC);
}

static void pmu_work(void)
{
	volatile unsigned int i;

	for (i = 0; i < 1000000; i++)
		;
}

/* The counter may be another session's for some milliseconds. */
static bool pmu_ran(int fd)
{
	uint64_t values[3];

	return read(fd, values, sizeof(values)) != sizeof(values) || values[2];
}

static void pmu_add(struct pmu_try *t, int fd)
{
	uint64_t values[3];

	if (read(fd, values, sizeof(values)) == sizeof(values)) {
		t->count += values[0];
		t->enabled = values[1];
		t->running += values[2];
	} else {
		t->err = EIO;
	}
	close(fd);
}

struct pmu_try pmu_try_cycles(void)
{
	struct pmu_try t = { 0 };
	char atom[20];
	int fd, other = -1, tries = 0;

	if (root_prefix())
		return pmu_from_file();
	fd = pmu_open(0);
	if (fd < 0) {
		t.err = errno;
		return t;
	}
	/* On a CPU with P and E cores that was of the P cores. */
	if (!root_line(PMU_ATOM "/type", atom, sizeof(atom)))
		other = pmu_open(strtoul(atom, NULL, 10));
	do
		pmu_work();
	while (!pmu_ran(fd) && (other < 0 || !pmu_ran(other)) && ++tries < 50);
	pmu_add(&t, fd);
	if (other >= 0)
		pmu_add(&t, other);
	return t;
}
