// SPDX-License-Identifier: GPL-2.0
/*
 * Memory by tracepoints, see allocs.h. The ring buffer is read as text, whose fields are
 * the same in all kernels since 6.1.
 */

#include "allocs.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <unistd.h>

#define TRACING		"/sys/kernel/tracing/"
#define EVENTS		"kmem:kmalloc kmem:kmem_cache_alloc kmem:kfree " \
			"kmem:kmem_cache_free percpu:percpu_alloc_percpu " \
			"percpu:percpu_free_percpu"
#define MOST		4096

/* An allocation that has not been freed yet. */
struct piece {
	char ptr[20];
	long *sum;
	long bytes;
};

static struct piece pieces[MOST];
static int nr_pieces;
/* Open while tracing is on, because opening a file allocates memory, too. */
static int tracing_on = -1;

/* The kernel accepts one word of a list at a time. */
static int put(const char *name, const char *value)
{
	char path[128];
	ssize_t n;
	int fd, err = 0;

	snprintf(path, sizeof(path), TRACING "%s", name);
	fd = open(path, O_WRONLY | O_TRUNC | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	for (; *value && !err; value += n) {
		n = write(fd, value, strlen(value));
		err = n <= 0 ? -errno : 0;
	}
	close(fd);
	return err;
}

/* Switching trace events on and off allocates memory, so do it outside of tracing. */
static int events_choose(void)
{
	char pid[16];
	int err;

	snprintf(pid, sizeof(pid), "%d", gettid());
	err = put("set_event_pid", pid);
	if (!err)
		err = put("set_event", EVENTS);
	return err ?: put("trace", "");
}

int allocs_begin(void)
{
	int err;

	if (access(TRACING "trace", F_OK))
		mount("tracefs", TRACING, "tracefs", 0, NULL);
	err = put("tracing_on", "0");
	if (!err)
		err = events_choose();
	if (err)
		return err;
	tracing_on = open(TRACING "tracing_on", O_WRONLY | O_CLOEXEC);
	return write(tracing_on, "1", 1) == 1 ? 0 : -errno;
}

static int tracing_end(void)
{
	int err = write(tracing_on, "0", 1) == 1 ? 0 : -errno;

	close(tracing_on);
	put("set_event", "");
	put("set_event_pid", "");
	put("tracing_on", "1");
	return err;
}

static long *whose(struct allocs *a, const char *line)
{
	const char *by = strstr(line, "call_site=");

	if (!by)
		return &a->rest;
	if (strstr(by, "[pvperf_host]"))
		return &a->ours;
	if (!strncmp(by, "call_site=xas_", 14))
		return &a->tree;
	return strncmp(by, "call_site=perf_event_alloc+", 27) ? &a->rest : &a->perf;
}

static void taken(struct allocs *a, const char *ptr, const char *line)
{
	struct piece *p = &pieces[nr_pieces];

	if (nr_pieces == MOST)
		return;
	if (getenv("ALLOCS"))	/* to see what a sum is made of */
		fprintf(stderr, "#%s", strchr(line, ':'));
	nr_pieces++;
	memcpy(p->ptr, ptr, sizeof(p->ptr));
	p->sum = whose(a, line);
	p->bytes = strtol(strstr(line, " bytes_alloc=") + 13, NULL, 10);
	*p->sum += p->bytes;
}

static void given_back(const char *ptr)
{
	int i;

	for (i = nr_pieces - 1; i >= 0; i--) {
		if (strcmp(pieces[i].ptr, ptr))
			continue;
		*pieces[i].sum -= pieces[i].bytes;
		pieces[i] = pieces[--nr_pieces];
		return;
	}
}

static void line_read(struct allocs *a, const char *line)
{
	const char *at = strstr(line, " ptr=");
	char ptr[20] = "";

	if (!at || sscanf(at, " ptr=%19s", ptr) != 1)
		return;
	if (strstr(line, " bytes_alloc="))
		taken(a, ptr, line);
	else
		given_back(ptr);
}

int allocs_end(struct allocs *a)
{
	int err = tracing_end();
	char line[512];
	FILE *f;

	if (err)
		return err;
	memset(a, 0, sizeof(*a));
	nr_pieces = 0;
	f = fopen(TRACING "trace", "re");
	if (!f)
		return -errno;
	while (fgets(line, sizeof(line), f))
		line_read(a, line);
	fclose(f);
	return nr_pieces < MOST ? 0 : -E2BIG;
}
