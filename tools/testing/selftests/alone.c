// SPDX-License-Identifier: GPL-2.0
/*
 * access=exclusive and access=force: one VM has the host alone while it counts. Others have
 * nothing then, are told why, and come back.
 */

#include "tiny_test.h"
#include "named.h"
#include <sched.h>
#include <sys/prctl.h>
#include <unistd.h>

#define TURNS		1000000ull

static int64_t opens(struct tiny_vm *vm)
{
	return open_event(&vm->vcpu[0], 0, 0);
}

static void ends(struct tiny_vm *vm)
{
	tiny_call(&vm->vcpu[0], KVM_PERF_OP_DETACH, 0, 0, 0);
}

/* The host looks every second whether the VM that is alone still counts. */
static bool comes_back(struct tiny_vm *vm)
{
	int tries;

	for (tries = 0; tries < 50; tries++) {
		if (begins(vm))
			return true;
		usleep(100000);
	}
	return false;
}

FIXTURE(alone) {
	struct named vms;
};

FIXTURE_SETUP(alone)
{
	ASSERT_TRUE(named_create(&self->vms));
}

FIXTURE_TEARDOWN(alone)
{
	/* The next test begins when no VM is alone any more. */
	EXPECT_EQ(0, tiny_rules_write("\n"));
	ends(&self->vms.out);
	EXPECT_TRUE(comes_back(&self->vms.out));
	EXPECT_TRUE(named_destroy(&self->vms));
}

/* While others count it is refused, by an error of its own. */
TEST_F(alone, exclusive)
{
	struct tiny_vcpu *in = &self->vms.in.vcpu[0], *out = &self->vms.out.vcpu[0];

	ASSERT_TRUE(begins(&self->vms.out));
	ASSERT_EQ(0, tiny_rules_write("uid=0 comm=pvperf_in access=exclusive\n"));
	EXPECT_TRUE(still_counts(out, 0, TURNS));
	EXPECT_CALL(-KVM_EUSERS, opens(&self->vms.in));
	EXPECT_EQ(1, refused("access"));
	EXPECT_TRUE(still_counts(out, 0, TURNS));

	ends(&self->vms.out);
	EXPECT_TRUE(begins(&self->vms.in));
	EXPECT_TRUE(still_counts(in, 0, TURNS));
	EXPECT_FALSE(offered(out));
	EXPECT_CALL(-KVM_ENOSYS, opens(&self->vms.out));
	sleep(3);
	EXPECT_TRUE(still_counts(in, 0, TURNS));
	EXPECT_CALL(-KVM_ENOSYS, opens(&self->vms.out));
	/* It need not ask twice. */
	EXPECT_CALL(0, open_event(in, 1, 0));

	ends(&self->vms.in);
	EXPECT_TRUE(comes_back(&self->vms.out));
	EXPECT_CALL(-KVM_EUSERS, opens(&self->vms.in));
	EXPECT_EQ(2, refused("access"));
}

/* Taken by force, the others' events end, and they are told why. */
TEST_F(alone, force)
{
	struct tiny_vcpu *in = &self->vms.in.vcpu[0], *out = &self->vms.out.vcpu[0];

	ASSERT_TRUE(begins(&self->vms.out));
	ASSERT_EQ(0, tiny_spin(out, TURNS));
	ASSERT_EQ(0, tiny_rules_write("uid=0 comm=pvperf_in access=force\n"));
	EXPECT_TRUE(still_counts(out, 0, TURNS));
	EXPECT_TRUE(begins(&self->vms.in));
	EXPECT_TRUE(gone(&self->vms.out, KVM_PERF_REASON_ALONE));
	EXPECT_LE(measured_least(2 * TURNS), event_at(&self->vms.out, 0)->count);
	EXPECT_CALL(-KVM_ENOSYS, opens(&self->vms.out));
	EXPECT_TRUE(still_counts(in, 0, TURNS));

	ends(&self->vms.in);
	EXPECT_TRUE(comes_back(&self->vms.out));
	EXPECT_TRUE(still_counts(out, 0, TURNS));
}

