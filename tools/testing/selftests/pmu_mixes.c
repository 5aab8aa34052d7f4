// SPDX-License-Identifier: GPL-2.0
/*
 * Which events can count at the same time on this machine: a line for each group that is
 * refused, and for each mix of single events how many of them counted all the time. Knows
 * nothing of the PMU; mixes.sh compares a guest with its host.
 */

#include <errno.h>
#include <linux/perf_event.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define MOST	16	/* events of a group */
#define MIXES	300
#define TIMES	3
#define CACHE	(PERF_COUNT_HW_CACHE_L1D | PERF_COUNT_HW_CACHE_OP_READ << 8 | \
		 PERF_COUNT_HW_CACHE_RESULT_ACCESS << 16)

/* The last one takes two counters on AMD. Those before it may have fixed ones on Intel. */
static const struct {
	const char *name;
	uint32_t type;
	uint64_t config;
} kinds[] = {
	{ "ref-cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_REF_CPU_CYCLES },
	{ "instructions", PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS },
	{ "cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES },
	{ "branches", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_INSTRUCTIONS },
	{ "L1d", PERF_TYPE_HW_CACHE, CACHE },
	{ "r0003", PERF_TYPE_RAW, 0x0003 },
};

#define KINDS	((int)(sizeof(kinds) / sizeof(*kinds)))

/* How many events there are of each kind. */
static int mix[KINDS];

enum how { SINGLE, PINNED, PINNED_GROUP, HOWS };

static const char *const hows[] = { "", "pinned, ", "a pinned group, " };

static int open_kind(int kind, int group, bool pinned)
{
	struct perf_event_attr attr = {
		.type = kinds[kind].type, .config = kinds[kind].config,
		.size = sizeof(attr), .exclude_kernel = 1, .exclude_hv = 1,
		.disabled = group < 0, .pinned = pinned,
		.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED |
			       PERF_FORMAT_TOTAL_TIME_RUNNING,
	};

	return syscall(SYS_perf_event_open, &attr, 0, -1, group, PERF_FLAG_FD_CLOEXEC);
}

static void print_mix(void)
{
	int i;

	for (i = 0; i < KINDS; i++)
		printf("%d ", mix[i]);
}

/*
 * Extends the group by one event of each kind, from @kind on, and so on with each group
 * that comes to be. Returns the size of the largest one.
 */
static int groups(int leader, int kind, int size)
{
	int fd, n, largest = size;

	for (; kind < KINDS && size < MOST; kind++) {
		mix[kind]++;
		fd = open_kind(kind, leader, false);
		if (fd >= 0) {
			n = groups(leader < 0 ? fd : leader, kind, size + 1);
			largest = n > largest ? n : largest;
			close(fd);
		} else if (errno != ENOENT || leader >= 0) {
			print_mix();
			printf("refused: %s\n", strerror(errno));
		}
		mix[kind]--;
	}
	return largest;
}

static int mix_open(int *fd, enum how how)
{
	int kind, i, n = 0;

	for (kind = 0; kind < KINDS; kind++)
		for (i = 0; i < mix[kind]; i++) {
			if (how == PINNED_GROUP)
				fd[n] = open_kind(kind, n ? fd[0] : -1, !n);
			else
				fd[n] = open_kind(kind, -1, how == PINNED);
			n += fd[n] >= 0;
		}
	return n;
}

/* All events start and end within a fraction of the time after which perf rotates them. */
static int mix_count(int *opened, enum how how)
{
	struct { uint64_t count, enabled, running; } v;
	int fd[KINDS * 3], i, n = mix_open(fd, how), whole = 0;

	prctl(PR_TASK_PERF_EVENTS_ENABLE);
	for (i = 0; i < 10000; i++)
		asm volatile("" : : : "memory");
	prctl(PR_TASK_PERF_EVENTS_DISABLE);
	for (i = 0; i < n; i++) {
		whole += read(fd[i], &v, sizeof(v)) == sizeof(v) && v.enabled &&
			 v.enabled == v.running;
		close(fd[i]);
	}
	*opened = n;
	return whole;
}

static int compare(const void *a, const void *b)
{
	return *(const int *)a - *(const int *)b;
}

static void mix_next(uint32_t *random)
{
	int i;

	for (i = 0; i < KINDS; i++) {
		*random = *random * 1664525 + 1013904223;
		mix[i] = *random >> 24 & 3;
	}
}

/*
 * Each mix follows on another one, whose events have just left. In between, all other
 * tasks get their turn: the kernel takes some time for them even from SCHED_FIFO. A task that
 * comes within a mix, here or on the host of this machine, has the events scheduled anew, and
 * others of them fit: so all mixes are counted some times, and the middle one of each holds.
 */
static void mixes(enum how how)
{
	static int whole[MIXES][TIMES], opened[MIXES];
	const int all = how == SINGLE ? MIXES : MIXES / 3;
	uint32_t random = 1;
	int n, t;

	for (t = 0; t < TIMES; t++, random = 1)
		for (n = 0; n < all; n++) {
			mix_next(&random);
			usleep(100);
			whole[n][t] = mix_count(&opened[n], how);
		}
	for (n = 0; n < all; n++) {
		mix_next(&random);
		qsort(whole[n], TIMES, sizeof(int), compare);
		print_mix();
		printf("%scounts: %d of %d\n", hows[how], whole[n][TIMES / 2], opened[n]);
	}
}

int main(void)
{
	const struct sched_param first = { .sched_priority = 1 };
	int i;

	/*
	 * No other task may come in between: if one comes while a mix ends, one event at a
	 * time, the events that are left are scheduled anew, and others of them fit.
	 */
	if (sched_setscheduler(0, SCHED_FIFO, &first)) {
		perror("SCHED_FIFO");
		return 1;
	}
	for (i = 0; i < KINDS; i++)
		printf("%s ", kinds[i].name);
	printf("\nthe largest group: %d\n", groups(-1, 0, 0));
	for (i = 0; i < HOWS; i++)
		mixes(i);
	return 0;
}
