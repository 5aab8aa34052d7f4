// SPDX-License-Identifier: GPL-2.0
/*
 * What perf_event_open() says to calls that are chosen at random, but the same in each run:
 * a line for each call. Knows nothing of the PMU; parity.sh compares a guest with its host.
 *
 *   pmu_parity N             the calls 0 to N - 1: "K OUTCOME: the call in words"
 *   pmu_parity subsets K...  these calls, with each subset of their changes, the smallest
 *                            ones first
 *
 * A call is a plain event with up to eight changes.
 */

#include "chance.h"
#include <errno.h>
#include <linux/hw_breakpoint.h>
#include <linux/perf_event.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define CHANGES		8
#define ALL		((1u << CHANGES) - 1)
#define WORDS		17	/* of 64 bits, in PERF_ATTR_SIZE_VER8 */
#define PAGE		4096

/* Groups can have these leaders, some of which have siblings. */
#define LEADERS		10

struct call {
	uint64_t attr[PAGE / 8];
	int32_t pid, cpu;
	int leader;		/* in leaders[]; -1: none */
	uint32_t flags;
	char words[512];	/* what was changed */
};

static int leaders[LEADERS];
static pid_t child;

/* ---------------------------------------------------------------------- a call */

static void say(struct call *c, const char *name, uint64_t value)
{
	size_t used = strlen(c->words);

	snprintf(c->words + used, sizeof(c->words) - used, " %s=%#llx", name,
		 (unsigned long long)value);
}

static struct perf_event_attr *attr_of(struct call *c)
{
	return (struct perf_event_attr *)c->attr;
}

static uint64_t cache_config(void)
{
	return below(PERF_COUNT_HW_CACHE_MAX + 1) | below(4) << 8 | below(3) << 16;
}

/* A plain event, most often one that counts. */
static void begin(struct call *c)
{
	struct perf_event_attr *attr = attr_of(c);

	*c = (struct call){ .cpu = -1, .leader = -1 };
	attr->size = WORDS * 8;
	attr->disabled = 1;
	switch (below(8)) {
	case 0:
	case 1:
	case 2:
		attr->type = PERF_TYPE_HARDWARE;
		attr->config = below(PERF_COUNT_HW_MAX + 2);
		break;
	case 3:
	case 4:
		attr->type = PERF_TYPE_RAW;
		attr->config = ONE_OF(0xc0, 0x76, 0xc2, 0xc3, 0x1c0, 0x3c, 0x81d0,
				      below(0x10000));
		break;
	case 5:
		attr->type = PERF_TYPE_HW_CACHE;
		attr->config = cache_config();
		break;
	case 6:
		attr->type = PERF_TYPE_SOFTWARE;
		attr->config = below(PERF_COUNT_SW_MAX + 1);
		break;
	case 7:
		attr->type = PERF_TYPE_BREAKPOINT;
		attr->bp_type = HW_BREAKPOINT_RW;
		attr->bp_addr = 0x1000;
		attr->bp_len = HW_BREAKPOINT_LEN_8;
	}
	say(c, "type", attr->type);
	say(c, "config", attr->config);
}

static void change_flag(struct call *c, uint32_t bit)
{
	/* the word of the flags is the sixth; bit 0 is .disabled */
	c->attr[5] ^= 1ull << bit;
	say(c, "flag", bit);
}

/* May also be a frequency, if that flag is set. */
static void change_period(struct call *c)
{
	struct perf_event_attr *attr = attr_of(c);

	attr->sample_period = ONE_OF(0, 1, 31, 100, 999, 1000, 4000, 1ull << 31, 1ull << 32,
				     1ull << 62, 1ull << 63, ~0ull);
	say(c, "period", attr->sample_period);
}

/* Not near the limit, which perf lowers where interrupts take long. */
static void change_frequency(struct call *c)
{
	struct perf_event_attr *attr = attr_of(c);

	attr->freq = 1;
	attr->sample_freq = ONE_OF(0, 1, 99, 1000, 1ull << 40, 1ull << 63);
	say(c, "frequency", attr->sample_freq);
}

static void change_size(struct call *c)
{
	attr_of(c)->size = ONE_OF(0, 1, 63, 64, 65, 72, 80, 96, 104, 112, 120, 128, 136, 144,
				  PAGE, PAGE + 1, ~0u);
	say(c, "size", attr_of(c)->size);
}

