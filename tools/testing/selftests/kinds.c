// SPDX-License-Identifier: GPL-2.0
/*
 * A host with P and E cores: an event is one of both, whichever the vCPU runs on. In the lab CPU 0 is
 * a P core and CPU 1 an E core, and each takes another share of the instructions for branches.
 */

#include "counters.h"
#include "tiny_test.h"
#include "named.h"
#include <linux/perf_event.h>
#include <sys/syscall.h>

#define TURNS		100000ull
#define MOVES		100

enum { ALL, P, E, IDS };	/* events by the kind that they are about, 0: all */

/* Of each kind the first CPU, and perf's number of its PMU; 0 and -1 if there is none. */
static const char *const pmus[] = { "cpu_core", "cpu_atom" };
static int place[2];

static int first_of(int kind, const char *file, int none)
{
	char path[64];
	FILE *f;
	int n;

	snprintf(path, sizeof(path), "/sys/devices/%s/%s", pmus[kind], file);
	f = fopen(path, "re");
	if (!f || fscanf(f, "%d", &n) != 1)
		n = none;
	if (f)
		fclose(f);
	return n;
}

static void __attribute__((constructor)) places_find(void)
{
	place[0] = first_of(0, "cpus", 0);
	place[1] = first_of(1, "cpus", 0);
}

FIXTURE(kinds) {
	struct named vms;
	struct tiny_vcpu *v;
};

FIXTURE_SETUP(kinds)
{
	ASSERT_TRUE(named_create(&self->vms));
	self->v = &self->vms.in.vcpu[0];
	ASSERT_CALL(0, tiny_call_gpa(self->v, KVM_PERF_OP_ATTACH, AT_HEAD(0), 0));
	if (!(features(self->v) & KVM_PERF_FEATURE_KINDS))
		SKIP(return, "the host's cores are of one kind");
}

FIXTURE_TEARDOWN(kinds)
{
	EXPECT_TRUE(named_destroy(&self->vms));
}

/* @kind: 0: a P core, 1: an E core. */
static bool runs_on(struct tiny_vcpu *v, int kind)
{
	cpu_set_t one;

	CPU_ZERO(&one);
	CPU_SET(place[kind], &one);
	return !pthread_setaffinity_np(v->thread, sizeof(one), &one);
}

static bool spins_on_each(struct tiny_vcpu *v)
{
	return runs_on(v, 0) && !tiny_spin(v, TURNS) && runs_on(v, 1) && !tiny_spin(v, TURNS);
}

static int64_t open_kind(struct tiny_vcpu *v, int id, int kind, uint32_t type, uint64_t config,
			 uint64_t period)
{
	struct guest_perf_attr attr = {
		.type = type, .size = KVM_PERF_ATTR_SIZE_VER0, .config = config,
		.sample_period = period, .flags = KVM_PERF_FLAG_KIND(kind),
	};

	memset(event_at(v->vm, id), 0, sizeof(struct guest_perf_event));
	return open_attr(v, id, KVM_PERF_EVENT_SIZE, &attr);
}

static bool open_each(struct tiny_vcpu *v, uint32_t type, uint64_t config)
{
	int id;

	for (id = 0; id < IDS; id++)
		if (open_kind(v, id, id, type, config, 0))
			return false;
	return true;
}

/* In one call, so that no instruction of the guest lies between the events. */
static bool all_do(struct tiny_vcpu *v, uint32_t what)
{
	struct guest_perf_op *op = batch_at(v->vm);
	int id, bad = 0;

	memset(op, 0, IDS * sizeof(*op));
	for (id = 0; id < IDS; id++)
		op[id] = (struct guest_perf_op){ .op = what, .id = id };
	if (tiny_call_gpa(v, KVM_PERF_OP_BATCH, AT_BATCH, IDS) != IDS)
		return false;
	for (id = 0; id < IDS; id++)
		bad |= op[id].result;
	return !bad;
}

static uint64_t count(struct tiny_vcpu *v, int id)
{
	return event_at(v->vm, id)->count;
}

static uint64_t ran(struct tiny_vcpu *v, int id)
{
	return event_at(v->vm, id)->time_running;
}

/* Has @id counted all the time that it was enabled? */
static bool always(struct tiny_vcpu *v, int id)
{
	return ran(v, id) && ran(v, id) == event_at(v->vm, id)->time_enabled;
}

