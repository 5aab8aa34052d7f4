// SPDX-License-Identifier: GPL-2.0
/*
 * latency: how late a PMU's samples are, and which instruction they name. It uses
 * perf_event_open() only, so it works with any PMU. It knows beforehand which of the program's
 * instructions overflows, so instructions:u must be exact. If it is not, or if a sample is
 * missing, that is an error, and no figures are printed.
 *
 * skid     from the instruction that overflowed to the address of the sample, in
 *          instructions: 1 is the next one, the smallest that is possible
 * latency  from the overflow to the time of the sample, which perf core takes when the
 *          PMU's handler passes the sample to it
 *
 * Times are in ns, from the TSC in user space and CLOCK_MONOTONIC_RAW. With `lab/run
 * --icount` a ns is one instruction, of any level.
 */
#define _GNU_SOURCE
#include <err.h>
#include <linux/perf_event.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define PERIODS		32
#define OVERFLOWS	8		/* of each period */
#define SAMPLES		(PERIODS * OVERFLOWS)

/*
 * So long that the slowest PMU is ready again, and that the rate is below the limits of
 * perf and of hypervisors.
 */
#define PERIOD_FIRST	70001
#define PERIOD_STEP	500
#define PERIOD_END	(PERIOD_FIRST + (PERIODS + 1) * PERIOD_STEP)

/* Instructions in which even the last overflow of the longest period is noticed. */
#define LATE		30000
#define LINE		(OVERFLOWS * PERIOD_END + LATE)
#define TURN		7
#define TURNS		(LINE / TURN)
#define WINDOW		(LATE / TURN - 1)	/* turns */

#define PAGE		4096
#define RING		(2 * PAGE)

/* User instructions in counted(), between its system calls and the load. */
#define BEFORE		3
#define AFTER		4

struct sample {
	uint64_t ip, time;
};

/* Both clocks at the same moment, within half of @width. */
struct tie {
	uint64_t tsc, ns, width;
};

static uint64_t lead;			/* instructions that are counted before the load */
static uint8_t *line;			/* the load for skid */
static uint64_t *turns;			/* what the load for latency writes */
static uint64_t tie_width;

static int64_t skids[SAMPLES], latencies[SAMPLES];

/* The load for latency: turns of TURN instructions, of which the first reads the TSC. */
extern uint8_t clock_load[];
asm(".text\n"
	"clock_load:\n"
	"1:	rdtsc\n"
	"	shl $32, %rdx\n"
	"	or %rdx, %rax\n"
	"	mov %rax, (%rdi)\n"
	"	add $8, %rdi\n"
	"	cmp %rsi, %rdi\n"
	"	jne 1b\n"
	"	ret\n");

/* The loads may use rax and rdx; 128 is the red zone. */
static void counted(int fd, const void *load, const void *first, const void *end)
{
	uint64_t call = SYS_ioctl, a = fd, b = PERF_EVENT_IOC_ENABLE, c = 0;

	asm volatile("sub $128, %%rsp\n\t"
		     "syscall\n\t"
		     "mov %[first], %%rdi\n\t"
		     "mov %[end], %%rsi\n\t"
		     "call *%[load]\n\t"
		     "mov %[ioctl], %%eax\n\t"
		     "mov %[fd], %%edi\n\t"
		     "mov %[disable], %%esi\n\t"
		     "xor %%edx, %%edx\n\t"
		     "syscall\n\t"
		     "add $128, %%rsp"
		     : "+&a" (call), "+&D" (a), "+&S" (b), "+&d" (c)
		     : [fd] "r" (fd), [load] "r" (load), [first] "r" (first),
		       [end] "r" (end), [ioctl] "i" (SYS_ioctl),
		       [disable] "i" (PERF_EVENT_IOC_DISABLE)
		     : "rcx", "r11", "cc", "memory");
	if (call)
		errx(1, "the event can't be disabled");
}

/* Runs the last @length instructions of the load for skid. */
static void line_run(int fd, int length)
{
	counted(fd, line + LINE - length, NULL, NULL);
}

/* Runs the first @length of the load for latency. */
static void clock_run(int fd, int length)
{
	counted(fd, clock_load, turns, turns + length / TURN);
}