static void change_config(struct call *c)
{
	struct perf_event_attr *attr = attr_of(c);

	switch (below(4)) {
	case 0:
		attr->config ^= 1ull << below(64);
		/* Intel's driver takes AnyThread for a CPU that has no such bit. */
		attr->config &= attr->type == PERF_TYPE_RAW ? ~(1ull << 21) : ~0ull;
		break;
	case 1:
		attr->config |= ONE_OF(4ull, ~0u, 1000) << 32;
		break;
	case 2:
		attr->config1 = ONE_OF(1, 0x10001, ~0ull);
		break;
	case 3:
		attr->config2 = ONE_OF(1, 8, ~0ull);
	}
	say(c, "config", attr->config);
	say(c, "config1", attr->config1);
	say(c, "config2", attr->config2);
}

/* Any bit, or some bits, of a word that is not about the event. */
static void change_word(struct call *c)
{
	/* sample_type, read_format, and all from branch_sample_type on */
	static const uint8_t words[] = { 3, 4, 6, 9, 10, 11, 12, 13, 14, 15, 16 };
	static const char *const names[WORDS] = {
		[3] = "sample_type", [4] = "read_format", [6] = "wakeup.bp_type",
		[9] = "branches", [10] = "regs_user", [11] = "stack.clockid",
		[12] = "regs_intr", [13] = "aux_watermark.max_stack", [14] = "aux_sample",
		[15] = "sig_data", [16] = "config3",
	};
	int word = words[below(N(words))];

	c->attr[word] ^= below(4) ? 1ull << below(64) : 1ull << below(8) | 1ull << below(8);
	say(c, names[word], c->attr[word]);
}

static void change_sample(struct call *c)
{
	struct perf_event_attr *attr = attr_of(c);

	attr->sample_type ^= 1ull << below(26);
	say(c, "sample_type", attr->sample_type);
}

static void change_format(struct call *c)
{
	struct perf_event_attr *attr = attr_of(c);

	attr->read_format ^= 1ull << below(6);
	say(c, "read_format", attr->read_format);
}

static void change_who(struct call *c)
{
	switch (below(5)) {
	case 0:
		c->pid = -1;
		c->cpu = 0;
		break;
	case 1:
		c->cpu = ONE_OF(0, 0, 1000, -2);
		break;
	case 2:
		c->pid = -2 - (int)below(2);	/* the child, or nobody */
		break;
	case 3:
		c->flags = ONE_OF(1, 2, 4, 8, 16, 0x80000000);
		break;
	case 4:
		c->pid = -1;
	}
	say(c, "pid", (uint32_t)c->pid);
	say(c, "cpu", (uint32_t)c->cpu);
	say(c, "flags", c->flags);
}

static void change_group(struct call *c)
{
	c->leader = below(LEADERS);
	say(c, "leader", c->leader);
}

/* Not the type of a PMU that one side has, and the other has not. */
static void change_type(struct call *c)
{
	attr_of(c)->type = ONE_OF(PERF_TYPE_TRACEPOINT, 1000, 1u << 31, ~0u);
	say(c, "type", attr_of(c)->type);
}

/* One change of any kind. */
static void change(struct call *c)
{
	switch (below(17)) {
	case 0: change_period(c); break;
	case 1: change_frequency(c); break;
	case 2: change_size(c); break;
	case 3:
	case 4: change_config(c); break;
	case 5: change_word(c); break;
	case 6:
	case 7: change_sample(c); break;
	case 8: change_format(c); break;
	case 9: change_who(c); break;
	case 10:
	case 11: change_group(c); break;
	case 12: change_flag(c, below(64)); break;
	case 13: change_type(c); break;
	default: change_flag(c, below(38)); break;
	}
}

/* Call @k with the changes in @mask. Returns how many changes it has in all. */
static int call_make(struct call *c, uint32_t k, uint32_t mask)
{
	struct call dropped;
	int i, n;

	chance_seed(k * 0x9e3779b97f4a7c15ull + 1);
	begin(c);
	/* One change most often, as two hide each other's errors. */
	n = below(3) ? below(3) : below(CHANGES + 1);
	for (i = 0; i < n; i++) {
		dropped = *c;
		/* A change must not depend on those before it. */
		chance_seed((k + 1) * 0xbf58476d1ce4e5b9ull + i);
		change(mask & 1u << i ? c : &dropped);
	}
	return n;
}

/* -------------------------------------------------------------------- outcomes */

static pid_t pid_of(const struct call *c)
{
	return c->pid == -2 ? child : c->pid == -3 ? 0x3ffffff : c->pid;
}

/* Of read(), which depends on the event's format and group. */
static long read_size(int fd)
{
	static uint64_t values[1024];
	long n = read(fd, values, sizeof(values));

	return n < 0 ? -errno : n;
}

