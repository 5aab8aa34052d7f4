// SPDX-License-Identifier: GPL-2.0
/*
 * What any PMU must guarantee for sampling: N overflows give N samples, or N less the
 * number that is reported as lost; the periods add up to the count. The tests read the
 * ring buffer record by record. Nothing here depends on the PMU.
 */

#include "pmu_test.h"
#include <pthread.h>
#include <sys/random.h>
#include <time.h>

/*
 * Ten thousand overflows a second, which the host allows; a real CPU is ten times as
 * fast, hence its longer period. A run ends in the middle of a period, because on a real
 * CPU an overflow comes with skid.
 */
#define PERIOD		(emulated() ? 100000ull : 1000000ull)
#define SAMPLES		200
#define RUN		((SAMPLES * PERIOD + PERIOD / 2) / TURN_INSNS)

/* perf's ring buffer, and what the test found in it. */
struct ring {
	int fd;
	size_t pages;
	struct perf_event_mmap_page *head;
	uint8_t *data;
	uint64_t samples, lost, lost_samples, throttled;
	uint64_t periods, last_period, last_value;
	uint64_t user, kernel, deep;	/* frames; samples with more than one */
	bool unordered;
	uint64_t last_time;
};

#define SAMPLE_TYPE	(PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | \
			 PERF_SAMPLE_READ | PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD)

struct sample {
	struct perf_event_header header;
	uint64_t ip;
	uint32_t pid, tid;
	uint64_t time;
	uint32_t cpu, reserved;
	uint64_t period;
	uint64_t value, enabled, running;
	uint64_t chain_length, chain[];
};

static struct perf_event_attr attr_sample(uint64_t period)
{
	struct perf_event_attr attr = attr_user();

	attr.sample_period = period;
	attr.sample_type = SAMPLE_TYPE;
	return attr;
}

static int ring_open(struct ring *r, int fd, size_t pages)
{
	*r = (struct ring){ .fd = fd, .pages = pages };
	if (fd < 0)
		return -errno;
	r->head = mmap(NULL, (pages + 1) * 4096, PROT_READ | PROT_WRITE,
		       MAP_SHARED, fd, 0);
	if (r->head == MAP_FAILED)
		return -errno;
	r->data = (uint8_t *)r->head + 4096;
	return 0;
}

/* Copies a record, also one that wraps around the end of the buffer. */
static void record_copy(struct ring *r, uint64_t at, void *to, size_t size)
{
	size_t total = r->pages * 4096, i;

	for (i = 0; i < size; i++)
		((uint8_t *)to)[i] = r->data[(at + i) % total];
}

static void sample_take(struct ring *r, const struct sample *s, bool chain)
{
	uint64_t i;
	bool user = false;

	r->samples++;
	r->periods += s->period;
	r->last_period = s->period;
	r->unordered |= s->time < r->last_time || s->value < r->last_value;
	r->last_time = s->time;
	r->last_value = s->value;
	if (!chain)
		return;
	for (i = 0; i < s->chain_length; i++) {
		if (s->chain[i] == (uint64_t)PERF_CONTEXT_USER)
			user = true;
		else if (s->chain[i] == (uint64_t)PERF_CONTEXT_KERNEL)
			user = false;
		else if (user)
			r->user++;
		else
			r->kernel++;
	}
	r->deep += s->chain_length > 2;
}

static void ring_take(struct ring *r, bool chain)
{
	uint64_t head = __atomic_load_n(&r->head->data_head, __ATOMIC_ACQUIRE);
	uint64_t at = r->head->data_tail;
	union {
		struct perf_event_header header;
		struct sample sample;
		uint64_t words[8192];
	} u;

	while (at < head) {
		record_copy(r, at, &u, sizeof(u.header));
		record_copy(r, at, &u, u.header.size);
		switch (u.header.type) {
		case PERF_RECORD_SAMPLE:
			sample_take(r, &u.sample, chain);
			break;
		case PERF_RECORD_LOST:		/* id, lost */
			r->lost += u.words[2];
			break;
		case PERF_RECORD_LOST_SAMPLES:
			r->lost_samples += u.words[1];
			break;
		case PERF_RECORD_THROTTLE:
			r->throttled++;
			break;
		}
		at += u.header.size;
	}
	__atomic_store_n(&r->head->data_tail, at, __ATOMIC_RELEASE);
}

FIXTURE(sample) {
	struct ring ring;
};

FIXTURE_SETUP(sample)
{
	REQUIRE_PMU();
	ASSERT_EQ(0, pin(0));
}

FIXTURE_TEARDOWN(sample)
{
}