TEST_F(kinds, names)
{
	static const char *const names[] = { "cpu_core", "cpu_atom", "" };
	uint32_t r[4], i;
	char name[13];

	for (i = 0; i < KVM_PERF_KINDS; i++) {
		ASSERT_EQ(0, tiny_cpuid(self->v, KVM_PERF_CPUID_KINDS + i, r));
		memcpy(name, &r[1], 12);
		name[12] = 0;
		EXPECT_STREQ(names[i], name);
		EXPECT_EQ(*name ? KVM_PERF_FLAG_KIND(i + 1) : 0, r[0]);
	}
}

/* A vCPU on one core: the sum is that core's, and the other kind's event waits. */
TEST_F(kinds, stays)
{
	struct tiny_vcpu *v = self->v;
	int here;

	for (here = P; here <= E; here++) {
		ASSERT_TRUE(runs_on(v, here - P));
		ASSERT_TRUE(open_each(v, KVM_PERF_TYPE_HARDWARE, COUNT_INSTRUCTIONS));
		ASSERT_TRUE(all_do(v, KVM_PERF_OP_ENABLE));
		ASSERT_EQ(0, tiny_spin(v, TURNS));
		ASSERT_TRUE(all_do(v, KVM_PERF_OP_READ));
		EXPECT_EQ(KVM_PERF_STATE_COUNTING, event_at(v->vm, ALL)->state);
		EXPECT_EQ(KVM_PERF_STATE_COUNTING, event_at(v->vm, here)->state);
		EXPECT_EQ(KVM_PERF_STATE_STARVED, event_at(v->vm, P + E - here)->state);
		ASSERT_TRUE(all_do(v, KVM_PERF_OP_DISABLE));
		EXPECT_TRUE(counted(count(v, ALL), TURNS));
		EXPECT_EQ(count(v, ALL), count(v, here));
		EXPECT_EQ(0, count(v, P + E - here));
		EXPECT_TRUE(always(v, ALL));
		EXPECT_TRUE(always(v, here));
		EXPECT_EQ(0, ran(v, P + E - here));
		EXPECT_LT(0, event_at(v->vm, P + E - here)->time_enabled);
		ASSERT_TRUE(all_do(v, KVM_PERF_OP_CLOSE));
	}
}

/* Without a CPU of the other kind its driver has no event now, and the vCPU's thread needs none. */
TEST_F(kinds, offline)
{
	struct tiny_vcpu *v = self->v;

	if (!getenv("LAB_EMULATED"))
		SKIP(return, "takes the only E core offline: in the lab");
	ASSERT_EQ(0, tiny_online_write(1, "0"));
	EXPECT_CALL(-KVM_ENOMEM, open_kind(v, E, E, KVM_PERF_TYPE_HARDWARE, COUNT_INSTRUCTIONS, 0));
	EXPECT_CALL(0, open_kind(v, ALL, ALL, KVM_PERF_TYPE_HARDWARE, COUNT_INSTRUCTIONS, 0));
	EXPECT_CALL(0, id_call(v, KVM_PERF_OP_ENABLE, ALL));
	EXPECT_EQ(0, tiny_spin(v, TURNS));
	EXPECT_CALL(0, id_call(v, KVM_PERF_OP_DISABLE, ALL));
	EXPECT_TRUE(counted(count(v, ALL), TURNS));
	EXPECT_TRUE(always(v, ALL));
	ASSERT_EQ(0, tiny_online_write(1, "1"));
}

/* Moved a hundred times: the sum is exact, and has no gap. */
TEST_F(kinds, moves)
{
	struct tiny_vcpu *v = self->v;
	int i;

	ASSERT_TRUE(runs_on(v, 0));
	ASSERT_TRUE(open_each(v, KVM_PERF_TYPE_HARDWARE, COUNT_INSTRUCTIONS));
	ASSERT_TRUE(all_do(v, KVM_PERF_OP_ENABLE));
	for (i = 1; i <= MOVES; i++) {
		ASSERT_TRUE(runs_on(v, i % 2));
		ASSERT_EQ(0, tiny_spin(v, TURNS / MOVES));
	}
	ASSERT_TRUE(all_do(v, KVM_PERF_OP_DISABLE));
	EXPECT_EQ(count(v, P) + count(v, E), count(v, ALL));
	EXPECT_LE(TURNS * TINY_SPIN_INSNS, count(v, ALL));
	EXPECT_GE(TURNS * TINY_SPIN_INSNS + MOVES * TINY_AROUND, count(v, ALL));
	EXPECT_LE(TURNS * TINY_SPIN_INSNS / 2, count(v, P));
	EXPECT_LE(TURNS * TINY_SPIN_INSNS / 2, count(v, E));
	EXPECT_TRUE(always(v, ALL));
	EXPECT_LT(ran(v, P), event_at(v->vm, P)->time_enabled);
	EXPECT_LT(ran(v, E), event_at(v->vm, E)->time_enabled);
}

