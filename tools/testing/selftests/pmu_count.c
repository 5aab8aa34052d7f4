// SPDX-License-Identifier: GPL-2.0
/*
 * What any PMU must guarantee for counting: a count is right, or is right after scaling by
 * its times. Nothing here depends on the PMU.
 */

#include "pmu_test.h"
#include <sys/utsname.h>

FIXTURE(count) {
	int cpus;
};

FIXTURE_SETUP(count)
{
	REQUIRE_PMU();
	self->cpus = cpus_online();
}

FIXTURE_TEARDOWN(count)
{
}

TEST_F(count, exact)
{
	uint64_t turns, before = 0;
	struct value v;
	int fd = open_user(0, -1, -1);

	ASSERT_LE(0, fd);
	for (turns = 1; turns <= 10 * TURNS; turns *= 10) {
		enable(fd);
		load(turns);
		disable(fd);
		v = value_read(fd);
		EXPECT_TRUE(counted(v.count - before, turns)) {
			TH_LOG("%llu turns: %llu", (unsigned long long)turns,
			       (unsigned long long)(v.count - before));
		}
		EXPECT_EQ(v.enabled, v.running);
		before = v.count;
	}
}

TEST_F(count, stopped)
{
	struct value a, b;
	int i, fd = open_user(0, -1, -1);

	ASSERT_LE(0, fd);
	load(TURNS);
	EXPECT_EQ(0, value_read(fd).count);
	enable(fd);
	load(TURNS);
	disable(fd);
	a = value_read(fd);
	for (i = 0; i < 10; i++) {
		load(TURNS);
		usleep(1000);
		b = value_read(fd);
		EXPECT_EQ(a.count, b.count);
		EXPECT_EQ(a.enabled, b.enabled);
		EXPECT_EQ(a.running, b.running);
	}
}

/* The page of an event that has stopped has the count that read() gives. */
TEST_F(count, page)
{
	int i, fd = open_user(0, -1, -1);
	struct perf_event_mmap_page *page;

	ASSERT_LE(0, fd);
	page = mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd, 0);
	ASSERT_NE(MAP_FAILED, page);
	for (i = 0; i < 3; i++) {
		enable(fd);
		load(TURNS);
		disable(fd);
		EXPECT_EQ(0, page->index);
		EXPECT_EQ(value_read(fd).count, page->offset);
	}
	munmap(page, 4096);
}

/* Reading while it runs: a count never goes back, and has all that ran. */
TEST_F(count, monotone)
{
	uint64_t last = 0;
	int i, fd = open_user(0, -1, -1);

	ASSERT_LE(0, fd);
	enable(fd);
	for (i = 0; i < 100; i++) {
		uint64_t now;

		load(TURNS / 100);
		now = value_read(fd).count;
		EXPECT_LE(last + LOAD_INSNS / 100, now);
		last = now;
	}
}

TEST_F(count, reset)
{
	int fd = open_user(0, -1, -1);

	ASSERT_LE(0, fd);
	enable(fd);
	load(TURNS);
	ASSERT_EQ(0, ioctl(fd, PERF_EVENT_IOC_RESET, 0));
	load(TURNS);
	disable(fd);
	EXPECT_TRUE(counted(value_read(fd).count, TURNS));
	ASSERT_EQ(0, ioctl(fd, PERF_EVENT_IOC_RESET, 0));
	EXPECT_EQ(0, value_read(fd).count);
}

/* All members of a group have the same times, to the nanosecond. */
TEST_F(count, group_times)
{
	int fd[4], i;
	struct value v[4];

	for (i = 0; i < 4; i++) {
		fd[i] = open_user(0, -1, i ? fd[0] : -1);
		ASSERT_LE(0, fd[i]);
	}
	enable(fd[0]);
	load(TURNS);
	disable(fd[0]);
	for (i = 0; i < 4; i++) {
		v[i] = value_read(fd[i]);
		EXPECT_TRUE(counted(v[i].count, TURNS));
		EXPECT_TRUE(same(v[0].count, v[i].count, TURNS));
		EXPECT_EQ(v[0].enabled, v[i].enabled);
		EXPECT_EQ(v[0].running, v[i].running);
	}
	EXPECT_LT(0, v[0].running);
}

/*
 * A group that can never be scheduled is refused when it is opened. A group that is not
 * refused counts, all members at once.
 */
TEST_F(count, group_largest)
{
	int fd[64], n, i;

	for (n = 0; n < 64; n++) {
		fd[n] = open_user(0, -1, n ? fd[0] : -1);
		if (fd[n] < 0)
			break;
	}
	EXPECT_EQ(EINVAL, errno);
	ASSERT_LT(1, n);
	ASSERT_GT(64, n);
	enable(fd[0]);
	load(TURNS);
	disable(fd[0]);
	for (i = 0; i < n; i++) {
		struct value v = value_read(fd[i]);

		EXPECT_TRUE(counted(v.count, TURNS));
		EXPECT_EQ(v.enabled, v.running);
	}
}

