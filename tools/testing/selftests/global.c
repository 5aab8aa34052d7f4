// SPDX-License-Identifier: GPL-2.0
/*
 * access=global: a VM counts what the host does in its vCPUs' threads, and all that a CPU of
 * the host does. It samples neither, and no other VM counts them.
 */

#include "counters.h"
#include "tiny_test.h"
#include "named.h"
#include <sched.h>
#include <time.h>

#define TURNS		1000000ull
#define SECOND		1000000000ull

FIXTURE(global) {
	struct named vms;
};

FIXTURE_SETUP(global)
{
	ASSERT_TRUE(named_create(&self->vms));
}

FIXTURE_TEARDOWN(global)
{
	EXPECT_TRUE(named_destroy(&self->vms));
}

static int64_t open_host(struct tiny_vcpu *v, int id, uint64_t period)
{
	struct guest_perf_attr attr = {
		.type = KVM_PERF_TYPE_HARDWARE, .size = KVM_PERF_ATTR_SIZE_VER0, .config = 1,
		.sample_period = period, .flags = KVM_PERF_FLAG_HOST,
	};

	return open_attr(v, id, KVM_PERF_EVENT_SIZE, &attr);
}

/* What both events have counted up to now. */
static void read_both(struct tiny_vcpu *v, uint64_t count[2])
{
	int i;

	for (i = 0; i < 2; i++)
		count[i] = id_call(v, KVM_PERF_OP_READ, i) ? 0 : event_at(v->vm, i)->count;
}

/* With access=global a VM may count what the host does in its vCPUs' threads, not sample it. */
TEST_F(global, host_side)
{
	struct tiny_vcpu *v = &self->vms.in.vcpu[0];
	uint64_t before[2], after[2];
	int i;

	NEED_PMU();
	ASSERT_TRUE(begins(&self->vms.in));
	EXPECT_FALSE(features(v) & KVM_PERF_FEATURE_HOST);
	EXPECT_CALL(-KVM_EPERM, open_host(v, 1, 0));
	EXPECT_EQ(1, refused("access"));
	ASSERT_EQ(0, tiny_rules_write("uid=0 comm=pvperf_in access=global\n"));
	EXPECT_TRUE(gone(&self->vms.in, KVM_PERF_REASON_POLICY));
	EXPECT_TRUE(features(v) & KVM_PERF_FEATURE_HOST);
	EXPECT_FALSE(features(&self->vms.out.vcpu[0]) & KVM_PERF_FEATURE_HOST);
	EXPECT_CALL(-KVM_EINVAL, open_host(v, 1, 100000));

	ASSERT_TRUE(begins(&self->vms.in));
	ASSERT_CALL(0, open_host(v, 1, 0));
	ASSERT_CALL(0, id_call(v, KVM_PERF_OP_ENABLE, 1));
	read_both(v, before);
	ASSERT_EQ(0, tiny_spin(v, TURNS));
	read_both(v, after);
	EXPECT_TRUE(counted(after[0] - before[0], TURNS));
	EXPECT_LE(after[0] - before[0], after[1] - before[1]);
	/* A guest's call is some ten instructions; KVM_RUN around it, more than a thousand. */
	read_both(v, before);
	for (i = 0; i < 100; i++)
		tiny_call(v, KVM_PERF_OP_PROBE, 0, 0, 0);
	read_both(v, after);
	EXPECT_GT(100 * 200, after[0] - before[0]);
	EXPECT_LE(100 * 1000, after[1] - before[1]);

	ASSERT_EQ(0, tiny_rules_write("comm=pvperf_in access=local\n"));
	EXPECT_TRUE(gone(&self->vms.in, KVM_PERF_REASON_POLICY));
	EXPECT_CALL(-KVM_EPERM, open_host(v, 1, 0));
}

/* The parameter says the same of all VMs. */
TEST_F(global, for_all)
{
	struct tiny_vcpu *v = &self->vms.in.vcpu[0];

	NEED_PMU();
	ASSERT_TRUE(begins(&self->vms.in));
	ASSERT_EQ(0, tiny_param_write("access", "global"));
	EXPECT_TRUE(offered(v));
	EXPECT_TRUE(features(v) & KVM_PERF_FEATURE_HOST);
	EXPECT_TRUE(begins(&self->vms.in));
	EXPECT_CALL(0, open_host(v, 1, 0));
	EXPECT_EQ(0, tiny_param_write("access", "local"));
	EXPECT_TRUE(gone(&self->vms.in, KVM_PERF_REASON_POLICY));
	EXPECT_FALSE(features(v) & KVM_PERF_FEATURE_HOST);
	EXPECT_CALL(-KVM_EPERM, open_host(v, 1, 0));
}