/* An event that the cores do not see alike: each counts as it sees it. */
TEST_F(kinds, branches)
{
	struct tiny_vcpu *v = self->v;

	if (!getenv("LAB_EMULATED"))
		SKIP(return, "only the lab's cores see branches differently");
	ASSERT_TRUE(open_each(v, KVM_PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_INSTRUCTIONS));
	ASSERT_TRUE(all_do(v, KVM_PERF_OP_ENABLE));
	ASSERT_TRUE(spins_on_each(v));
	ASSERT_TRUE(all_do(v, KVM_PERF_OP_DISABLE));
	EXPECT_EQ(count(v, P) + count(v, E), count(v, ALL));
	EXPECT_LT(count(v, P) * 19, count(v, E) * 10);
	EXPECT_GT(count(v, P) * 21, count(v, E) * 10);
}

/* Each kind has a period of its own. */
TEST_F(kinds, periods)
{
	const uint64_t period = 10000;
	struct tiny_vcpu *v = self->v;
	struct guest_perf_event *e = event_at(&self->vms.in, ALL);
	int i;

	for (i = 0; i < IDS; i++)
		ASSERT_CALL(0, open_kind(v, i, i, KVM_PERF_TYPE_HARDWARE, COUNT_INSTRUCTIONS,
					 i ? 0 : period));
	ASSERT_TRUE(all_do(v, KVM_PERF_OP_ENABLE));
	for (i = 1; i <= 10; i++) {
		ASSERT_TRUE(runs_on(v, i % 2));
		ASSERT_EQ(0, tiny_spin(v, TURNS / 10));
	}
	ASSERT_TRUE(all_do(v, KVM_PERF_OP_DISABLE));
	EXPECT_EQ(count(v, P) + count(v, E), count(v, ALL));
	EXPECT_EQ(count(v, P) / period + count(v, E) / period, e->overflows);
	EXPECT_GE(e->overflows + 1, count(v, ALL) / period);
	EXPECT_LE(e->overflows * period, e->count_at_overflow);
	EXPECT_EQ(head_at(v->vm, 0)->nmis, e->overflows);
}

/* A shorter period that an overflow on one kind begins is the other kind's next one, too. */
TEST_F(kinds, next_period)
{
	const uint64_t first = 1000000, then = 10000;
	struct guest_perf_event *e = event_at(&self->vms.in, ALL);
	struct tiny_vcpu *v = self->v;
	uint32_t before;

	ASSERT_CALL(0, open_kind(v, ALL, 0, KVM_PERF_TYPE_HARDWARE, COUNT_INSTRUCTIONS, first));
	ASSERT_CALL(0, id_call(v, KVM_PERF_OP_ENABLE, ALL));
	ASSERT_TRUE(runs_on(v, 1));
	ASSERT_EQ(0, tiny_spin(v, first / TINY_SPIN_INSNS + 100));
	EXPECT_EQ(1, e->overflows);
	e->period = then;
	ASSERT_TRUE(runs_on(v, 0));
	ASSERT_EQ(0, tiny_spin(v, first / TINY_SPIN_INSNS + 100));
	before = e->overflows;
	EXPECT_LE(2, before);
	ASSERT_TRUE(runs_on(v, 1));
	ASSERT_EQ(0, tiny_spin(v, 10 * then / TINY_SPIN_INSNS));
	EXPECT_LE(9, e->overflows - before);
}

