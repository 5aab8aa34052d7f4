// SPDX-License-Identifier: GPL-2.0
/*
 * The parameter leave_out: VMs of processes with these names find no host side, at once
 * and whether they run already or not; the others notice nothing. The name is the one that
 * the process has at the VM's first call, so this one process has VMs of several names.
 */

#include "tiny_test.h"
#include <sys/prctl.h>

#define TURNS		1000000ull

/* With a line's end, as a write of nothing does nothing. */
static int leave_out(const char *list)
{
	char line[4096];

	snprintf(line, sizeof(line), "%s\n", list);
	return tiny_param_write("leave_out", line);
}

FIXTURE(left_out) {
	struct tiny_vm in, out;
	struct tiny_totals before;
	char was[2048];
};

FIXTURE_SETUP(left_out)
{
	ASSERT_EQ(0, tiny_param_read("leave_out", self->was, sizeof(self->was)));
	ASSERT_EQ(0, tiny_totals_read(&self->before));
	ASSERT_EQ(0, tiny_vm_create(&self->in, 1));
	ASSERT_EQ(0, tiny_vm_create(&self->out, 1));
	/* its first call */
	ASSERT_EQ(0, prctl(PR_SET_NAME, "pvperf_in"));
	measured_choose(&self->in.vcpu[0]);
}

FIXTURE_TEARDOWN(left_out)
{
	tiny_vm_destroy(&self->in);
	tiny_vm_destroy(&self->out);
	EXPECT_EQ(0, leave_out(self->was));
	EXPECT_TRUE(tiny_totals_wait(&self->before));
}

/* A VM of a process of this name attaches a page, and opens and starts an event. */
static bool begins(struct tiny_vm *vm, const char *name)
{
	struct tiny_vcpu *v = &vm->vcpu[0];

	return !prctl(PR_SET_NAME, name) &&
	       !tiny_call_gpa(v, KVM_PERF_OP_ATTACH, AT_HEAD(0), 0) &&
	       !open_event(v, 0, 0) && !id_call(v, KVM_PERF_OP_ENABLE, 0);
}

static bool offered(struct tiny_vcpu *v)
{
	uint32_t r[4] = { 0 };

	return !tiny_cpuid(v, KVM_PERF_CPUID_BASE, r) &&
	       !memcmp(&r[1], KVM_PERF_SIGNATURE, 12) &&
	       tiny_call(v, KVM_PERF_OP_PROBE, 0, 0, 0) == KVM_PERF_ABI_VERSION;
}

static void check_absent(struct __test_metadata *_metadata, struct tiny_vcpu *v)
{
	uint32_t leaf, none[4], r[4], op;

	ASSERT_EQ(0, tiny_cpuid(v, 0x4000fe00, none));
	for (leaf = KVM_PERF_CPUID_BASE; leaf <= KVM_PERF_CPUID_MAX; leaf++) {
		ASSERT_EQ(0, tiny_cpuid(v, leaf, r));
		EXPECT_EQ(0, memcmp(none, r, sizeof(r)));
	}
	for (op = 0; op <= KVM_PERF_OP_RESET + 1; op++)
		EXPECT_CALL(-KVM_ENOSYS, tiny_call(v, op, AT_PARAM, 0, 1));
}

/* A VM that runs loses its events, is told, and may come back. */
TEST_F(left_out, running)
{
	struct tiny_vcpu *in = &self->in.vcpu[0], *out = &self->out.vcpu[0];
	struct guest_perf_event *e = event_at(&self->out, 0);

	ASSERT_TRUE(begins(&self->in, "pvperf_in"));
	ASSERT_TRUE(begins(&self->out, "pvperf_out"));
	ASSERT_EQ(0, tiny_spin(out, TURNS));

	ASSERT_EQ(0, leave_out("nobody,*_out"));
	EXPECT_EQ(KVM_PERF_PAGE_GONE, head_at(&self->out, 0)->state);
	EXPECT_EQ(KVM_PERF_STATE_GONE, e->state);
	EXPECT_LE(measured_least(TURNS), e->count);
	check_absent(_metadata, out);
	EXPECT_TRUE(offered(in));
	EXPECT_TRUE(still_counts(in, 0, TURNS));

	/* another list with this name changes nothing */
	ASSERT_EQ(0, leave_out("pvperf_ou[st]"));
	check_absent(_metadata, out);
	EXPECT_TRUE(still_counts(in, 0, TURNS));

	ASSERT_EQ(0, leave_out("pvperf,out"));
	EXPECT_TRUE(offered(out));
	EXPECT_TRUE(begins(&self->out, "anything"));
	EXPECT_EQ(KVM_PERF_PAGE_LIVE, head_at(&self->out, 0)->state);
	EXPECT_TRUE(still_counts(out, 0, TURNS));
}

