// SPDX-License-Identifier: GPL-2.0
#include "admin.h"
#include "tiny_guest.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static void *runs(void *arg)
{
	struct runner *r = arg;

	r->run(r);
	sem_post(&r->done);
	return NULL;
}

void runner_start(struct runner *r, void (*run)(struct runner *r), void *arg)
{
	*r = (struct runner){ .run = run, .arg = arg };
	sem_init(&r->done, 0, 0);
	pthread_create(&r->thread, NULL, runs, r);
}

bool runner_ends(struct runner *r, int seconds)
{
	struct timespec until;

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += seconds;
	while (sem_timedwait(&r->done, &until))
		if (errno != EINTR)
			return false;
	return true;
}

void admin_shows_vms(struct runner *r)
{
	int fd = open("/sys/kernel/debug/pvperf/vms", O_RDONLY | O_CLOEXEC);
	char text[4096];

	r->result = fd < 0 ? -errno : 0;
	while (!r->result && (r->result = read(fd, text, sizeof(text))) > 0)
		r->result = 0;
	close(fd);
}

void admin_unloads(struct runner *r)
{
	r->result = tiny_module_unload(O_NONBLOCK);
}

void admin_writes(struct runner *r)
{
	const char *text = r->arg, *value = strchr(text, '=') + 1;
	char name[32];

	snprintf(name, sizeof(name), "%.*s", (int)(value - text) - 1, text);
	r->result = tiny_param_write(name, value);
}

void admin_sets_priority(struct runner *r)
{
	char rule[64];

	snprintf(rule, sizeof(rule), "pid=%d priority=pinned\n", getpid());
	r->result = tiny_rules_write(rule);
}

void admin_writes_rules(struct runner *r)
{
	r->result = tiny_rules_write(r->arg);
}