/* ENABLE says how much is left of the first period, on either kind. */
TEST_F(kinds, rest)
{
	const uint64_t period = 1000000;
	struct tiny_vcpu *v = self->v;
	struct guest_perf_op *op = batch_at(v->vm);
	int cpu;

	for (cpu = 0; cpu < 2; cpu++) {
		ASSERT_TRUE(runs_on(v, cpu));
		ASSERT_CALL(0, open_kind(v, ALL, 0, KVM_PERF_TYPE_HARDWARE, COUNT_INSTRUCTIONS,
					 period));
		memset(op, 0, sizeof(*op));
		op->op = KVM_PERF_OP_ENABLE;
		op->arg = 1000;
		ASSERT_CALL(1, tiny_call_gpa(v, KVM_PERF_OP_BATCH, AT_BATCH, 1));
		ASSERT_EQ(0, tiny_spin(v, 1000));
		EXPECT_EQ(1, event_at(v->vm, ALL)->overflows);
		EXPECT_LE(1000, event_at(v->vm, ALL)->count_at_overflow);
		EXPECT_GT(1100, event_at(v->vm, ALL)->count_at_overflow);
		ASSERT_CALL(0, id_call(v, KVM_PERF_OP_CLOSE, ALL));
	}
}

/* Raw codes: those that mean the same everywhere, or with a kind. */
TEST_F(kinds, codes)
{
	struct tiny_vcpu *v = self->v;

	ASSERT_TRUE(open_each(v, KVM_PERF_TYPE_RAW, 0xc0));
	ASSERT_TRUE(all_do(v, KVM_PERF_OP_ENABLE));
	ASSERT_TRUE(spins_on_each(v));
	ASSERT_TRUE(all_do(v, KVM_PERF_OP_DISABLE));
	EXPECT_EQ(count(v, P) + count(v, E), count(v, ALL));
	EXPECT_TRUE(counted(count(v, P), TURNS));
	EXPECT_TRUE(counted(count(v, E), TURNS));
	ASSERT_TRUE(all_do(v, KVM_PERF_OP_CLOSE));

	EXPECT_CALL(-KVM_ENOENT, open_kind(v, ALL, 0, KVM_PERF_TYPE_RAW, 0x1a8, 0));
	EXPECT_CALL(0, open_kind(v, P, 1, KVM_PERF_TYPE_RAW, 0x1a8, 0));
	EXPECT_CALL(0, open_kind(v, E, 2, KVM_PERF_TYPE_RAW, 0x1a8, 0));
}

TEST_F(kinds, refused)
{
	struct tiny_vcpu *v = self->v;

	EXPECT_CALL(-KVM_ENOENT, open_kind(v, 0, 3, KVM_PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES, 0));
	EXPECT_CALL(-KVM_EINVAL, open_kind(v, 0, 1, KVM_PERF_TYPE_SOFTWARE, 2, 0));
	EXPECT_CALL(-KVM_EPERM, open_kind(v, 0, 1, KVM_PERF_TYPE_RAW, 0x1b7, 0));
}

/* The limits count the guest's events, of however many kinds. */
TEST_F(kinds, limits)
{
	struct tiny_vcpu *v = self->v;

	ASSERT_EQ(0, tiny_rules_write("comm=pvperf_in max_events=2\n"));
	ASSERT_CALL(0, tiny_call_gpa(v, KVM_PERF_OP_ATTACH, AT_HEAD(0), 0));
	EXPECT_CALL(0, open_kind(v, 0, 0, KVM_PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES, 0));
	EXPECT_CALL(0, open_kind(v, 1, 0, KVM_PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES, 0));
	EXPECT_CALL(-KVM_ENOSPC, open_kind(v, 2, 0, KVM_PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES, 0));
}

/* Pinned by the policy, on either core. */
TEST_F(kinds, pinned)
{
	struct tiny_vcpu *v = self->v;
	int i;

	ASSERT_EQ(0, tiny_rules_write("uid=0 comm=pvperf_in priority=pinned\n"));
	ASSERT_CALL(0, tiny_call_gpa(v, KVM_PERF_OP_ATTACH, AT_HEAD(0), 0));
	ASSERT_TRUE(open_each(v, KVM_PERF_TYPE_HARDWARE, COUNT_INSTRUCTIONS));
	ASSERT_TRUE(all_do(v, KVM_PERF_OP_ENABLE));
	for (i = 0; i < 10; i++) {
		ASSERT_TRUE(runs_on(v, i % 2));
		ASSERT_EQ(0, tiny_spin(v, TURNS));
		ASSERT_TRUE(all_do(v, KVM_PERF_OP_READ));
		EXPECT_EQ(KVM_PERF_STATE_COUNTING, event_at(v->vm, ALL)->state);
	}
	ASSERT_TRUE(all_do(v, KVM_PERF_OP_DISABLE));
	EXPECT_EQ(count(v, P) + count(v, E), count(v, ALL));
	EXPECT_TRUE(always(v, ALL));
}

