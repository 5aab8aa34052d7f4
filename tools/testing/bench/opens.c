// SPDX-License-Identifier: GPL-2.0
/*
 * opens LABEL: opens different counters for itself, then all of them again, then all disabled,
 * as perf stat and perf record open them before a program begins. Prints marks around each
 * perf_event_open(): LABEL.0.N, LABELagain.0.N and LABELdisabled.0.N. At the second time the
 * host may still have the event.
 */
#include <err.h>
#include <linux/perf_event.h>
#include <stdbool.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "mark.h"

#define KINDS	12	/* six generic events, in user mode and in the kernel */

static const int events[] = {
	PERF_COUNT_HW_CPU_CYCLES, PERF_COUNT_HW_INSTRUCTIONS,
	PERF_COUNT_HW_BRANCH_INSTRUCTIONS, PERF_COUNT_HW_BRANCH_MISSES,
	PERF_COUNT_HW_CACHE_REFERENCES, PERF_COUNT_HW_CACHE_MISSES,
};

static int counter_open(int n, bool disabled)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.type = PERF_TYPE_HARDWARE,
		.config = events[n % 6],
		.disabled = disabled,
		.exclude_kernel = n < 6,
		.exclude_user = n >= 6,
	};

	return syscall(SYS_perf_event_open, &attr, 0, -1, -1, 0);
}

static void measure(const char *label, const char *which, int n, bool disabled)
{
	struct mark a, b;
	char name[64];
	int fd;

	mark_take(&a, 0);
	fd = counter_open(n, disabled);
	mark_take(&b, 1);
	if (fd < 0)
		err(1, "perf_event_open");
	close(fd);
	snprintf(name, sizeof(name), "%s%s.%d", label, which, n);
	mark_print(&a, name, 'a');
	mark_print(&b, name, 'b');
}

int main(int argc, char **argv)
{
	int n;

	if (argc != 2)
		errx(2, "usage: opens LABEL");
	for (n = 0; n < KINDS; n++)
		measure(argv[1], ".0", n, false);
	for (n = 0; n < KINDS; n++)
		measure(argv[1], "again.0", n, false);
	for (n = 0; n < KINDS; n++)
		measure(argv[1], "disabled.0", n, true);
	return 0;
}
