// SPDX-License-Identifier: GPL-2.0
/*
 * An NMI wakes a vCPU that sleeps in HLT. The event counts context switches of the vCPU's
 * thread, as a halted vCPU causes no other event.
 */

#include "tiny_test.h"

#define SWITCHES	100	/* far more than happen before the HLT */

FIXTURE(halted) {
	struct tiny_vm vm;
	struct tiny_vcpu *v;
	struct guest_perf_event *e;
	struct tiny_totals before;
};

FIXTURE_SETUP(halted)
{
	struct guest_perf_attr attr = {
		.type = KVM_PERF_TYPE_SOFTWARE,
		.config = 3,	/* PERF_COUNT_SW_CONTEXT_SWITCHES */
		.sample_period = SWITCHES,
	};

	ASSERT_EQ(0, tiny_totals_read(&self->before));
	ASSERT_EQ(0, tiny_vm_create_apics(&self->vm, 1));
	self->v = &self->vm.vcpu[0];
	self->e = event_at(&self->vm, 0);
	ASSERT_CALL(0, tiny_call_gpa(self->v, KVM_PERF_OP_ATTACH, AT_HEAD(0), 0));
	memset(self->e, 0, sizeof(*self->e));
	ASSERT_CALL(0, open_attr(self->v, 0, KVM_PERF_EVENT_SIZE, &attr));
}

VM_END(halted)

/* Asleep, and for longer than KVM polls. */
static bool sleeps(struct tiny_vcpu *v)
{
	const bool started = starts(v, TINY_CODE_HALT);

	usleep(50000);
	return started && !tiny_vcpu_ended(v);
}

TEST_F(halted, woken)
{
	volatile uint32_t *overflows = &self->e->overflows;
	struct kvm_regs regs;
	int kicks, tries;

	ASSERT_CALL(0, id_call(self->v, KVM_PERF_OP_ENABLE, 0));
	ASSERT_TRUE(sleeps(self->v));
	EXPECT_EQ(0, self->v->cpu->nmis);
	/* Each kick wakes the thread once, which is one context switch. */
	for (kicks = 0; kicks < 2 * SWITCHES && !*overflows; kicks++) {
		EXPECT_FALSE(tiny_vcpu_ended(self->v));
		tiny_vcpu_kick(self->v);
		usleep(5000);
	}
	EXPECT_LE(SWITCHES / 2, kicks);
	EXPECT_EQ(1, *overflows);
	/* From here on nothing kicks the vCPU but the NMI. */
	for (tries = 0; tries < 100 && !tiny_vcpu_ended(self->v); tries++)
		usleep(10000);
	EXPECT_TRUE(tiny_vcpu_ended(self->v));
	tiny_vcpu_kick(self->v);
	ASSERT_EQ(0, tiny_vcpu_wait(self->v, &regs));
	EXPECT_EQ(1, self->v->cpu->nmis);
	EXPECT_EQ(1, head_at(&self->vm, 0)->nmis);
	EXPECT_EQ(1, head_at(&self->vm, 0)->pending);
}

/* Without an event the vCPU sleeps on, so it was the NMI that woke it above. */
TEST_F(halted, not_woken)
{
	struct kvm_regs regs;
	int kicks;

	ASSERT_TRUE(sleeps(self->v));
	for (kicks = 0; kicks < 2 * SWITCHES; kicks++) {
		EXPECT_FALSE(tiny_vcpu_ended(self->v));
		tiny_vcpu_kick(self->v);
		usleep(1000);
	}
	EXPECT_EQ(0, self->e->overflows);
	/* it would sleep for ever */
	self->v->give_up = true;
	tiny_vcpu_kick(self->v);
	EXPECT_EQ(TINY_BROKEN, tiny_vcpu_wait(self->v, &regs));
	EXPECT_EQ(0, self->v->cpu->nmis);
}

TEST_HARNESS_MAIN
