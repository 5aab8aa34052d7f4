// SPDX-License-Identifier: GPL-2.0
/*
 * A VM that opens events faster than max_opens waits, and no other VM does; and overflows that are
 * not told at once are not more than max_overflows.
 */

#include "tiny_test.h"

#define RATE	"50"
#define OPENS	150
#define NS	1000000000ll

FIXTURE(paced) {
	struct tiny_vm vm, other;
	struct tiny_totals before;
	char max_opens[16], max_overflows[16];
};

FIXTURE_SETUP(paced)
{
	ASSERT_EQ(0, tiny_totals_read(&self->before));
	ASSERT_EQ(0, tiny_vm_create(&self->vm, 1));
	ASSERT_EQ(0, tiny_vm_create(&self->other, 1));
	measured_choose(&self->vm.vcpu[0]);
	ASSERT_EQ(0, tiny_param_read("max_opens", self->max_opens, sizeof(self->max_opens)));
	ASSERT_EQ(0, tiny_param_read("max_overflows", self->max_overflows,
				     sizeof(self->max_overflows)));
	ASSERT_EQ(0, tiny_param_write("max_opens", RATE));
}

FIXTURE_TEARDOWN(paced)
{
	EXPECT_EQ(0, tiny_param_write("max_opens", self->max_opens));
	EXPECT_EQ(0, tiny_param_write("max_overflows", self->max_overflows));
	tiny_vm_destroy(&self->other);
	tiny_vm_destroy(&self->vm);
	EXPECT_TRUE(tiny_totals_wait(&self->before));
}

/* How long @n pairs of OPEN and CLOSE take, in ns; -1: one failed. */
static int64_t pairs(struct tiny_vm *vm, int n)
{
	int64_t from = now_ns();

	while (n--)
		if (open_event(&vm->vcpu[0], 0, 0) ||
		    id_call(&vm->vcpu[0], KVM_PERF_OP_CLOSE, 0))
			return -1;
	return now_ns() - from;
}

/* A second's worth at once, and then so many a second. */
TEST_F(paced, opens)
{
	int64_t first = pairs(&self->vm, 40), rest = pairs(&self->vm, OPENS);

	TH_LOG("40 OPENs in %lld us, %d more in %lld us", (long long)first / 1000, OPENS,
	       (long long)rest / 1000);
	ASSERT_LE(0, first);
	EXPECT_GE(NS / 10, first);
	EXPECT_LE(2 * NS, rest);
	EXPECT_GE(4 * NS, rest);
}

/* Nobody waits for long: KVM's memory slots wait for who does. */
TEST_F(paced, soon)
{
	struct tiny_vcpu *v = &self->vm.vcpu[0];
	int64_t from;

	ASSERT_EQ(0, tiny_param_write("max_opens", "1"));
	ASSERT_CALL(0, open_event(v, 0, 0));
	from = now_ns();
	EXPECT_CALL(-KVM_EBUSY, open_event(v, 1, 0));
	EXPECT_GE(NS / 5, now_ns() - from);
	/* The one that was refused has taken no place. */
	usleep(NS / 1000);
	EXPECT_CALL(0, open_event(v, 1, 0));
}

TEST_F(paced, others)
{
	ASSERT_LE(NS / 10, pairs(&self->vm, 100));
	EXPECT_GE(NS / 10, pairs(&self->other, 40));
}

#define CLOCKS	8
#define MS	1000000ll

/* Timer interrupts of this CPU in 200 ms of this thread, in which its clocks overflow. */
static long interrupts(void)
{
	long before = tiny_interrupts_of(0, "LOC:");
	int64_t from = now_ns();

	while (now_ns() - from < 200 * MS)
		;
	return tiny_interrupts_of(0, "LOC:") - before;
}

/* In real mode nothing is told at once, as the guest's memory may be another one by now. */
TEST_F(paced, in_real_mode)
{
	const struct guest_perf_attr attr = {
		.type = KVM_PERF_TYPE_SOFTWARE, .size = KVM_PERF_ATTR_SIZE_VER0,
		.sample_period = 200000,	/* longer than all ENABLEs take */
	};
	struct tiny_vcpu *v = &self->vm.vcpu[0];
	long told, untold;
	int id;

	ASSERT_EQ(0, tiny_param_write("max_overflows", "1000"));
	ASSERT_EQ(0, tiny_stay_on(0));
	for (id = 0; id < CLOCKS; id++) {
		open_put(&self->vm, id, AT_EVENT(id), &attr);
		ASSERT_CALL(0, tiny_call_here(v, KVM_PERF_OP_OPEN, AT_PARAM, 0));
		ASSERT_CALL(0, tiny_call_here(v, KVM_PERF_OP_ENABLE, id, 0));
	}
	tiny_vcpu_real(v);
	untold = interrupts();
	tiny_vcpu_mode64(v);
	told = interrupts();
	ASSERT_CALL(0, tiny_call_here(v, KVM_PERF_OP_READ, 0, 0));
	TH_LOG("%ld timer interrupts, in real mode %ld", told, untold);
	/* 4000 a second of one thread, some more at the begin, and the tick's. */
	EXPECT_GE(2000, told);
	EXPECT_GE(2000, untold);
	EXPECT_LT(200, untold);
	EXPECT_LT(50, event_at(&self->vm, 0)->overflows);
	EXPECT_EQ(KVM_PERF_EVENT_STRETCHED,
		  event_at(&self->vm, 0)->flags & KVM_PERF_EVENT_STRETCHED);
}

TEST_HARNESS_MAIN