static const char *map_error(int fd)
{
	void *at = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	if (at == MAP_FAILED)
		return strerrorname_np(errno);
	munmap(at, 2 * PAGE);
	return "0";
}

static const char *ioctl_error(int fd, unsigned long what, void *arg)
{
	return ioctl(fd, what, arg) < 0 ? strerrorname_np(errno) : "0";
}

static void outcome(struct call *c)
{
	uint64_t id;
	int fd = syscall(SYS_perf_event_open, c->attr, pid_of(c), c->cpu,
			 c->leader < 0 ? -1 : leaders[c->leader], c->flags);

	if (fd < 0) {
		printf("%s", strerrorname_np(errno));
		return;
	}
	printf("ok read=%ld map=%s", read_size(fd), map_error(fd));
	printf(" id=%s enable=%s", ioctl_error(fd, PERF_EVENT_IOC_ID, &id),
	       ioctl_error(fd, PERF_EVENT_IOC_ENABLE, NULL));
	printf(" disable=%s period=%s", ioctl_error(fd, PERF_EVENT_IOC_DISABLE, NULL),
	       ioctl_error(fd, PERF_EVENT_IOC_PERIOD, &(uint64_t){ 1000 }));
	printf(" refresh=%s", ioctl_error(fd, PERF_EVENT_IOC_REFRESH, (void *)1));
	close(fd);
}

static int leader_open(uint32_t type, uint64_t config, pid_t pid, int cpu, bool pinned)
{
	struct perf_event_attr attr = {
		.type = type, .size = sizeof(attr), .config = config,
		.disabled = 1, .pinned = pinned,
	};

	return syscall(SYS_perf_event_open, &attr, pid, cpu, -1, PERF_FLAG_FD_CLOEXEC);
}

/* The leader of @n events, hardware events but for the leader; or of as many as fit. */
static int group_open(uint32_t type, int n)
{
	int leader = leader_open(type, PERF_COUNT_HW_CPU_CYCLES, 0, -1, false);
	struct perf_event_attr attr = {
		.type = PERF_TYPE_HARDWARE, .size = sizeof(attr),
		.config = PERF_COUNT_HW_INSTRUCTIONS,
	};

	while (--n)
		syscall(SYS_perf_event_open, &attr, 0, -1, leader, PERF_FLAG_FD_CLOEXEC);
	return leader;
}

static void leaders_open(void)
{
	leaders[0] = leader_open(PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS, 0, -1, false);
	leaders[1] = leader_open(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK, 0, -1, false);
	leaders[2] = leader_open(PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES, 0, -1, true);
	leaders[3] = leader_open(PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES, -1, 0, false);
	leaders[4] = leader_open(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK, -1, 0, false);
	leaders[5] = leader_open(PERF_TYPE_RAW, 0xc0, 0, 0, false);
	leaders[6] = group_open(PERF_TYPE_HARDWARE, 4);
	leaders[7] = group_open(PERF_TYPE_HARDWARE, 6);
	leaders[8] = group_open(PERF_TYPE_SOFTWARE, 4);
	leaders[9] = group_open(PERF_TYPE_SOFTWARE, 8);
}

static pid_t child_start(void)
{
	pid_t pid = fork();

	if (pid)
		return pid;
	for (;;)
		pause();
}

static void one(uint32_t k, uint32_t mask)
{
	static struct call c;

	call_make(&c, k, mask);
	printf("%u ", k);
	outcome(&c);
	printf(":%s\n", c.words);
}

static void subsets(uint32_t k)
{
	static struct call c;
	int bits, n = call_make(&c, k, 0);
	uint32_t mask;

	for (bits = 0; bits <= n; bits++)
		for (mask = 0; mask < 1u << n; mask++)
			if (__builtin_popcount(mask) == bits)
				one(k, mask);
}

int main(int argc, char **argv)
{
	int i, n = argc == 2 ? atoi(argv[1]) : 0;

	if (!n && (argc < 3 || strcmp(argv[1], "subsets"))) {
		fprintf(stderr, "usage: pmu_parity N | subsets K...\n");
		return 1;
	}
	signal(SIGTRAP, SIG_IGN);
	signal(SIGIO, SIG_IGN);
	child = child_start();
	leaders_open();
	for (i = 0; i < n; i++)
		one(i, ALL);
	for (i = 2; i < argc; i++)
		subsets(atoi(argv[i]));
	kill(child, SIGKILL);
	return 0;
}