/* A VM whose first call comes later finds nothing, and the host keeps nothing for it. */
TEST_F(left_out, later)
{
	struct tiny_vcpu *in = &self->in.vcpu[0], *out = &self->out.vcpu[0];
	struct tiny_totals before, t;

	ASSERT_EQ(0, tiny_totals_read(&before));
	ASSERT_EQ(0, leave_out("pvperf_out"));
	ASSERT_EQ(0, prctl(PR_SET_NAME, "pvperf_out"));
	check_absent(_metadata, out);
	EXPECT_EQ(0, tiny_totals_read(&t));
	EXPECT_EQ(before.vms, t.vms);
	EXPECT_TRUE(begins(&self->in, "pvperf_in"));
	EXPECT_TRUE(still_counts(in, 0, TURNS));

	ASSERT_EQ(0, leave_out(""));
	EXPECT_TRUE(begins(&self->out, "pvperf_out"));
	EXPECT_TRUE(still_counts(out, 0, TURNS));
}

struct loop {
	struct tiny_vcpu *v;
	volatile bool stop;
	int opened, refused, other;
};

static void *open_and_close(void *arg)
{
	struct loop *loop = arg;

	while (!loop->stop) {
		int64_t ret = open_event(loop->v, 0, 0);

		loop->opened += !ret;
		loop->refused += ret == -KVM_ENOSYS;
		loop->other += ret && ret != -KVM_ENOSYS;
		if (!ret && loop->opened % 2)
			id_call(loop->v, KVM_PERF_OP_CLOSE, 0);
		else
			tiny_call(loop->v, KVM_PERF_OP_DETACH, 0, 0, 0);
	}
	return NULL;
}

/* While the guest opens events the list changes; nothing is left of what it opened. */
TEST_F(left_out, racing)
{
	struct loop loop = { .v = &self->out.vcpu[0] };
	struct tiny_totals t;
	pthread_t thread;
	int i;

	ASSERT_EQ(0, prctl(PR_SET_NAME, "pvperf_out"));
	ASSERT_EQ(0, pthread_create(&thread, NULL, open_and_close, &loop));
	for (i = 0; i < 40; i++) {
		usleep(1000 + i * 37);
		ASSERT_EQ(0, leave_out(i % 2 ? "" : "pvperf_out"));
		if (i % 2)
			continue;
		EXPECT_EQ(0, tiny_totals_read(&t));
		EXPECT_EQ(self->before.events, t.events);
	}
	loop.stop = true;
	ASSERT_EQ(0, pthread_join(thread, NULL));
	ASSERT_EQ(0, leave_out("pvperf_out"));
	EXPECT_EQ(0, tiny_totals_read(&t));
	EXPECT_EQ(self->before.events, t.events);
	EXPECT_EQ(self->before.pages, t.pages);
	EXPECT_LT(0, loop.opened);
	EXPECT_LT(0, loop.refused);
	EXPECT_EQ(0, loop.other);
}

/* What can't be a list changes nothing; empty names are none. */
TEST_F(left_out, words)
{
	char word[2048], now[2048];

	memset(word, '*', sizeof(word));
	word[1024] = 0;
	ASSERT_EQ(0, leave_out(",,pvperf_a,,b*,"));
	ASSERT_EQ(0, tiny_param_read("leave_out", now, sizeof(now)));
	EXPECT_EQ(0, strcmp(now, "pvperf_a,b*"));
	EXPECT_EQ(-EINVAL, leave_out(word));
	ASSERT_EQ(0, tiny_param_read("leave_out", now, sizeof(now)));
	EXPECT_EQ(0, strcmp(now, "pvperf_a,b*"));
	word[1023] = 0;
	EXPECT_EQ(0, leave_out(word));
	ASSERT_EQ(0, tiny_param_read("leave_out", now, sizeof(now)));
	EXPECT_EQ(0, strcmp(now, word));
	check_absent(_metadata, &self->in.vcpu[0]);
	EXPECT_EQ(0, leave_out(",,"));
	EXPECT_TRUE(offered(&self->in.vcpu[0]));
}

TEST_HARNESS_MAIN