/* ------------------------------------------------------- CPUs of the host */

static int64_t open_cpu(struct tiny_vcpu *v, uint32_t cpu, uint64_t period)
{
	struct guest_perf_attr attr = {
		.type = KVM_PERF_TYPE_HARDWARE, .size = KVM_PERF_ATTR_SIZE_VER0, .config = 1,
		.sample_period = period, .flags = KVM_PERF_FLAG_CPU, .cpu = cpu,
	};

	return open_attr(v, 1, KVM_PERF_EVENT_SIZE, &attr);
}

static uint32_t host_cpus(struct tiny_vcpu *v)
{
	uint32_t r[4] = { 0 };

	tiny_cpuid(v, KVM_PERF_CPUID_HOST_CPUS, r);
	return r[0];
}

static bool trusted(struct tiny_vm *vm)
{
	return !tiny_rules_write("uid=0 comm=pvperf_in access=global\n") && begins(vm);
}

static struct guest_perf_event read_cpu(struct tiny_vcpu *v)
{
	if (id_call(v, KVM_PERF_OP_READ, 1))
		return (struct guest_perf_event) { 0 };
	return *event_at(v->vm, 1);
}

/* This thread's instructions belong to the CPU, too. */
static void spin_here(uint64_t turns)
{
	while (turns--)
		asm volatile("");
}

/* The CPU's number is that of the other VM's, and of this thread's: all is counted. */
TEST_F(global, whole_cpu)
{
	struct tiny_vcpu *v = &self->vms.in.vcpu[0];
	struct guest_perf_event e;
	uint64_t before;

	NEED_PMU();
	ASSERT_TRUE(trusted(&self->vms.in));
	EXPECT_TRUE(features(v) & KVM_PERF_FEATURE_HOST_CPUS);
	ASSERT_LE(1, host_cpus(v));
	EXPECT_FALSE(features(&self->vms.out.vcpu[0]) & KVM_PERF_FEATURE_HOST_CPUS);
	EXPECT_EQ(0, host_cpus(&self->vms.out.vcpu[0]));
	ASSERT_CALL(0, open_cpu(v, sched_getcpu(), 0));
	ASSERT_CALL(0, id_call(v, KVM_PERF_OP_ENABLE, 1));
	EXPECT_EQ(KVM_PERF_STATE_COUNTING, event_at(&self->vms.in, 1)->state);
	before = read_cpu(v).count;
	ASSERT_EQ(0, tiny_spin(&self->vms.out.vcpu[0], TURNS));
	e = read_cpu(v);
	EXPECT_LE(measured_least(TURNS), e.count - before);
	before = e.count;
	spin_here(TURNS);
	e = read_cpu(v);
	EXPECT_LE(2 * TURNS, e.count - before);
	EXPECT_GT(3 * TURNS, e.count - before);
	EXPECT_EQ(e.time_enabled, e.time_running);
	/* The VM's own event knows nothing of that. */
	EXPECT_TRUE(still_counts(v, 0, TURNS));

	/* Disabled it stands still, and its clock does. */
	ASSERT_CALL(0, id_call(v, KVM_PERF_OP_DISABLE, 1));
	e = *event_at(&self->vms.in, 1);
	spin_here(TURNS);
	EXPECT_EQ(e.count, read_cpu(v).count);
	EXPECT_EQ(e.time_enabled, event_at(&self->vms.in, 1)->time_enabled);
	EXPECT_CALL(0, id_call(v, KVM_PERF_OP_CLOSE, 1));
}

/* The clock of a CPU's event is the host's, not that of the vCPU's thread. */
TEST_F(global, whole_time)
{
	struct tiny_vcpu *v = &self->vms.in.vcpu[0];
	uint64_t before, began;

	NEED_PMU();
	ASSERT_TRUE(trusted(&self->vms.in));
	ASSERT_CALL(0, open_cpu(v, sched_getcpu(), 0));
	ASSERT_CALL(0, id_call(v, KVM_PERF_OP_ENABLE, 1));
	began = now_ns();
	before = read_cpu(v).time_enabled;
	usleep(100000);
	before = read_cpu(v).time_enabled - before;
	EXPECT_LE(SECOND / 10, before);
	EXPECT_GE(now_ns() - began, before);
}