/* As many samples as periods in the count, and each of one period. */
TEST_F(sample, as_many)
{
	struct perf_event_attr attr = attr_sample(PERIOD);
	struct ring *r = &self->ring;
	struct value v;

	ASSERT_EQ(0, ring_open(r, event_open(&attr, 0, -1, -1), 128));
	enable(r->fd);
	load(RUN);
	disable(r->fd);
	v = value_read(r->fd);
	ring_take(r, false);
	EXPECT_TRUE(counted(v.count, RUN));
	EXPECT_EQ(v.count / PERIOD, r->samples + r->lost + r->lost_samples);
	EXPECT_EQ(0, r->lost);
	EXPECT_EQ(0, r->throttled);
	EXPECT_EQ(r->samples * PERIOD, r->periods);
	EXPECT_EQ(PERIOD, r->last_period);
	/* what came after the last sample is less than a period */
	EXPECT_GT(PERIOD, v.count - r->periods);
	EXPECT_FALSE(r->unordered);
	EXPECT_GE(v.count, r->last_value);
}

/* The periods add up even if the event is stopped and started within periods. */
TEST_F(sample, in_pieces)
{
	struct perf_event_attr attr = attr_sample(PERIOD);
	struct ring *r = &self->ring;
	struct value v;
	int i;

	ASSERT_EQ(0, ring_open(r, event_open(&attr, 0, -1, -1), 128));
	for (i = 0; i < 100; i++) {
		enable(r->fd);
		load(RUN / 100);
		disable(r->fd);
	}
	v = value_read(r->fd);
	ring_take(r, false);
	EXPECT_GE(1, llabs((long long)(v.count / PERIOD -
				       (r->samples + r->lost_samples)))) {
		TH_LOG("%llu samples, %llu lost, count %llu",
		       (unsigned long long)r->samples,
		       (unsigned long long)r->lost_samples,
		       (unsigned long long)v.count);
	}
	EXPECT_FALSE(r->unordered);
}

/* A buffer that is too small loses samples, and the number is reported. */
TEST_F(sample, declared_loss)
{
	struct perf_event_attr attr = attr_sample(PERIOD);
	struct ring *r = &self->ring;
	struct value v;

	ASSERT_EQ(0, ring_open(r, event_open(&attr, 0, -1, -1), 1));
	enable(r->fd);
	load(RUN);
	/* make room, so that the loss can be written */
	ring_take(r, false);
	load(RUN / 10);
	disable(r->fd);
	v = value_read(r->fd);
	ring_take(r, false);
	EXPECT_LT(0, r->lost + r->lost_samples);
	EXPECT_EQ(v.count / PERIOD, r->samples + r->lost + r->lost_samples) {
		TH_LOG("%llu samples, %llu + %llu lost",
		       (unsigned long long)r->samples,
		       (unsigned long long)r->lost,
		       (unsigned long long)r->lost_samples);
	}
}

/* Two events with different periods at once: each has all of its samples. */
TEST_F(sample, two)
{
	struct perf_event_attr attr = attr_sample(PERIOD);
	struct ring *r = &self->ring, other;
	struct value v;

	ASSERT_EQ(0, ring_open(r, event_open(&attr, 0, -1, -1), 128));
	attr = attr_sample(PERIOD * 3 / 2 + 1);
	ASSERT_EQ(0, ring_open(&other, event_open(&attr, 0, -1, -1), 128));
	enable(r->fd);
	enable(other.fd);
	load(RUN);
	disable(other.fd);
	disable(r->fd);
	v = value_read(r->fd);
	ring_take(r, false);
	EXPECT_EQ(v.count / PERIOD, r->samples + r->lost_samples);
	v = value_read(other.fd);
	ring_take(&other, false);
	EXPECT_EQ(v.count / attr.sample_period,
		  other.samples + other.lost_samples);
}

/* With a frequency, the periods add up to the count within 0.1 %. */
TEST_F(sample, frequency)
{
	struct perf_event_attr attr = attr_sample(0);
	struct ring *r = &self->ring;
	struct value v;
	uint64_t turns = 200 * TURNS;

	attr.freq = 1;
	attr.sample_freq = 1000;
	ASSERT_EQ(0, ring_open(r, event_open(&attr, 0, -1, -1), 256));
	enable(r->fd);
	load(turns);
	disable(r->fd);
	v = value_read(r->fd);
	ring_take(r, false);
	EXPECT_LT(10, r->samples);
	EXPECT_EQ(0, r->lost + r->lost_samples);
	/* the last period had not ended */
	EXPECT_GT(v.count / 1000 + r->last_period,
		  llabs((long long)(v.count - r->periods))) {
		TH_LOG("%llu samples, periods %llu, count %llu, last %llu",
		       (unsigned long long)r->samples,
		       (unsigned long long)r->periods,
		       (unsigned long long)v.count,
		       (unsigned long long)r->last_period);
	}
	EXPECT_FALSE(r->unordered);
}

