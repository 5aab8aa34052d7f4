// SPDX-License-Identifier: GPL-2.0
/* The host's clock event tells a VM's name, its vCPUs' offsets, and each step of them. */

#include "tiny_test.h"
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <time.h>

#define TRACING		"/sys/kernel/tracing/"
#define EVENT		TRACING "events/pvperf/pvperf_clock/enable"
#define MSR_TSC		0x10
#define STEP		(1ull << 40)
/* The two TSCs of a test are read one after the other. */
#define SOON		(1ull << 28)

struct told {
	int lines;		/* of this VM, and vCPU 0 */
	uint64_t clock, offset, ratio;
	int vcpu, frac;
};

/* What the trace has of @vcpu of this process: how often, and the last. */
static struct told told_of(int vcpu)
{
	struct told told = { 0 }, line;
	FILE *f = fopen(TRACING "trace", "re");
	char text[512], *at;
	int vm;

	while (f && fgets(text, sizeof(text), f)) {
		at = strstr(text, "pvperf_clock: ");
		if (!at || sscanf(at, "pvperf_clock: clock=%" SCNx64 " vm=%d vcpu=%d apic=%*u tid=%*d offset=%" SCNu64 " ratio=%" SCNu64 " frac=%d",
				  &line.clock, &vm, &line.vcpu, &line.offset, &line.ratio, &line.frac) != 6)
			continue;
		if (vm != getpid() || line.vcpu != vcpu)
			continue;
		line.lines = told.lines + 1;
		told = line;
	}
	if (f)
		fclose(f);
	return told;
}

static uint64_t tsc_here(void)
{
	uint32_t low, high;

	asm volatile("lfence\n\trdtsc" : "=a" (low), "=d" (high) : : "memory");
	return (uint64_t)high << 32 | low;
}

struct one_msr {
	struct kvm_msrs msrs;
	struct kvm_msr_entry entry;
};

static uint64_t tsc_get(struct tiny_vcpu *v)
{
	struct one_msr one = { .msrs.nmsrs = 1, .entry.index = MSR_TSC };

	return ioctl(v->fd, KVM_GET_MSRS, &one) == 1 ? one.entry.data : 0;
}

static int tsc_set(struct tiny_vcpu *v, uint64_t tsc)
{
	struct one_msr one = { .msrs.nmsrs = 1, .entry = { .index = MSR_TSC, .data = tsc } };

	return ioctl(v->fd, KVM_SET_MSRS, &one);
}

/* By how much the told clock of @v is wrong. */
static int64_t wrong_by(struct tiny_vcpu *v, const struct told *told)
{
	uint64_t host = tsc_here(), guest = tsc_get(v);
	uint64_t scaled = (unsigned __int128)host * told->ratio >> told->frac;

	return guest - (scaled + told->offset);
}

FIXTURE(stepped) {
	struct tiny_vm vm;
	struct tiny_totals before;
};

FIXTURE_SETUP(stepped)
{
	int i;

	if (access(EVENT, W_OK))
		SKIP(return, "no tracefs");
	ASSERT_EQ(0, tiny_totals_read(&self->before));
	ASSERT_EQ(0, tiny_vm_create(&self->vm, 2));
	ASSERT_EQ(0, tiny_text_write(TRACING "trace", O_TRUNC, ""));
	ASSERT_EQ(0, tiny_text_write(EVENT, O_TRUNC, "1"));
	for (i = 0; i < 2; i++)
		ASSERT_CALL(0, tiny_call_gpa(&self->vm.vcpu[i], KVM_PERF_OP_ATTACH, AT_HEAD(i), 0));
	usleep(200000);
}

FIXTURE_TEARDOWN(stepped)
{
	tiny_text_write(EVENT, O_TRUNC, "0");
	tiny_vm_destroy(&self->vm);
	EXPECT_TRUE(tiny_totals_wait(&self->before));
}

TEST_F(stepped, named)
{
	struct told one = told_of(0), two = told_of(1);

	EXPECT_LE(1, one.lines);
	EXPECT_LE(1, two.lines);
	EXPECT_NE(0, one.clock);
	EXPECT_EQ(one.clock, two.clock);
	EXPECT_EQ(one.clock, head_at(&self->vm, 0)->clock);
	EXPECT_EQ(one.clock, head_at(&self->vm, 1)->clock);
}

TEST_F(stepped, right)
{
	struct told told = told_of(0);
	int64_t wrong = wrong_by(&self->vm.vcpu[0], &told);

	EXPECT_LE(0, wrong);
	EXPECT_GE(SOON, wrong);
}

TEST_F(stepped, step)
{
	struct tiny_vcpu *v = &self->vm.vcpu[0];
	struct told before = told_of(0), after;
	int64_t wrong;

	ASSERT_EQ(1, tsc_set(v, tsc_get(v) + STEP));
	usleep(200000);
	after = told_of(0);
	EXPECT_LT(before.lines, after.lines);
	EXPECT_LE(before.offset + STEP - SOON, after.offset);
	wrong = wrong_by(v, &after);
	EXPECT_LE(0, wrong);
	EXPECT_GE(SOON, wrong);
}

/* A guest may write its TSC in a loop: the other vCPUs are told once a tick at most. */
TEST_F(stepped, loop)
{
	int64_t from = now_ns();
	struct told before = told_of(1), after;
	long ms;
	int i;

	for (i = 0; i < 400; i++) {
		ASSERT_EQ(1, tsc_set(&self->vm.vcpu[0], STEP * (1 + i % 2)));
		sched_yield();
	}
	after = told_of(1);
	ms = (now_ns() - from) / 1000000;
	TH_LOG("400 steps in %ld ms, %d times told", ms, after.lines - before.lines);
	EXPECT_GE(ms / 4 + 2, after.lines - before.lines);
}

TEST_F(stepped, each_second)
{
	struct told before = told_of(0), after;

	usleep(2500000);
	after = told_of(0);
	EXPECT_LE(before.lines + 2, after.lines);
	EXPECT_GE(before.lines + 3, after.lines);
}

TEST_HARNESS_MAIN