static int event_open(uint64_t period)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.type = PERF_TYPE_HARDWARE,
		.config = PERF_COUNT_HW_INSTRUCTIONS,
		.sample_period = period,
		.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TIME,
		.disabled = 1, .exclude_kernel = 1, .exclude_hv = 1,
		.use_clockid = 1, .clockid = CLOCK_MONOTONIC_RAW,
	};
	int fd = syscall(SYS_perf_event_open, &attr, 0, -1, -1, 0);

	if (fd < 0)
		err(1, "instructions:u can't be opened");
	return fd;
}

static uint64_t count_of(void (*run)(int fd, int length))
{
	int fd = event_open(0);
	uint64_t count;

	run(fd, LINE);
	if (read(fd, &count, sizeof(count)) != sizeof(count))
		err(1, "the event can't be read");
	close(fd);
	return count;
}

/* Returns the number of samples; other records do not count. */
static int ring_take(const struct perf_event_mmap_page *head, struct sample *to)
{
	const uint8_t *at = (const uint8_t *)head + PAGE;
	const uint8_t *end = at + __atomic_load_n(&head->data_head, __ATOMIC_ACQUIRE);
	int n = 0;

	for (; at < end; at += ((const struct perf_event_header *)at)->size) {
		const struct perf_event_header *header = (const void *)at;

		if (header->type != PERF_RECORD_SAMPLE)
			errx(1, "a record of type %u among the samples", header->type);
		if (n == OVERFLOWS)
			errx(1, "more than %d samples", OVERFLOWS);
		memcpy(&to[n++], header + 1, sizeof(*to));
	}
	return n;
}

/* Instructions for OVERFLOWS overflows of the period, and no more. */
static int length_of(uint64_t period)
{
	return OVERFLOWS * period + LATE;
}

static void samples_of(void (*run)(int fd, int length), uint64_t period, struct sample *to)
{
	int fd = event_open(period), n;
	void *ring = mmap(NULL, PAGE + RING, PROT_READ | PROT_WRITE,
			  MAP_SHARED, fd, 0);

	if (ring == MAP_FAILED)
		err(1, "no ring buffer");
	run(fd, length_of(period));
	n = ring_take(ring, to);
	if (n != OVERFLOWS)
		errx(1, "%d samples of period %llu, should be %d", n,
		     (unsigned long long)period, OVERFLOWS);
	munmap(ring, PAGE + RING);
	close(fd);
}

/* The index of the load's instruction that overflows. */
static uint64_t overflow_at(uint64_t period, int n)
{
	return (n + 1) * period - lead - 1;
}

static void skid_measure(uint64_t period, int64_t *to)
{
	uint64_t length = length_of(period);
	struct sample s[OVERFLOWS];
	int i;

	samples_of(line_run, period, s);
	for (i = 0; i < OVERFLOWS; i++) {
		uint64_t at = s[i].ip - (uintptr_t)(line + LINE - length);

		if (at >= length)
			errx(1, "a sample of %#llx, outside of the load",
			     (unsigned long long)s[i].ip);
		to[i] = at - overflow_at(period, i);
	}
}

static inline uint64_t tsc_read(void)
{
	uint32_t low, high;

	asm volatile("rdtsc" : "=a" (low), "=d" (high) : : "memory");
	return (uint64_t)high << 32 | low;
}

/* Takes the closest of some pairs of readings. */
static struct tie tie_take(void)
{
	struct tie tie = { .width = UINT64_MAX };
	struct timespec t;
	int i;

	for (i = 0; i < 20; i++) {
		uint64_t from = tsc_read(), width;

		clock_gettime(CLOCK_MONOTONIC_RAW, &t);
		width = tsc_read() - from;
		if (width < tie.width)
			tie = (struct tie){
				.tsc = from + width / 2, .width = width,
				.ns = t.tv_sec * 1000000000ull + t.tv_nsec,
			};
	}
	if (tie.width > tie_width)
		tie_width = tie.width;
	return tie;
}

static double tie_rate(const struct tie *a, const struct tie *b)
{
	return (double)(b->ns - a->ns) / (b->tsc - a->tsc);
}