/* The program runs all the time, but most of that in the kernel. */
static void load_kernel(uint64_t turns)
{
	static char bytes[4096];
	ssize_t n;

	load(turns);
	n = getrandom(bytes, sizeof(bytes), 0);
	(void)n;
}

static void load_user(uint64_t turns)
{
	load(turns);
}

static uint64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000ull + t.tv_nsec / 1000000;
}

/* The samples that a load gives in a number of milliseconds. */
static uint64_t samples_in(struct ring *r, void (*work)(uint64_t turns), int ms)
{
	uint64_t before = r->samples, end = now_ms() + ms;

	do
		work(3000);
	while (now_ms() < end);
	ring_take(r, false);
	return r->samples - before;
}

/*
 * A frequency holds when the event gets ten times rarer, which only ticks show, and ten
 * times as frequent again, which the overflows have to notice before the next tick.
 */
TEST_F(sample, frequency_follows)
{
	struct perf_event_attr attr = attr_sample(0);
	struct ring *r = &self->ring;
	uint64_t slow, fast;

	attr.freq = 1;
	attr.sample_freq = 1000;
	ASSERT_EQ(0, ring_open(r, event_open(&attr, 0, -1, -1), 256));
	enable(r->fd);
	samples_in(r, load_user, 300);
	samples_in(r, load_kernel, 300);
	slow = samples_in(r, load_kernel, 200);
	fast = samples_in(r, load_user, 50);
	disable(r->fd);
	TH_LOG("%llu in 200 ms, then %llu in 50 ms", (unsigned long long)slow,
	       (unsigned long long)fast);
	EXPECT_LT(150, slow);
	EXPECT_GT(250, slow);
	EXPECT_LT(25, fast);
	EXPECT_GT(100, fast);
}

static int max_rate(int rate)
{
	char path[] = "/proc/sys/kernel/perf_event_max_sample_rate";
	FILE *f = fopen(path, "r+");
	int before;

	if (!f || fscanf(f, "%d", &before) != 1)
		return -1;
	rewind(f);
	fprintf(f, "%d\n", rate);
	return fclose(f) ? -1 : before;
}

/* An event far beyond any limit obeys a limit that is lowered while it runs. */
TEST_F(sample, lower_limit)
{
	struct perf_event_attr attr = attr_sample(2000);
	struct ring *r = &self->ring;
	uint64_t samples;
	int before;

	ASSERT_EQ(0, ring_open(r, event_open(&attr, 0, -1, -1), 1024));
	enable(r->fd);
	samples_in(r, load_user, 100);
	before = max_rate(7500);
	ASSERT_LT(0, before);
	samples = samples_in(r, load_user, 300);
	EXPECT_EQ(7500, max_rate(before));
	disable(r->fd);
	TH_LOG("%llu in 300 ms", (unsigned long long)samples);
	EXPECT_LT(1000, samples);
	EXPECT_GT(4000, samples);
	EXPECT_LT(20, r->throttled);
}

/* A disabled event does not sample. */
TEST_F(sample, stopped)
{
	struct perf_event_attr attr = attr_sample(PERIOD);
	struct ring *r = &self->ring;
	uint64_t samples;

	ASSERT_EQ(0, ring_open(r, event_open(&attr, 0, -1, -1), 128));
	enable(r->fd);
	load(RUN / 10);
	disable(r->fd);
	ring_take(r, false);
	samples = r->samples;
	load(RUN);
	ring_take(r, false);
	EXPECT_EQ(samples, r->samples);
	EXPECT_LT(0, samples);
}

/* An ioctl changes the next period. */
TEST_F(sample, new_period)
{
	struct perf_event_attr attr = attr_sample(PERIOD);
	struct ring *r = &self->ring;
	uint64_t period = PERIOD * 4, before;
	struct value v;

	ASSERT_EQ(0, ring_open(r, event_open(&attr, 0, -1, -1), 128));
	enable(r->fd);
	load(RUN);
	disable(r->fd);
	ring_take(r, false);
	ASSERT_EQ(0, ioctl(r->fd, PERF_EVENT_IOC_PERIOD, &period));
	before = value_read(r->fd).count;
	r->samples = r->periods = 0;
	enable(r->fd);
	load(RUN);
	disable(r->fd);
	v = value_read(r->fd);
	ring_take(r, false);
	EXPECT_GE(1, llabs((long long)((v.count - before) / period -
				       r->samples))) {
		TH_LOG("%llu samples", (unsigned long long)r->samples);
	}
	EXPECT_EQ(period, r->last_period);
}