/* A second VM with the same word does not get it. */
TEST_F(alone, two)
{
	ASSERT_EQ(0, tiny_rules_write("uid=0 comm=pvperf_* access=force\n"));
	EXPECT_TRUE(begins(&self->vms.in));
	EXPECT_CALL(-KVM_ENOSYS, opens(&self->vms.out));
	EXPECT_TRUE(still_counts(&self->vms.in.vcpu[0], 0, TURNS));
	ends(&self->vms.in);
	EXPECT_TRUE(comes_back(&self->vms.out));
	EXPECT_CALL(-KVM_ENOSYS, opens(&self->vms.in));
}

/* The rules say something else while a VM is alone. */
TEST_F(alone, rule_goes)
{
	ASSERT_EQ(0, tiny_rules_write("uid=0 comm=pvperf_in access=exclusive\n"));
	ASSERT_TRUE(begins(&self->vms.in));
	EXPECT_CALL(-KVM_ENOSYS, opens(&self->vms.out));
	ASSERT_EQ(0, tiny_rules_write("\n"));
	EXPECT_TRUE(gone(&self->vms.in, KVM_PERF_REASON_POLICY));
	EXPECT_TRUE(comes_back(&self->vms.out));
	EXPECT_TRUE(begins(&self->vms.in));
}

/* A VM that counts beside others gets the word: its events end, not those of the others. */
TEST_F(alone, word_comes)
{
	ASSERT_EQ(0, tiny_rules_write("uid=0 comm=pvperf_in access=global\n"));
	ASSERT_TRUE(begins(&self->vms.in));
	ASSERT_TRUE(begins(&self->vms.out));
	ASSERT_EQ(0, tiny_rules_write("uid=0 comm=pvperf_in access=exclusive\n"));
	EXPECT_TRUE(gone(&self->vms.in, KVM_PERF_REASON_POLICY));
	EXPECT_TRUE(still_counts(&self->vms.out.vcpu[0], 0, TURNS));
	EXPECT_FALSE(begins(&self->vms.in));
	ends(&self->vms.out);
	EXPECT_TRUE(begins(&self->vms.in));
}

/* A VM that makes its first call meanwhile gets nothing; and the VM that is alone ends. */
TEST_F(alone, vm_ends)
{
	struct tiny_vm third;

	ASSERT_EQ(0, tiny_rules_write("uid=0 comm=pvperf_third access=exclusive\n"));
	ASSERT_EQ(0, tiny_vm_create(&third, 1));
	ASSERT_EQ(0, prctl(PR_SET_NAME, "pvperf_third"));
	ASSERT_TRUE(begins(&third));
	ASSERT_EQ(0, prctl(PR_SET_NAME, "pvperf_out"));
	EXPECT_CALL(-KVM_ENOSYS, opens(&self->vms.out));
	tiny_vm_destroy(&third);
	EXPECT_TRUE(comes_back(&self->vms.out));
}

static int opens_and_ends(void *arg)
{
	struct tiny_vm *vm = arg;
	struct guest_perf_attr attr = attr_measured(0);

	open_put(vm, 0, AT_EVENT(0), &attr);
	_exit(prctl(PR_SET_NAME, "pvperf_third") ||
	      tiny_call_here(&vm->vcpu[0], KVM_PERF_OP_OPEN, AT_PARAM, 0));
}

/* A process of the same memory takes the host and ends: nobody else can close its event. */
TEST_F(alone, first_caller_ends)
{
	struct tiny_vm third;

	ASSERT_EQ(0, tiny_rules_write("uid=0 comm=pvperf_third access=exclusive\n"));
	ASSERT_EQ(0, tiny_vm_create(&third, 1));
	ASSERT_EQ(0, tiny_in_other_process(opens_and_ends, &third));
	EXPECT_TRUE(comes_back(&self->vms.out));
	tiny_vm_destroy(&third);
}

/* The word is for one VM: as a parameter it is refused, and nothing changes. */
TEST_F(alone, parameter)
{
	ASSERT_TRUE(begins(&self->vms.in));
	EXPECT_NE(0, tiny_param_write("access", "exclusive"));
	EXPECT_NE(0, tiny_param_write("access", "force"));
	EXPECT_TRUE(still_counts(&self->vms.in.vcpu[0], 0, TURNS));
}

TEST_HARNESS_MAIN
