// SPDX-License-Identifier: GPL-2.0
/*
 * Counts its own user instructions, and reads the count again and again, while the VM may
 * move to another host. Says how much it has counted of how much, and which times it saw.
 * A count or a time that goes back is an error, and so is a count above the truth.
 *
 *   pmu_moved SECONDS
 */
#include "pmu_test.h"
#include <stdio.h>
#include <time.h>

static uint64_t seconds_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec;
}

static bool went_back(const struct value *before, const struct value *now)
{
	return now->count < before->count || now->enabled < before->enabled ||
	       now->running < before->running || now->running > now->enabled;
}

static void print(const char *what, const struct value *v, uint64_t truth)
{
	printf("%s %llu of %llu, enabled %llu, running %llu\n", what,
	       (unsigned long long)v->count, (unsigned long long)truth,
	       (unsigned long long)v->enabled, (unsigned long long)v->running);
	fflush(stdout);
}

int main(int argc, char **argv)
{
	uint64_t end = seconds_now() + (argc > 1 ? atoi(argv[1]) : 1), turns = 0;
	struct value before = { 0 }, v = { 0 };
	int fd = open_user(0, -1, -1), bad = 0;

	enable(fd);
	while (seconds_now() < end) {
		load(TURNS);
		turns++;
		v = value_read(fd);
		/* Between two readings there is less than a tenth besides the load. */
		if (went_back(&before, &v) || v.count > turns * LOAD_INSNS / 10 * 11) {
			print("before", &before, turns * LOAD_INSNS);
			print("wrong", &v, turns * LOAD_INSNS);
			bad = 1;
		}
		before = v;
	}
	print("counted", &v, turns * LOAD_INSNS);
	return fd < 0 || bad;
}
