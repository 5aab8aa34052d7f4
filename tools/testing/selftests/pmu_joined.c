// SPDX-License-Identifier: GPL-2.0
/*
 * How many instructions a task has, "COUNT ENABLED RUNNING", by an event that has counted alone
 * first; while its task waits, five others become its group. For groups.sh, which has the host
 * take counters.
 */
#include <inttypes.h>
#include <linux/perf_event.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static const uint64_t others[] = {
	PERF_COUNT_HW_CPU_CYCLES, PERF_COUNT_HW_BRANCH_INSTRUCTIONS, PERF_COUNT_HW_BRANCH_MISSES,
	PERF_COUNT_HW_CACHE_REFERENCES, PERF_COUNT_HW_CACHE_MISSES,
};

static int event_open(uint64_t config, pid_t pid, int group)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_HARDWARE, .config = config, .size = sizeof(attr), .exclude_kernel = 1,
		.read_format = PERF_FORMAT_GROUP | PERF_FORMAT_TOTAL_TIME_ENABLED |
			       PERF_FORMAT_TOTAL_TIME_RUNNING,
	};
	int fd = syscall(SYS_perf_event_open, &attr, pid, -1, group, 0);

	if (fd < 0) {
		perror("perf_event_open");
		exit(1);
	}
	return fd;
}

static void others_open(pid_t pid, int group)
{
	size_t i;

	for (i = 0; i < sizeof(others) / sizeof(*others); i++)
		event_open(others[i], pid, group);
}

static void loop(uint64_t n)
{
	while (n--)
		asm volatile("");
}

static void tell(int fd)
{
	struct { uint64_t nr, enabled, running, count[8]; } v = { 0 };

	if (read(fd, &v, sizeof(v)) <= 0)
		exit(1);
	printf("%" PRIu64 " %" PRIu64 " %" PRIu64 "\n", v.count[0], v.enabled, v.running);
}

int main(void)
{
	int go[2], done[2], fd;
	char c = 0;
	pid_t pid;

	if (pipe(go) || pipe(done) || (pid = fork()) < 0)
		exit(1);
	if (!pid) {
		if (read(go[0], &c, 1) != 1)
			_exit(1);
		loop(300000000);
		if (write(done[1], &c, 1) != 1 || read(go[0], &c, 1) != 1)
			_exit(1);
		loop(100000000);
		_exit(0);
	}
	fd = event_open(PERF_COUNT_HW_INSTRUCTIONS, pid, -1);
	if (write(go[1], &c, 1) != 1 || read(done[0], &c, 1) != 1)
		exit(1);
	usleep(50000);		/* it waits */
	others_open(pid, fd);
	if (write(go[1], &c, 1) != 1)
		exit(1);
	waitpid(pid, NULL, 0);
	tell(fd);
	return 0;
}
