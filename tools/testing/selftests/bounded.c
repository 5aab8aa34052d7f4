// SPDX-License-Identifier: GPL-2.0
/* What the most expensive call may cost the host, in ticks of the TSC. */

#include "counters.h"
#include "tiny_test.h"
#include <linux/perf_event.h>
#include <signal.h>
#include <string.h>
#include <sys/time.h>
#include <sys/syscall.h>

#define TURNS		100000ull
#define AT_TIMED	(TINY_MEM - TINY_PAGE)

/*
 * In the lab a tick is an instruction. One retry of an event that finds no counter takes
 * some 12,000, and one call may retry each of 64 events once.
 */
#define RETRIES_MAX	(64 * 20000ull)
/* Of 64 operations on one event each; the dearest, OPEN, takes some 45,000. */
#define TICKS_MAX	(64 * 60000ull)

FIXTURE(bounded) {
	struct tiny_vm vm;
	struct tiny_vcpu *v;
	struct tiny_totals before;
	int taken[COUNTERS_MAX], takers;
};

FIXTURE_SETUP(bounded)
{
	int id;

	ASSERT_EQ(0, tiny_totals_read(&self->before));
	ASSERT_EQ(0, tiny_param_write("priority", "pinned"));
	ASSERT_EQ(0, tiny_vm_create(&self->vm, 1));
	self->v = &self->vm.vcpu[0];
	measured_choose(self->v);
	NEED_PMU();
	ASSERT_EQ(64, limits_read(self->v).events);
	for (id = 0; id < 64; id++) {
		ASSERT_CALL(0, open_event(self->v, id, 0));
		ASSERT_CALL(0, id_call(self->v, KVM_PERF_OP_ENABLE, id));
	}
	self->takers = counters_take(0, 0, self->taken);
	ASSERT_LT(0, self->takers);
	/* the vCPU's events lose their counters */
	ASSERT_EQ(0, tiny_spin(self->v, TURNS));
}

FIXTURE_TEARDOWN(bounded)
{
	while (self->takers)
		close(self->taken[--self->takers]);
	EXPECT_EQ(0, tiny_param_write("priority", "flexible"));
	tiny_vm_destroy(&self->vm);
	EXPECT_TRUE(tiny_totals_wait(&self->before));
}

static uint64_t ticks_of(struct tiny_vcpu *v, uint32_t op, uint64_t a, uint32_t c)
{
	struct kvm_regs regs = { .rdi = AT_TIMED, .rcx = 1 };
	struct tiny_timed *timed = tiny_ptr(v->vm, AT_TIMED);

	*timed = (struct tiny_timed){
		.rax = KVM_PERF_OP, .rbx = op, .rcx = (uint32_t)a, .rdx = a >> 32, .rsi = c,
	};
	if (tiny_vcpu_exec(v, TINY_CODE_TIMED_CALL, &regs) || (int64_t)timed->rax < 0)
		return UINT64_MAX;
	return timed->ticks;
}

/* As many READs of as many events as a batch holds, none of which finds a counter. */
TEST_F(bounded, read_many)
{
	struct guest_perf_op *op = batch_at(&self->vm);
	uint64_t ticks;
	int i;

	memset(op, 0, KVM_PERF_BATCH_MAX * sizeof(*op));
	for (i = 0; i < KVM_PERF_BATCH_MAX; i++) {
		op[i].op = KVM_PERF_OP_READ;
		op[i].arg = ~0ull;
	}
	ticks = ticks_of(self->v, KVM_PERF_OP_BATCH, AT_BATCH, KVM_PERF_BATCH_MAX);
	TH_LOG("%d READs of 64 events: %llu ticks", KVM_PERF_BATCH_MAX,
	       (unsigned long long)ticks);
	for (i = 0; i < KVM_PERF_BATCH_MAX; i++)
		EXPECT_EQ(0, op[i].result);
	EXPECT_EQ(KVM_PERF_STATE_ERROR, event_at(&self->vm, 0)->state);
	EXPECT_GE(RETRIES_MAX, ticks);
}

static void nothing(int unused)
{
}

/* SIGALRM for the vCPU's thread, as this one blocks it. */
static void alarm_after(long us)
{
	const struct itimerval value = { .it_value.tv_usec = us };
	const struct sigaction action = { .sa_handler = nothing };
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGALRM);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	sigaction(SIGALRM, &action, NULL);
	setitimer(ITIMER_REAL, &value, NULL);
}

/*
 * A signal comes in the middle of the call. What was done by then has its result, and the
 * rest is as it was.
 */
TEST_F(bounded, signal)
{
	struct guest_perf_op *op = batch_at(&self->vm);
	int64_t done = KVM_PERF_BATCH_MAX;
	long us;
	int i;

	/* When the call begins is not known. */
	for (us = 100; us <= 1000 && done == KVM_PERF_BATCH_MAX; us += 100) {
		memset(op, 0, KVM_PERF_BATCH_MAX * sizeof(*op));
		for (i = 0; i < KVM_PERF_BATCH_MAX; i++) {
			op[i].op = i % 2 ? KVM_PERF_OP_ENABLE : KVM_PERF_OP_DISABLE;
			op[i].id = i;
			op[i].result = 12345;
		}
		alarm_after(us);
		done = tiny_call_gpa(self->v, KVM_PERF_OP_BATCH, AT_BATCH, KVM_PERF_BATCH_MAX);
	}
	TH_LOG("%lld of %d operations before the signal", (long long)done, KVM_PERF_BATCH_MAX);
	ASSERT_LT(0, done);
	ASSERT_GT(KVM_PERF_BATCH_MAX, done);
	for (i = 0; i < KVM_PERF_BATCH_MAX; i++)
		EXPECT_EQ(i < done ? 0 : 12345, op[i].result);
}