/* The vCPU's thread changes, and so do all perf_events of an event. */
TEST_F(kinds, threads)
{
	struct tiny_vcpu *v = self->v;
	struct kvm_regs spin = { .rcx = TURNS };

	ASSERT_TRUE(runs_on(v, 1));
	ASSERT_TRUE(open_each(v, KVM_PERF_TYPE_HARDWARE, COUNT_INSTRUCTIONS));
	ASSERT_TRUE(all_do(v, KVM_PERF_OP_ENABLE));
	ASSERT_EQ(0, tiny_spin(v, TURNS));
	ASSERT_EQ(0, tiny_stay_on(place[1]));
	ASSERT_CALL(0, tiny_call_here(v, KVM_PERF_OP_READ, ALL, 0));
	ASSERT_EQ(0, tiny_vcpu_exec_here(v, TINY_CODE_SPIN, &spin));
	ASSERT_CALL(0, tiny_call_here(v, KVM_PERF_OP_READ, ALL, 0));
	EXPECT_LE(2 * TURNS * TINY_SPIN_INSNS, count(v, ALL));
	EXPECT_GE(2 * TURNS * TINY_SPIN_INSNS + 4 * TINY_AROUND, count(v, ALL));
}

/* A CPU of the host is counted as what it is, whatever its kind. */
TEST_F(kinds, whole_cpus)
{
	struct guest_perf_attr attr = {
		.type = KVM_PERF_TYPE_HARDWARE, .size = KVM_PERF_ATTR_SIZE_VER0,
		.config = COUNT_INSTRUCTIONS, .flags = KVM_PERF_FLAG_CPU,
	};
	struct tiny_vcpu *v = self->v;
	uint64_t before;
	int i;

	ASSERT_EQ(0, tiny_rules_write("uid=0 comm=pvperf_in access=global\n"));
	for (i = 0; i < 2; i++) {
		attr.cpu = place[i];
		ASSERT_CALL(0, open_attr(v, i, KVM_PERF_EVENT_SIZE, &attr));
		ASSERT_CALL(0, id_call(v, KVM_PERF_OP_ENABLE, i));
		ASSERT_TRUE(runs_on(&self->vms.out.vcpu[0], i));
		before = count(v, i);
		ASSERT_EQ(0, tiny_spin(&self->vms.out.vcpu[0], TURNS));
		ASSERT_CALL(0, id_call(v, KVM_PERF_OP_READ, i));
		EXPECT_LE(TURNS * TINY_SPIN_INSNS, count(v, i) - before);
	}
	attr.cpu = 0;
	attr.flags |= KVM_PERF_FLAG_KIND(1);
	EXPECT_CALL(-KVM_EINVAL, open_attr(v, 2, KVM_PERF_EVENT_SIZE, &attr));
}

FIXTURE(full) {
	struct named vms;
	struct tiny_vcpu *v;
	int fd[COUNTERS_MAX], fds;
};

FIXTURE_VARIANT(full) {
	const char *rule;
	int cpu;		/* of the kind that has no counter */
	uint32_t state;		/* there */
};

#define FULL(name, text, nr, said)	\
	FIXTURE_VARIANT_ADD(full, name) { .rule = text, .cpu = nr, .state = said }

FULL(flexible_p, "\n", 0, KVM_PERF_STATE_STARVED);
FULL(flexible_e, "\n", 1, KVM_PERF_STATE_STARVED);
FULL(pinned_p, "uid=0 comm=pvperf_in priority=pinned\n", 0, KVM_PERF_STATE_ERROR);
FULL(pinned_e, "uid=0 comm=pvperf_in priority=pinned\n", 1, KVM_PERF_STATE_ERROR);

FIXTURE_SETUP(full)
{
	ASSERT_TRUE(named_create(&self->vms));
	self->v = &self->vms.in.vcpu[0];
	if (!(features(self->v) & KVM_PERF_FEATURE_KINDS))
		SKIP(return, "the host's cores are of one kind");
	ASSERT_EQ(0, tiny_rules_write(variant->rule));
	ASSERT_CALL(0, tiny_call_gpa(self->v, KVM_PERF_OP_ATTACH, AT_HEAD(0), 0));
}