TEST_F(global, whole_refused)
{
	struct tiny_vcpu *v = &self->vms.in.vcpu[0];
	struct guest_perf_attr attr = {
		.type = KVM_PERF_TYPE_HARDWARE, .size = KVM_PERF_ATTR_SIZE_VER0, .config = 1,
	};

	NEED_PMU();
	ASSERT_TRUE(begins(&self->vms.in));
	EXPECT_CALL(-KVM_EPERM, open_cpu(v, 0, 0));
	EXPECT_EQ(1, refused("access"));
	ASSERT_TRUE(trusted(&self->vms.in));
	EXPECT_CALL(-KVM_EINVAL, open_cpu(v, 0, 100000));
	EXPECT_CALL(-KVM_ENOENT, open_cpu(v, host_cpus(v), 0));
	EXPECT_CALL(-KVM_ENOENT, open_cpu(v, 1 << 20, 0));
	EXPECT_CALL(-KVM_ENOENT, open_cpu(v, ~0u, 0));
	attr.flags = KVM_PERF_FLAG_CPU | KVM_PERF_FLAG_EXCLUDE_USER;
	EXPECT_CALL(-KVM_EINVAL, open_attr(v, 1, KVM_PERF_EVENT_SIZE, &attr));
	attr.flags = KVM_PERF_FLAG_CPU | KVM_PERF_FLAG_HOST;
	EXPECT_CALL(-KVM_EINVAL, open_attr(v, 1, KVM_PERF_EVENT_SIZE, &attr));
	attr.flags = 0;
	attr.cpu = 1;
	EXPECT_CALL(-KVM_EINVAL, open_attr(v, 1, KVM_PERF_EVENT_SIZE, &attr));
	attr.flags = KVM_PERF_FLAG_CPU;
	attr.cpu = 0;
	attr.type = KVM_PERF_TYPE_SOFTWARE;
	EXPECT_CALL(-KVM_EINVAL, open_attr(v, 1, KVM_PERF_EVENT_SIZE, &attr));

	EXPECT_CALL(0, open_cpu(v, 0, 0));
	ASSERT_EQ(0, tiny_rules_write("comm=pvperf_in access=local\n"));
	EXPECT_TRUE(gone(&self->vms.in, KVM_PERF_REASON_POLICY));
	EXPECT_EQ(KVM_PERF_STATE_GONE, event_at(&self->vms.in, 1)->state);
	EXPECT_CALL(-KVM_EPERM, open_cpu(v, 0, 0));
}

/* The event stays with its CPU when the vCPU gets another thread. */
TEST_F(global, whole_moves)
{
	struct tiny_vcpu *v = &self->vms.in.vcpu[0];
	uint64_t before;

	NEED_PMU();
	ASSERT_TRUE(trusted(&self->vms.in));
	ASSERT_CALL(0, open_cpu(v, sched_getcpu(), 0));
	ASSERT_CALL(0, id_call(v, KVM_PERF_OP_ENABLE, 1));
	before = read_cpu(v).count;
	ASSERT_CALL(0, tiny_call_here(v, KVM_PERF_OP_READ, 1, 0));
	spin_here(TURNS);
	before = read_cpu(v).count - before;
	EXPECT_LE(2 * TURNS, before);
	EXPECT_GT(3 * TURNS, before);
	EXPECT_EQ(event_at(&self->vms.in, 1)->time_enabled, event_at(&self->vms.in, 1)->time_running);
	EXPECT_CALL(0, id_call(v, KVM_PERF_OP_CLOSE, 1));
	EXPECT_TRUE(still_counts(v, 0, TURNS));
}

/* Of all VMs together a CPU of the host has 16 at most. */
TEST_F(global, whole_many)
{
	struct tiny_vcpu *in = &self->vms.in.vcpu[0], *out = &self->vms.out.vcpu[0];
	struct guest_perf_attr attr = {
		.type = KVM_PERF_TYPE_HARDWARE, .size = KVM_PERF_ATTR_SIZE_VER0, .config = 1,
		.flags = KVM_PERF_FLAG_CPU,
	};
	int id;

	NEED_PMU();
	ASSERT_EQ(0, tiny_rules_write("uid=0 comm=pvperf_* access=global\n"));
	for (id = 0; id < 10; id++)
		ASSERT_CALL(0, open_attr(in, id, KVM_PERF_EVENT_SIZE, &attr));
	for (id = 0; id < 6; id++)
		ASSERT_CALL(0, open_attr(out, id, KVM_PERF_EVENT_SIZE, &attr));
	EXPECT_CALL(-KVM_ENOSPC, open_attr(out, 6, KVM_PERF_EVENT_SIZE, &attr));
	EXPECT_CALL(-KVM_ENOSPC, open_attr(in, 10, KVM_PERF_EVENT_SIZE, &attr));
	ASSERT_CALL(0, id_call(in, KVM_PERF_OP_CLOSE, 0));
	EXPECT_CALL(0, open_attr(out, 6, KVM_PERF_EVENT_SIZE, &attr));
	EXPECT_CALL(-KVM_ENOSPC, open_attr(in, 10, KVM_PERF_EVENT_SIZE, &attr));
}

