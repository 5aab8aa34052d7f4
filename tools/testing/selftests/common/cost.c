// SPDX-License-Identifier: GPL-2.0
#include "cost.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static int counter_open(void)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr), .type = PERF_TYPE_HARDWARE,
		.config = PERF_COUNT_HW_INSTRUCTIONS, .pinned = 1,
	};

	return syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
}

static uint64_t counter_read(int fd)
{
	uint64_t count = 0;

	return read(fd, &count, sizeof(count)) == sizeof(count) ? count : 0;
}

static int64_t ns_of(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return t.tv_sec * 1000000000ll + t.tv_nsec;
}

/* The time that this thread has been off the CPU, in ns. */
static int64_t off_cpu(void)
{
	int64_t all = ns_of(CLOCK_MONOTONIC);

	return all - ns_of(CLOCK_THREAD_CPUTIME_ID);
}

static void *cost_thread(void *arg)
{
	struct cost *c = arg;
	int fd = counter_open();

	if (c->of->before)
		c->of->before(c->arg);
	sem_post(&c->done);
	c->slept = off_cpu();
	c->insns = counter_read(fd);
	c->result = c->of->act(c->arg);
	c->insns = counter_read(fd) - c->insns;
	c->slept = off_cpu() - c->slept;
	if (c->slept < 0)	/* two clocks, read one after the other */
		c->slept = 0;
	sem_post(&c->done);
	close(fd);
	if (c->of->after)
		c->of->after(c->arg);
	return NULL;
}

static bool done_soon(struct cost *c, int seconds)
{
	struct timespec until;

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += seconds;
	while (sem_timedwait(&c->done, &until))
		if (errno != EINTR)
			return false;
	return true;
}

void cost_measure(struct cost *c, const struct act *act, void *arg, int seconds)
{
	memset(c, 0, sizeof(*c));
	c->of = act;
	c->arg = arg;
	sem_init(&c->done, 0, 0);
	pthread_create(&c->thread, NULL, cost_thread, c);
	c->never = !done_soon(c, seconds) || !done_soon(c, seconds);
}

void cost_end(struct cost *c)
{
	if (c->thread)
		pthread_join(c->thread, NULL);
	c->thread = 0;
}