/* One read() of the group returns what reads of its members return. */
TEST_F(count, group_read)
{
	struct perf_event_attr attr = attr_user();
	struct { uint64_t n, enabled, running, count[3]; } all;
	int fd[3], i;

	attr.read_format |= PERF_FORMAT_GROUP;
	for (i = 0; i < 3; i++) {
		attr.disabled = !i;
		fd[i] = event_open(&attr, 0, -1, i ? fd[0] : -1);
		ASSERT_LE(0, fd[i]);
	}
	enable(fd[0]);
	load(TURNS);
	ASSERT_EQ(sizeof(all), read(fd[0], &all, sizeof(all)));
	EXPECT_EQ(3, all.n);
	for (i = 0; i < 3; i++) {
		EXPECT_TRUE(counted(all.count[i], TURNS));
		EXPECT_TRUE(same(all.count[0], all.count[i], TURNS));
	}
}

/* The user and the kernel count add up to the whole; each alone is right. */
TEST_F(count, user_kernel)
{
	struct perf_event_attr attr = attr_user();
	uint64_t both, user, kernel;
	int fd[3], i;

	attr.exclude_kernel = 0;
	fd[0] = event_open(&attr, 0, -1, -1);
	attr.disabled = 0;
	attr.exclude_kernel = 1;
	fd[1] = event_open(&attr, 0, -1, fd[0]);
	attr.exclude_kernel = 0;
	attr.exclude_user = 1;
	fd[2] = event_open(&attr, 0, -1, fd[0]);
	for (i = 0; i < 3; i++)
		ASSERT_LE(0, fd[i]);
	enable(fd[0]);
	load(TURNS);
	for (i = 0; i < 100; i++)
		getppid();
	disable(fd[0]);
	both = value_read(fd[0]).count;
	user = value_read(fd[1]).count;
	kernel = value_read(fd[2]).count;
	EXPECT_TRUE(within(user + kernel, both, 0.1)) {
		TH_LOG("%llu + %llu, %llu", (unsigned long long)user,
		       (unsigned long long)kernel, (unsigned long long)both);
	}
	EXPECT_TRUE(counted(user, TURNS));
	EXPECT_LT(100, kernel);
}

/* Children, their children, and what they exec count once they have ended. */
TEST_F(count, inherit)
{
	struct perf_event_attr attr = attr_user();
	int i, fd, status;
	uint64_t count;

	attr.inherit = 1;
	fd = event_open(&attr, 0, -1, -1);
	ASSERT_LE(0, fd);
	enable(fd);
	for (i = 0; i < 4; i++) {
		if (!fork()) {
			load(TURNS);
			if (!fork()) {
				load(TURNS);
				_exit(0);
			}
			wait(&status);
			_exit(0);
		}
	}
	while (wait(&status) > 0)
		;
	disable(fd);
	count = value_read(fd).count;
	/* the library's fork() runs twelve times, too */
	EXPECT_LE(8 * LOAD_INSNS, count);
	EXPECT_TRUE(within(count, 8 * LOAD_INSNS, 1)) {
		TH_LOG("%llu", (unsigned long long)count);
	}
}

/* enable_on_exec, with a program whose number of instructions is known exactly. */
TEST_F(count, exec)
{
	struct perf_event_attr attr = attr_user();
	int fd, status, go[2];
	uint64_t count;
	char byte = 0;
	pid_t pid;

	if (access("./loop100m", X_OK))
		SKIP(return, "no loop100m here");
	ASSERT_EQ(0, pipe(go));
	pid = fork();
	if (!pid) {
		if (read(go[0], &byte, 1) == 1)
			execl("./loop100m", "loop100m", NULL);
		_exit(1);
	}
	attr.enable_on_exec = 1;
	fd = event_open(&attr, pid, -1, -1);
	ASSERT_LE(0, fd);
	ASSERT_EQ(1, write(go[1], &byte, 1));
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	ASSERT_EQ(0, status);
	count = value_read(fd).count;
	EXPECT_TRUE(within(count, 100000004, 0.001)) {
		TH_LOG("%llu", (unsigned long long)count);
	}
}

