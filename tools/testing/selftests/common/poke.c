// SPDX-License-Identifier: GPL-2.0
/*
 * On the host: saves the memory that a VM's guest shares with pvperf_host, and puts it back
 * later, as a migration does that sent a page once and never knew that the host wrote to it.
 *
 *   poke PID save FILE
 *   poke PID restore FILE      what was saved, as if the host were there still
 *   poke PID odd FILE          the same, caught while the host was writing each event
 */
#include <fcntl.h>
#include <linux/kvm_pvperf.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PAGE	4096
#define EVENTS	(PAGE / sizeof(struct guest_perf_event))
#define AREAS	64

/* A vCPU's page, and the page of its events behind it, as pvperf_guest has them. */
struct area {
	uint64_t at;		/* in the process */
	union {
		struct guest_perf_page page;
		char whole_page[PAGE];
	};
	struct guest_perf_event event[EVENTS];
};

static struct area areas[AREAS];
static int nr_areas;

static bool is_area(const struct guest_perf_page *page)
{
	return page->version == KVM_PERF_ABI_VERSION && page->state == KVM_PERF_PAGE_LIVE &&
	       page->epoch && page->reason <= KVM_PERF_REASON_DENIED && page->clock && !page->reserved2[0] && !page->reserved2[2];
}

static void area_read(int mem, uint64_t at)
{
	struct area *a = &areas[nr_areas];

	if (nr_areas == AREAS || pread(mem, a->whole_page, PAGE, at) != PAGE || !is_area(&a->page) ||
	    pread(mem, a->event, PAGE, at + PAGE) != PAGE)
		return;
	a->at = at;
	nr_areas++;
}

static void range_search(int mem, uint64_t from, uint64_t to)
{
	static char some[1 << 20];
	uint64_t at;
	long n, i;

	for (at = from; at < to; at += sizeof(some)) {
		n = pread(mem, some, sizeof(some), at);
		for (i = 0; i + PAGE <= n; i += PAGE)
			if (is_area((struct guest_perf_page *)(some + i)))
				area_read(mem, at + i);
	}
}

/* The guest's memory is by far the largest mapping. */
static int process_search(const char *pid, int mem)
{
	unsigned long long from, to, start = 0, end = 0;
	char name[64], line[512];
	FILE *maps;

	snprintf(name, sizeof(name), "/proc/%s/maps", pid);
	maps = fopen(name, "r");
	while (maps && fgets(line, sizeof(line), maps)) {
		if (sscanf(line, "%llx-%llx rw", &from, &to) == 2 && strstr(line, " rw") &&
		    to - from > end - start) {
			start = from;
			end = to;
		}
	}
	range_search(mem, start, end);
	return nr_areas;
}

static int areas_save(const char *name)
{
	FILE *f = fopen(name, "w");

	return !f || fwrite(areas, sizeof(*areas), nr_areas, f) != nr_areas || fclose(f);
}

static int area_restore(int mem, const struct area *a)
{
	return pwrite(mem, a->whole_page, PAGE, a->at) != PAGE ||
	       pwrite(mem, a->event, PAGE, a->at + PAGE) != PAGE;
}

static bool areas_restore(int mem, const char *name, bool odd)
{
	FILE *f = fopen(name, "r");
	size_t i, bad = !f;

	while (f && fread(areas, sizeof(*areas), 1, f) == 1) {
		for (i = 0; odd && i < EVENTS; i++)
			areas->event[i].sequence |= 1;
		bad |= area_restore(mem, areas);
		nr_areas++;
	}
	return bad;
}

int main(int argc, char **argv)
{
	char name[64];
	int mem, bad;

	if (argc != 4) {
		fprintf(stderr, "usage: poke PID save|restore|odd FILE\n");
		return 2;
	}
	snprintf(name, sizeof(name), "/proc/%s/mem", argv[1]);
	mem = open(name, O_RDWR);
	if (!strcmp(argv[2], "save"))
		bad = !process_search(argv[1], mem) || areas_save(argv[3]);
	else
		bad = areas_restore(mem, argv[3], !strcmp(argv[2], "odd"));
	printf("%d areas\n", nr_areas);
	return bad || mem < 0 || !nr_areas;
}