/* An event without a counter is enabled as long as its thread runs, and does not run. */
TEST_F(bounded, clocks)
{
	struct guest_perf_event *ev = event_at(&self->vm, 63), before;

	ASSERT_CALL(0, id_call(self->v, KVM_PERF_OP_READ, 63));
	before = *ev;
	ASSERT_EQ(KVM_PERF_STATE_ERROR, before.state);
	ASSERT_EQ(0, tiny_spin(self->v, 10 * TURNS));
	ASSERT_CALL(0, id_call(self->v, KVM_PERF_OP_READ, 63));
	EXPECT_LE(before.time_enabled + TURNS, ev->time_enabled);
	EXPECT_EQ(before.time_running, ev->time_running);
}

/* A counter that is free again is found by the next READ. */
TEST_F(bounded, retried)
{
	ASSERT_CALL(0, id_call(self->v, KVM_PERF_OP_READ, 63));
	ASSERT_EQ(KVM_PERF_STATE_ERROR, event_at(&self->vm, 63)->state);
	while (self->takers)
		close(self->taken[--self->takers]);
	ASSERT_CALL(0, id_call(self->v, KVM_PERF_OP_READ, 63));
	EXPECT_EQ(KVM_PERF_STATE_COUNTING, event_at(&self->vm, 63)->state);
}

/* ---------------------------------------------------- each operation, 64 times */

/* What a batch repeats: @first, and if it is not the same @second, in turn. */
static const struct many {
	const char *name;
	uint32_t first, second;
	bool one;	/* on one event; else on 64 */
} many[] = {
	{ "READ", KVM_PERF_OP_READ, KVM_PERF_OP_READ },
	{ "DISABLE, ENABLE", KVM_PERF_OP_DISABLE, KVM_PERF_OP_ENABLE, true },
	{ "DISABLE", KVM_PERF_OP_DISABLE, KVM_PERF_OP_DISABLE },
	{ "ENABLE", KVM_PERF_OP_ENABLE, KVM_PERF_OP_ENABLE },
	{ "CLOSE", KVM_PERF_OP_CLOSE, KVM_PERF_OP_CLOSE },
	{ "OPEN, CLOSE", KVM_PERF_OP_OPEN, KVM_PERF_OP_CLOSE, true },
	{ "OPEN", KVM_PERF_OP_OPEN, KVM_PERF_OP_OPEN },
};

FIXTURE(bounded_ops) {
	struct tiny_vm vm;
	struct tiny_vcpu *v;
	struct tiny_totals before;
	struct guest_perf_attr attr;
};

FIXTURE_VARIANT(bounded_ops) {
	bool hardware;
};

/* clang-format off */
FIXTURE_VARIANT_ADD(bounded_ops, hardware) { .hardware = true };
FIXTURE_VARIANT_ADD(bounded_ops, clock) { .hardware = false };
/* clang-format on */

FIXTURE_SETUP(bounded_ops)
{
	int id;

	VM_BEGIN(1);
	if (variant->hardware)
		NEED_PMU();
	by_clock = !variant->hardware;
	self->attr = attr_measured(0);
	for (id = 0; id < KVM_PERF_BATCH_MAX; id++) {
		ASSERT_CALL(0, open_event(self->v, id, 0));
		ASSERT_CALL(0, id_call(self->v, KVM_PERF_OP_ENABLE, id));
	}
}

VM_END(bounded_ops)

/* The params of 64 OPENs fit one page. */
static uint64_t param_at(int id)
{
	return AT_PARAM + id * sizeof(struct guest_perf_event_param);
}

static void params_put(struct tiny_vm *vm, const struct guest_perf_attr *attr)
{
	struct guest_perf_event_param *param = tiny_ptr(vm, AT_PARAM);
	int id;

	memcpy(tiny_ptr(vm, AT_ATTR), attr, sizeof(*attr));
	for (id = 0; id < KVM_PERF_BATCH_MAX; id++)
		param[id] = (struct guest_perf_event_param){
			.attr_addr = AT_ATTR, .guest_event_addr = AT_EVENT(id),
			.id = id, .event_size = KVM_PERF_EVENT_SIZE,
		};
}

static void batch_fill(struct guest_perf_op *op, const struct many *of)
{
	int i;

	memset(op, 0, KVM_PERF_BATCH_MAX * sizeof(*op));
	for (i = 0; i < KVM_PERF_BATCH_MAX; i++) {
		op[i].op = i % 2 ? of->second : of->first;
		op[i].id = of->one ? 0 : i;
		if (op[i].op == KVM_PERF_OP_OPEN)
			op[i].arg = param_at(op[i].id);
	}
}

TEST_F(bounded_ops, many)
{
	struct guest_perf_op *op = batch_at(&self->vm);
	uint64_t ticks;
	unsigned int i;
	int n;

	params_put(&self->vm, &self->attr);
	for (i = 0; i < sizeof(many) / sizeof(*many); i++) {
		batch_fill(op, &many[i]);
		ticks = ticks_of(self->v, KVM_PERF_OP_BATCH, AT_BATCH, KVM_PERF_BATCH_MAX);
		TH_LOG("%d times %s: %llu ticks", KVM_PERF_BATCH_MAX, many[i].name,
		       (unsigned long long)ticks);
		for (n = 0; n < KVM_PERF_BATCH_MAX; n++)
			EXPECT_EQ(0, op[n].result);
		EXPECT_GE(TICKS_MAX, ticks);
	}
	ticks = ticks_of(self->v, KVM_PERF_OP_RESET, 0, 0);
	TH_LOG("RESET with 64 events: %llu ticks", (unsigned long long)ticks);
	EXPECT_GE(TICKS_MAX, ticks);
}

TEST_HARNESS_MAIN
