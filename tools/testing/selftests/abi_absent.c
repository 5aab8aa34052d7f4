// SPDX-License-Identifier: GPL-2.0
/*
 * What a guest sees without a host side: without the module, or with
 * access=unavailable. Both must look the same.
 */

#define WITHOUT_MODULE
#include "tiny_test.h"

FIXTURE(absent) {
	struct tiny_vm vm;
	struct tiny_vcpu *v;
};

FIXTURE_SETUP(absent)
{
	ASSERT_EQ(0, tiny_vm_create(&self->vm, 1));
	self->v = &self->vm.vcpu[0];
}

FIXTURE_TEARDOWN(absent)
{
	tiny_vm_destroy(&self->vm);
}

TEST_F(absent, all)
{
	check_absent(_metadata, self->v);
	EXPECT_CALL(-KVM_EPERM, tiny_call_user(self->v, KVM_PERF_OP_PROBE, 0, 0, 0));
}

/* The host keeps nothing for a guest whose calls failed. */
TEST_F(absent, nothing_kept)
{
	struct tiny_totals t;

	if (tiny_totals_read(&t) == -ENOENT)
		SKIP(return, "the host's module is not loaded");
	EXPECT_CALL(-KVM_ENOSYS, open_event(self->v, 0, 0));
	ASSERT_EQ(0, tiny_totals_read(&t));
	EXPECT_GE(1, t.vms);	/* a VM that a rule denies is known */
	EXPECT_EQ(0, t.vcpus);
	EXPECT_EQ(0, t.events);
	EXPECT_EQ(0, t.pages);
}

TEST_HARNESS_MAIN