/* What was counted towards a long period is no loss when the program sets a short one. */
TEST_F(sample, much_shorter_period)
{
	struct perf_event_attr attr = attr_sample(PERIOD * 100000);
	struct ring *r = &self->ring;
	uint64_t period = PERIOD, v[4];

	attr.read_format |= PERF_FORMAT_LOST;
	attr.sample_type &= ~PERF_SAMPLE_PERIOD;	/* else a longer period is no loss */
	ASSERT_EQ(0, ring_open(r, event_open(&attr, 0, -1, -1), 128));
	enable(r->fd);
	load(RUN);
	ASSERT_EQ(0, ioctl(r->fd, PERF_EVENT_IOC_PERIOD, &period));
	load(RUN);
	disable(r->fd);
	ASSERT_EQ((ssize_t)sizeof(v), read(r->fd, v, sizeof(v)));
	EXPECT_LT(RUN, v[0]);
	EXPECT_EQ(0, v[3]);
}

/* A period begins when the program sets it, also to what it is. */
TEST_F(sample, same_period)
{
	struct perf_event_attr attr = attr_sample(PERIOD * 100000);
	struct ring *r = &self->ring;
	uint64_t period;

	ASSERT_EQ(0, ring_open(r, event_open(&attr, 0, -1, -1), 128));
	enable(r->fd);
	load(RUN);
	period = value_read(r->fd).count * 3 / 2;
	ASSERT_EQ(0, ioctl(r->fd, PERF_EVENT_IOC_PERIOD, &period));
	load(RUN);
	ASSERT_EQ(0, ioctl(r->fd, PERF_EVENT_IOC_PERIOD, &period));
	load(RUN);
	ring_take(r, false);
	EXPECT_EQ(0, r->samples);
	load(RUN);
	disable(r->fd);
	ring_take(r, false);
	EXPECT_EQ(1, r->samples);
}

static void __attribute__((noinline)) deeper(int depth, uint64_t turns)
{
	if (depth)
		deeper(depth - 1, turns);
	else
		load(turns);
	asm volatile("");	/* no tail call */
}

/* User frames of the program. */
TEST_F(sample, callchain)
{
	struct perf_event_attr attr = attr_sample(PERIOD);
	struct ring *r = &self->ring;

	attr.sample_type |= PERF_SAMPLE_CALLCHAIN;
	ASSERT_EQ(0, ring_open(r, event_open(&attr, 0, -1, -1), 256));
	enable(r->fd);
	deeper(5, RUN);
	disable(r->fd);
	ring_take(r, true);
	EXPECT_LT(SAMPLES / 2, r->samples);
	EXPECT_LE(5 * r->samples, r->user);
	EXPECT_EQ(0, r->kernel);
}

/* Kernel frames, too, if they are asked for. */
TEST_F(sample, callchain_kernel)
{
	struct perf_event_attr attr = attr_sample(PERIOD);
	struct ring *r = &self->ring;
	int i;

	attr.sample_type |= PERF_SAMPLE_CALLCHAIN;
	attr.exclude_kernel = 0;
	attr.exclude_user = 1;
	ASSERT_EQ(0, ring_open(r, event_open(&attr, 0, -1, -1), 256));
	enable(r->fd);
	for (i = 0; i < 20000; i++)
		sched_yield();
	disable(r->fd);
	ring_take(r, true);
	EXPECT_LT(0, r->samples);
	EXPECT_LE(r->samples, r->kernel);
	EXPECT_LT(0, r->user);
}

/* REFRESH enables the event for a number of overflows. */
TEST_F(sample, refresh)
{
	struct perf_event_attr attr = attr_sample(PERIOD);
	struct ring *r = &self->ring;
	int i, signals = 0;

	attr.wakeup_events = 1;
	ASSERT_EQ(0, ring_open(r, event_open(&attr, 0, -1, -1), 128));
	for (i = 0; i < 10; i++) {
		uint64_t before = r->samples;

		ASSERT_EQ(0, ioctl(r->fd, PERF_EVENT_IOC_REFRESH, 1));
		load(2 * PERIOD);
		ring_take(r, false);
		signals += r->samples - before == 1;
	}
	/* a refresh of 1 gives one overflow */
	EXPECT_EQ(10, signals);
}

TEST_HARNESS_MAIN