/* The time of WINDOW turns without an interruption. */
static uint64_t window_ticks(int length)
{
	uint64_t best = UINT64_MAX;
	int i;

	for (i = 0; i + WINDOW < length / TURN; i++)
		if (turns[i + WINDOW] - turns[i] < best)
			best = turns[i + WINDOW] - turns[i];
	return best;
}

static void latency_measure(uint64_t period, int64_t *to)
{
	struct tie a = tie_take(), b;
	struct sample s[OVERFLOWS];
	uint64_t at, turn, quiet;
	double rate, tsc;
	int i;

	samples_of(clock_run, period, s);
	b = tie_take();
	rate = tie_rate(&a, &b);
	quiet = window_ticks(length_of(period));
	for (i = 0; i < OVERFLOWS; i++) {
		at = overflow_at(period, i);
		turn = at / TURN;
		/* the instruction that overflows has been executed at the overflow */
		tsc = turns[turn] + (at % TURN + 1.0) / TURN * quiet / WINDOW;
		to[i] = (double)(int64_t)(s[i].time - a.ns) - (tsc - a.tsc) * rate;
	}
}

static long faults(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return usage.ru_minflt;
}

/*
 * Does the instruction that returns to user mode count as a user instruction? A page fault
 * has only this one, a system call also has the instruction that calls.
 */
static bool returns_count(void)
{
	uint64_t warm = count_of(clock_run), more;
	long taken;

	if (madvise(turns, TURNS * sizeof(*turns), MADV_DONTNEED))
		err(1, "madvise");
	taken = -faults();
	more = count_of(clock_run) - warm;
	taken += faults();
	if (taken < 100 || (more && more != (uint64_t)taken))
		errx(1, "%ld page faults count as %lld instructions", taken,
		     (long long)more);
	return more;
}

static void calibrate(void)
{
	uint64_t own = BEFORE + LINE + 1 + AFTER, more = count_of(line_run) - own;
	bool returns = returns_count();

	/* the instruction that calls may count, too */
	if (more - returns > 1)
		errx(1, "%llu instructions count as %lld more", (unsigned long long)own,
		     (long long)more);
	lead = BEFORE + returns;
	printf("# calling the kernel counts as %d, coming back as %d\n",
	       (int)(more - returns), returns);
}

static void *memory_take(size_t size, int protection)
{
	void *p = mmap(NULL, size, PROT_READ | PROT_WRITE | protection,
		       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		err(1, "mmap");
	madvise(p, size, MADV_NOHUGEPAGE);
	return p;
}

/* Touches all memory of the loads, so that they do not fault while they are measured. */
static void loads_make(void)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(0, &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		err(1, "sched_setaffinity");
	line = memory_take(LINE + 1, PROT_EXEC);
	memset(line, 0x90, LINE);	/* nop */
	line[LINE] = 0xc3;		/* ret */
	turns = memory_take(TURNS * sizeof(*turns), 0);
	memset(turns, 0, TURNS * sizeof(*turns));
}

static uint64_t prime_from(uint64_t n)
{
	uint64_t d;

	for (;; n++) {
		for (d = 2; d * d <= n && n % d; d++)
			;
		if (d * d > n)
			return n;
	}
}

static int compare(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return (x > y) - (x < y);
}

static void figure_print(const char *name, int64_t *value)
{
	qsort(value, SAMPLES, sizeof(*value), compare);
	printf("figure %s.min %lld\n", name, (long long)value[0]);
	printf("figure %s.median %lld\n", name, (long long)value[SAMPLES / 2]);
	printf("figure %s.max %lld\n", name, (long long)value[SAMPLES - 1]);
}

static void measure(int n)
{
	uint64_t period = prime_from(PERIOD_FIRST + n * PERIOD_STEP);

	skid_measure(period, skids + n * OVERFLOWS);
	latency_measure(period, latencies + n * OVERFLOWS);
}

int main(void)
{
	int n;

	loads_make();
	calibrate();
	for (n = 0; n < PERIODS; n++)
		measure(n);
	printf("# clocks are tied within %llu ticks\n", (unsigned long long)tie_width / 2);
	figure_print("skid", skids);
	figure_print("latency", latencies);
	printf("figure samples %d\n", SAMPLES);
	return 0;
}