/* A task that changes CPUs counts as much as one that stays. */
TEST_F(count, hop)
{
	uint64_t stayed, hopped;
	int i, fd = open_user(0, -1, -1);

	if (self->cpus < 2)
		SKIP(return, "one CPU only");
	ASSERT_LE(0, fd);
	ASSERT_EQ(0, pin(0));
	enable(fd);
	for (i = 0; i < 40; i++) {
		ASSERT_EQ(0, pin(0));
		load(TURNS / 10);
	}
	disable(fd);
	stayed = value_read(fd).count;

	ioctl(fd, PERF_EVENT_IOC_RESET, 0);
	enable(fd);
	for (i = 0; i < 40; i++) {
		ASSERT_EQ(0, pin(i % self->cpus));
		load(TURNS / 10);
	}
	disable(fd);
	hopped = value_read(fd).count;
	EXPECT_TRUE(within(hopped, stayed, 0.1)) {
		TH_LOG("stayed %llu, hopped %llu", (unsigned long long)stayed,
		       (unsigned long long)hopped);
	}
	EXPECT_LE(4 * LOAD_INSNS, hopped);
}

/* Per CPU: each event counts what ran there, and the sum is what ran. */
TEST_F(count, per_cpu)
{
	int fd[self->cpus], i, status;
	uint64_t sum = 0;

	if (foreign_pmu())
		SKIP(return, "other programs run here, too");
	for (i = 0; i < self->cpus; i++) {
		fd[i] = open_user(-1, i, -1);
		ASSERT_LE(0, fd[i]);
	}
	for (i = 0; i < self->cpus; i++)
		enable(fd[i]);
	for (i = 0; i < self->cpus; i++)
		if (!fork()) {
			pin(i);
			load(20 * TURNS * (i + 1));
			_exit(0);
		}
	while (wait(&status) > 0)
		;
	for (i = 0; i < self->cpus; i++)
		disable(fd[i]);
	for (i = 0; i < self->cpus; i++) {
		struct value v = value_read(fd[i]);

		EXPECT_LE(20 * LOAD_INSNS * (i + 1), v.count);
		EXPECT_TRUE(within(v.count, 20 * LOAD_INSNS * (i + 1), 5));
		EXPECT_EQ(v.enabled, v.running);
		sum += v.count;
	}
	EXPECT_TRUE(within(sum, 20 * LOAD_INSNS * self->cpus *
			   (self->cpus + 1) / 2, 5));
}

/* The counts of all tasks of a CPU add up to the CPU's. */
TEST_F(count, tasks_and_cpu)
{
	struct perf_event_attr attr = attr_user();
	uint64_t of_cpu, of_task;
	int cpu, task;

	ASSERT_EQ(0, pin(0));
	cpu = open_user(-1, 0, -1);
	task = event_open(&attr, 0, -1, -1);
	ASSERT_LE(0, cpu);
	ASSERT_LE(0, task);
	enable(cpu);
	enable(task);
	load(10 * TURNS);
	disable(task);
	disable(cpu);
	of_task = value_read(task).count;
	of_cpu = value_read(cpu).count;
	EXPECT_TRUE(counted(of_task, 10 * TURNS));
	EXPECT_LE(of_task, of_cpu);
}

/* A kernel with debugging on takes a sixth of the time for itself, of some events more than of others. */
static double scaled_percent(void)
{
	struct utsname u;

	return !uname(&u) && strstr(u.release, "-debug") ? 10 : 5;
}

/* More events than counters: each scaled count is right within 5 %. */
TEST_F(count, multiplexed)
{
	enum { EVENTS = 10 };
	int fd[EVENTS], i, scaled = 0;
	long counters = pmu_caps("counters");

	for (i = 0; i < EVENTS; i++) {
		fd[i] = open_user(0, -1, -1);
		ASSERT_LE(0, fd[i]);
	}
	for (i = 0; i < EVENTS; i++)
		enable(fd[i]);
	load(300 * TURNS);
	for (i = 0; i < EVENTS; i++)
		disable(fd[i]);
	for (i = 0; i < EVENTS; i++) {
		struct value v = value_read(fd[i]);

		EXPECT_LE(v.running, v.enabled);
		EXPECT_LT(0, v.running);
		scaled += v.running < v.enabled;
		EXPECT_TRUE(within(value_scaled(&v), 300 * LOAD_INSNS, scaled_percent())) {
			TH_LOG("event %d: %llu in %llu of %llu ns: %.0f", i,
			       (unsigned long long)v.count,
			       (unsigned long long)v.running,
			       (unsigned long long)v.enabled, value_scaled(&v));
		}
	}
	if (counters > 0 && counters < EVENTS)
		EXPECT_LE(EVENTS - counters, scaled);
}

/* A pinned event has a counter, or is in error at once. */
TEST_F(count, pinned)
{
	struct perf_event_attr attr = attr_user();
	struct value v;
	int fd;

	attr.pinned = 1;
	fd = event_open(&attr, 0, -1, -1);
	ASSERT_LE(0, fd);
	enable(fd);
	load(TURNS);
	disable(fd);
	v = value_read(fd);
	EXPECT_TRUE(counted(v.count, TURNS));
	EXPECT_EQ(v.enabled, v.running);
}

TEST_HARNESS_MAIN
