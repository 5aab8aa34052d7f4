/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PMU_TEST_H
#define PMU_TEST_H

/*
 * What the tests of a PMU share: opening events, reading them, and a load with a known
 * number of user instructions. They know nothing of pvperf: they must pass on any PMU, and
 * also run on the host's.
 */

#include "kselftest_harness.h"
#include "need.h"
#include <errno.h>
#include <linux/perf_event.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define TURNS		1000000ull
#define TURN_INSNS	2
#define LOAD_INSNS	(TURNS * TURN_INSNS)

/* @turns of two instructions. */
static inline void load(uint64_t turns)
{
	asm volatile("1: dec %0\n\tjnz 1b" : "+r" (turns) : : "cc");
}

/*
 * More than the user instructions between two ioctls and a load between them: the
 * library's wrappers are some dozens, whatever the compiler.
 */
#define AROUND		2000

/*
 * In the lab's emulator counters are exact, and an instruction takes a nanosecond. On a
 * real CPU interrupts add some instructions, a different number to each counter, and a
 * nanosecond has ten instructions.
 */
static inline bool emulated(void)
{
	const char *value = getenv("LAB_EMULATED");

	return value && !strcmp(value, "1");
}

static inline int event_open(struct perf_event_attr *attr, pid_t pid, int cpu,
			     int group)
{
	attr->size = sizeof(*attr);
	return syscall(SYS_perf_event_open, attr, pid, cpu, group,
		       PERF_FLAG_FD_CLOEXEC);
}

/* User instructions; disabled. */
static inline struct perf_event_attr attr_user(void)
{
	return (struct perf_event_attr){
		.type = PERF_TYPE_HARDWARE,
		.config = PERF_COUNT_HW_INSTRUCTIONS,
		.disabled = 1, .exclude_kernel = 1, .exclude_hv = 1,
		.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED |
			       PERF_FORMAT_TOTAL_TIME_RUNNING,
	};
}

static inline int open_user(pid_t pid, int cpu, int group)
{
	struct perf_event_attr attr = attr_user();

	if (group >= 0)
		attr.disabled = 0;
	return event_open(&attr, pid, cpu, group);
}

/* Not in the lab, where another event that comes and goes might hide an error. */
static void __attribute__((constructor)) need_pmu(void)
{
	int fd;

	if (getenv("LAB_WHERE"))
		return;
	fd = open_user(0, -1, -1);
	need("guest", fd >= 0, "perf_event_open counts no instructions here");
	close(fd);
}

/* With the read_format above. */
struct value {
	uint64_t count, enabled, running;
};

static inline struct value value_read(int fd)
{
	struct value v = { 0 };

	if (read(fd, &v, sizeof(v)) != sizeof(v))
		v.count = UINT64_MAX;
	return v;
}

static inline double value_scaled(const struct value *v)
{
	return v->running ? (double)v->count * v->enabled / v->running : 0;
}

static inline void enable(int fd)
{
	ioctl(fd, PERF_EVENT_IOC_ENABLE, 0);
}

static inline void disable(int fd)
{
	ioctl(fd, PERF_EVENT_IOC_DISABLE, 0);
}

/* @count has @turns of the load, and little more. */
static inline bool counted(uint64_t count, uint64_t turns)
{
	uint64_t own = turns * TURN_INSNS;

	return count >= own && count - own <= AROUND + own / 100000;
}

/* Two events counted the same @turns. */
static inline bool same(uint64_t a, uint64_t b, uint64_t turns)
{
	uint64_t off = a < b ? b - a : a - b;

	return off <= (emulated() ? 0 : 50 + turns / 50000);
}

static inline bool within(double value, double want, double percent)
{
	double off = value - want;

	return (off < 0 ? -off : off) <= want * percent / 100;
}

static inline int cpus_online(void)
{
	return sysconf(_SC_NPROCESSORS_ONLN);
}

static inline int pin(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	return sched_setaffinity(0, sizeof(set), &set);
}

/* A number from sysfs about the PMU, or -1. */
static inline long pmu_caps(const char *name)
{
	static const char *const pmus[] = { "cpu", "pvperf" };
	char path[128];
	long value = -1;
	unsigned int i;
	FILE *f;

	for (i = 0; i < 2 && value < 0; i++) {
		snprintf(path, sizeof(path),
			 "/sys/bus/event_source/devices/%s/caps/%s", pmus[i], name);
		f = fopen(path, "r");
		if (!f)
			continue;
		if (fscanf(f, "%ld", &value) != 1)
			value = -1;
		fclose(f);
	}
	return value;
}

/* A real CPU's PMU may do more than the lab's, and other programs run on its CPUs. */
static inline bool foreign_pmu(void)
{
	return !emulated() && pmu_caps("counters") < 0;
}

#define REQUIRE_PMU(fixture_cleanup) do { \
	int _fd = open_user(0, -1, -1); \
	if (_fd < 0 && errno == ENOENT) { \
		fixture_cleanup; \
		SKIP(return, "there is no hardware PMU"); \
	} \
	ASSERT_LE(0, _fd); \
	close(_fd); \
} while (0)

#endif /* PMU_TEST_H */