FIXTURE_TEARDOWN(full)
{
	while (self->fds)
		close(self->fd[--self->fds]);
	EXPECT_TRUE(named_destroy(&self->vms));
}

/* A READ in which the event is as @state says, before and after some turns on @cpu. */
static bool is_on(struct tiny_vcpu *v, int cpu, uint32_t state)
{
	if (!runs_on(v, cpu) || tiny_spin(v, TURNS) || id_call(v, KVM_PERF_OP_READ, ALL))
		return false;
	return event_at(v->vm, ALL)->state == state;
}

/* The host's own events leave no counter on one kind: the times say what is missing there. */
TEST_F(full, one_kind)
{
	struct tiny_vcpu *v = self->v;
	struct guest_perf_event *e = event_at(v->vm, ALL), before;
	int64_t missed;

	self->fds = counters_take(place[variant->cpu], first_of(variant->cpu, "type", -1), self->fd);
	ASSERT_LT(0, self->fds);
	ASSERT_TRUE(runs_on(v, !variant->cpu));
	ASSERT_CALL(0, open_kind(v, ALL, 0, KVM_PERF_TYPE_HARDWARE, COUNT_INSTRUCTIONS, 0));
	ASSERT_CALL(0, id_call(v, KVM_PERF_OP_ENABLE, ALL));
	EXPECT_TRUE(is_on(v, !variant->cpu, KVM_PERF_STATE_COUNTING));
	EXPECT_EQ(e->time_enabled, e->time_running);

	ASSERT_TRUE(runs_on(v, variant->cpu));
	ASSERT_CALL(0, id_call(v, KVM_PERF_OP_READ, ALL));
	before = *e;
	EXPECT_TRUE(is_on(v, variant->cpu, variant->state));
	EXPECT_EQ(before.count, e->count);
	EXPECT_EQ(before.time_running, e->time_running);
	EXPECT_LE(before.time_enabled + TURNS, e->time_enabled);

	before = *e;
	EXPECT_TRUE(is_on(v, !variant->cpu, KVM_PERF_STATE_COUNTING));
	EXPECT_LE(before.count + TURNS * TINY_SPIN_INSNS, e->count);
	EXPECT_LE(before.time_running + TURNS, e->time_running);
	EXPECT_LE(e->time_running - before.time_running, e->time_enabled - before.time_enabled);

	while (self->fds)
		close(self->fd[--self->fds]);
	ASSERT_TRUE(runs_on(v, variant->cpu));
	ASSERT_CALL(0, id_call(v, KVM_PERF_OP_READ, ALL));
	before = *e;
	EXPECT_TRUE(is_on(v, variant->cpu, KVM_PERF_STATE_COUNTING));
	EXPECT_LE(before.count + TURNS * TINY_SPIN_INSNS, e->count);
	/* Two clocks: the kinds' events begin a moment apart, and the thread has one of its own. */
	missed = e->time_enabled - before.time_enabled - (e->time_running - before.time_running);
	EXPECT_GE(1000, missed);
	EXPECT_LE(-1000, missed);
}

/* Nobody reads the event between its time without a counter and its end. */
TEST_F(full, disabled)
{
	struct tiny_vcpu *v = self->v;
	struct guest_perf_event *e = event_at(v->vm, ALL);

	self->fds = counters_take(place[variant->cpu], first_of(variant->cpu, "type", -1), self->fd);
	ASSERT_LT(0, self->fds);
	ASSERT_TRUE(runs_on(v, !variant->cpu));
	ASSERT_CALL(0, open_kind(v, ALL, 0, KVM_PERF_TYPE_HARDWARE, COUNT_INSTRUCTIONS, 0));
	ASSERT_CALL(0, id_call(v, KVM_PERF_OP_ENABLE, ALL));
	ASSERT_TRUE(runs_on(v, variant->cpu));
	ASSERT_EQ(0, tiny_spin(v, TURNS));
	ASSERT_TRUE(runs_on(v, !variant->cpu));
	ASSERT_EQ(0, tiny_spin(v, TURNS));
	ASSERT_CALL(0, id_call(v, KVM_PERF_OP_DISABLE, ALL));
	EXPECT_LE(TURNS, e->time_running);
	EXPECT_LE(e->time_running + TURNS, e->time_enabled);
}

TEST_HARNESS_MAIN