/* However often a call names the event of another CPU, it interrupts that once for each. */
TEST_F(global, reads)
{
	struct tiny_vcpu *v = &self->vms.in.vcpu[0];
	struct guest_perf_op *op = batch_at(&self->vms.in);
	cpu_set_t cpu0;
	long before;
	int i;

	NEED_PMU();
	ASSERT_TRUE(trusted(&self->vms.in));
	if (open_cpu(v, 1, 0))
		SKIP(return, "the host has one CPU");
	CPU_ZERO(&cpu0);
	CPU_SET(0, &cpu0);
	ASSERT_EQ(0, pthread_setaffinity_np(v->thread, sizeof(cpu0), &cpu0));
	ASSERT_CALL(0, id_call(v, KVM_PERF_OP_ENABLE, 1));
	memset(op, 0, KVM_PERF_BATCH_MAX * sizeof(*op));
	for (i = 0; i < KVM_PERF_BATCH_MAX; i++) {
		op[i].op = KVM_PERF_OP_READ;
		op[i].id = 1;
	}
	before = tiny_interrupts_of(1, "CAL:");
	ASSERT_LE(0, before);
	EXPECT_CALL(KVM_PERF_BATCH_MAX, tiny_call_gpa(v, KVM_PERF_OP_BATCH, AT_BATCH, KVM_PERF_BATCH_MAX));
	EXPECT_GT(16, tiny_interrupts_of(1, "CAL:") - before);
	EXPECT_LT(0, event_at(&self->vms.in, 1)->count);
}

/* What is missed while the CPU is offline is told. */
TEST_F(global, offline)
{
	struct tiny_vcpu *v = &self->vms.in.vcpu[0];
	struct guest_perf_event e, later;

	NEED_PMU();
	ASSERT_TRUE(trusted(&self->vms.in));
	if (open_cpu(v, 1, 0))
		SKIP(return, "the host has one CPU");
	ASSERT_CALL(0, id_call(v, KVM_PERF_OP_ENABLE, 1));
	usleep(100000);
	ASSERT_EQ(0, tiny_online_write(1, "0"));
	e = read_cpu(v);
	EXPECT_LT(0, e.time_running);
	EXPECT_EQ(KVM_PERF_STATE_ERROR, e.state);
	EXPECT_CALL(0, id_call(v, KVM_PERF_OP_CLOSE, 1));
	EXPECT_CALL(-KVM_ENOENT, open_cpu(v, 1, 0));
	ASSERT_EQ(0, tiny_online_write(1, "1"));
	ASSERT_CALL(0, open_cpu(v, 1, 0));
	ASSERT_CALL(0, id_call(v, KVM_PERF_OP_ENABLE, 1));
	ASSERT_EQ(0, tiny_online_write(1, "0"));
	e = read_cpu(v);
	usleep(100000);
	later = read_cpu(v);
	EXPECT_EQ(0, tiny_online_write(1, "1"));
	EXPECT_EQ(e.count, later.count);
	EXPECT_EQ(e.time_running, later.time_running);
	EXPECT_LE(SECOND / 10, later.time_enabled - e.time_enabled);
}

/* Nobody reads the event before it is disabled, or the CPU comes back before it is enabled. */
TEST_F(global, offline_unseen)
{
	struct tiny_vcpu *v = &self->vms.in.vcpu[0];
	struct guest_perf_event e, later;

	NEED_PMU();
	ASSERT_TRUE(trusted(&self->vms.in));
	if (open_cpu(v, 1, 0))
		SKIP(return, "the host has one CPU");
	ASSERT_CALL(0, id_call(v, KVM_PERF_OP_ENABLE, 1));
	e = read_cpu(v);
	ASSERT_EQ(0, tiny_online_write(1, "0"));
	usleep(100000);
	EXPECT_CALL(0, id_call(v, KVM_PERF_OP_DISABLE, 1));
	ASSERT_EQ(0, tiny_online_write(1, "1"));
	later = read_cpu(v);
	EXPECT_LE(SECOND / 10, later.time_enabled - e.time_enabled);
	EXPECT_GT(SECOND / 10, later.time_running - e.time_running);

	ASSERT_CALL(0, id_call(v, KVM_PERF_OP_ENABLE, 1));
	e = read_cpu(v);
	EXPECT_EQ(KVM_PERF_STATE_ERROR, e.state);
	usleep(100000);
	later = read_cpu(v);
	EXPECT_LE(SECOND / 10, later.time_enabled - e.time_enabled);
	EXPECT_EQ(e.time_running, later.time_running);
	EXPECT_EQ(e.count, later.count);
}

TEST_HARNESS_MAIN
