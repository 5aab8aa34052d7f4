// SPDX-License-Identifier: GPL-2.0
/*
 * Counters differ: AMD's driver gives raw event 0x003 (FLOPs) a pair of counters. Events
 * that have been closed must not keep counters from new ones, however many there were and
 * of whatever kind. Nothing here depends on the PMU.
 */

#include "pmu_test.h"
#include <string.h>

#define COUNTERS	6
#define PAIR		0x003
#define WATCH_US	1100000		/* by then counters without an event have stopped */

/* How many plain events, and how many that need two counters. */
struct mix {
	int plain, pairs;
};

/* All mixes that fit in six counters; most groups try only the first few. */
static const struct mix mixes[] = {
	{ 6, 0 }, { 3, 0 }, { 4, 1 }, { 1, 2 }, { 0, 3 },
	{ 1, 0 }, { 2, 0 }, { 4, 0 }, { 5, 0 }, { 0, 1 }, { 1, 1 }, { 2, 1 }, { 3, 1 },
	{ 0, 2 }, { 2, 2 },
};

#define MIXES	((int)(sizeof(mixes) / sizeof(*mixes)))
#define FEW	5

/* Unit masks and selects that nothing else here uses; the first counts cycles. */
static const uint64_t before[COUNTERS] = { 0xc0, 0xc1, 0xc2, 0xc3, 0x60, 0x41 };
static const uint64_t wanted[COUNTERS] = { 0x76, 0x40, 0x45, 0x80, 0x81, 0x64 };

static bool is_amd(void)
{
	char line[256] = "";
	FILE *f = fopen("/proc/cpuinfo", "r");

	while (f && fgets(line, sizeof(line), f) && strncmp(line, "vendor_id", 9))
		;
	if (f)
		fclose(f);
	return strstr(line, "AMD") || strstr(line, "Hygon");
}

static int mix_size(const struct mix *mix)
{
	return mix->plain + mix->pairs;
}

/* The pairs come first, which is the harder order for the others. */
static uint64_t mix_config(const struct mix *mix, const uint64_t *plain, int umask,
			   int i)
{
	return i < mix->pairs ? PAIR | (umask + i) << 8 : plain[i - mix->pairs];
}

static int raw_open(uint64_t config, uint64_t period, bool pinned, int group)
{
	struct perf_event_attr attr = attr_user();

	attr.type = PERF_TYPE_RAW;
	attr.config = config;
	attr.sample_period = period;
	attr.pinned = pinned && group < 0;
	attr.disabled = group < 0;
	return event_open(&attr, 0, -1, group);
}

/* Single events, each of which counts and is closed. */
static bool come_and_go(const struct mix *mix)
{
	int fd[COUNTERS], i;
	bool good = true;

	for (i = 0; i < mix_size(mix); i++) {
		fd[i] = raw_open(mix_config(mix, before, 1, i), 0, false, -1);
		good &= fd[i] >= 0;
		enable(fd[i]);
	}
	load(1000);
	while (i--)
		close(fd[i]);
	return good;
}

/* Opens a group; returns whether each of its events counted all of the time. */
static bool counts(const struct mix *mix, uint64_t period, bool pinned)
{
	struct value v[COUNTERS];
	int fd[COUNTERS], i, n = mix_size(mix);
	bool good = true;

	for (i = 0; i < n; i++) {
		fd[i] = raw_open(mix_config(mix, wanted, 0xf0, i), period, pinned,
				 i ? fd[0] : -1);
		good &= fd[i] >= 0;
	}
	enable(fd[0]);
	load(TURNS / 10);
	for (i = 0; i < n; i++) {
		good &= read(fd[i], &v[i], sizeof(v[i])) == sizeof(v[i]);
		good &= good && v[i].enabled && v[i].enabled == v[i].running;
	}
	/* Cycles are no fewer than instructions where the lab's PMU runs. */
	if (mix->plain)
		good &= v[mix->pairs].count > 0;
	while (i--)
		close(fd[i]);
	return good;
}

FIXTURE(fit) {
};

FIXTURE_SETUP(fit)
{
	int fd;

	if (!is_amd())
		SKIP(return, "this CPU is not AMD's");
	fd = raw_open(PAIR | 0xff00, 0, false, -1);
	if (fd < 0 && errno == ENOENT)
		SKIP(return, "there is no hardware PMU, or it takes no raw events");
	ASSERT_LE(0, fd);
	close(fd);
}

FIXTURE_TEARDOWN(fit)
{
}

FIXTURE_VARIANT(fit) {
	struct mix mix;
	uint64_t period;
	bool pinned;
	int mixes;		/* how many to try */
};

FIXTURE_VARIANT_ADD(fit, pinned_pair) {
	.mix = { 1, 1 }, .pinned = true, .mixes = MIXES,
};

FIXTURE_VARIANT_ADD(fit, pinned_sampling) {
	.mix = { 1, 1 }, .pinned = true, .period = 1000000, .mixes = FEW,
};

FIXTURE_VARIANT_ADD(fit, pinned_pairs) {
	.mix = { 0, 3 }, .pinned = true, .mixes = FEW,
};

TEST_F_TIMEOUT(fit, after_others, 120)
{
	int i;

	for (i = 0; i < variant->mixes; i++) {
		usleep(WATCH_US);
		EXPECT_TRUE(come_and_go(&mixes[i]));
		EXPECT_TRUE(counts(&variant->mix, variant->period, variant->pinned)) {
			TH_LOG("after %d events and %d that need two counters",
			       mixes[i].plain, mixes[i].pairs);
		}
	}
}

TEST_HARNESS_MAIN
