// SPDX-License-Identifier: GPL-2.0
/*
 * A host that lends its whole PMU to VMs (the mediated vPMU), and ours: one of
 * them at a time, and whoever comes second is told. A VM whose APICs KVM has
 * borrows the PMU, one without them does not. mediated.sh loads KVM so.
 */

#include "tiny_test.h"

#define TURNS		1000000ull

FIXTURE(mediated) {
	struct tiny_vm vm, borrower;
	struct tiny_vcpu *v;
	struct tiny_totals before;
};

FIXTURE_SETUP(mediated)
{
	ASSERT_EQ(0, tiny_totals_read(&self->before));
	ASSERT_EQ(0, tiny_vm_create(&self->vm, 1));
	self->v = &self->vm.vcpu[0];
}

FIXTURE_TEARDOWN(mediated)
{
	tiny_vm_destroy(&self->vm);
	EXPECT_TRUE(tiny_totals_wait(&self->before));
}

/* An event counts what it has to, from off to off. */
static bool counts(struct tiny_vcpu *v, int id)
{
	struct guest_perf_event *e = event_at(v->vm, id);
	uint64_t before = e->count;

	return !id_call(v, KVM_PERF_OP_ENABLE, id) &&
	       tiny_spin(v, TURNS) != TINY_BROKEN &&
	       !id_call(v, KVM_PERF_OP_DISABLE, id) &&
	       counted(e->count - before, TURNS);
}

static int64_t open_switches(struct tiny_vcpu *v, int id)
{
	struct guest_perf_attr attr = {
		.type = KVM_PERF_TYPE_SOFTWARE,
		.config = 3,	/* PERF_COUNT_SW_CONTEXT_SWITCHES */
	};

	return open_attr(v, id, KVM_PERF_EVENT_SIZE, &attr);
}

/* The borrower itself: no hardware events, nothing left over; the host's own. */
TEST_F(mediated, borrower)
{
	struct tiny_vcpu *v = &self->borrower.vcpu[0];
	struct tiny_totals t;

	ASSERT_EQ(0, tiny_vm_create_apics(&self->borrower));
	EXPECT_CALL(-KVM_EOPNOTSUPP, open_event(v, 0, 0));
	EXPECT_CALL(-KVM_EOPNOTSUPP, open_event(v, 0, 100000));
	EXPECT_CALL(-KVM_ENOENT, id_call(v, KVM_PERF_OP_ENABLE, 0));
	EXPECT_EQ(0, tiny_totals_read(&t));
	EXPECT_EQ(self->before.events, t.events);
	EXPECT_EQ(self->before.pages, t.pages);
	EXPECT_CALL(0, open_switches(v, 0));
	EXPECT_CALL(0, id_call(v, KVM_PERF_OP_ENABLE, 0));
	EXPECT_CALL(0, id_call(v, KVM_PERF_OP_CLOSE, 0));
	tiny_vm_destroy(&self->borrower);
}

/* Another VM is refused for as long as there is a borrower, and not longer. */
TEST_F(mediated, others)
{
	ASSERT_EQ(0, tiny_vm_create_apics(&self->borrower));
	EXPECT_CALL(-KVM_EOPNOTSUPP, open_event(self->v, 0, 0));
	EXPECT_CALL(0, open_switches(self->v, 1));
	tiny_vm_destroy(&self->borrower);

	EXPECT_CALL(0, open_event(self->v, 0, 0));
	EXPECT_TRUE(counts(self->v, 0));
}

/* An event that is there keeps a borrower away, and is not harmed by it. */
TEST_F(mediated, first)
{
	ASSERT_CALL(0, open_event(self->v, 0, 0));
	EXPECT_EQ(-EBUSY, tiny_vm_create_apics(&self->borrower));
	EXPECT_TRUE(counts(self->v, 0));

	ASSERT_CALL(0, id_call(self->v, KVM_PERF_OP_ENABLE, 0));
	EXPECT_EQ(-EBUSY, tiny_vm_create_apics(&self->borrower));
	ASSERT_CALL(0, id_call(self->v, KVM_PERF_OP_DISABLE, 0));
	EXPECT_TRUE(counts(self->v, 0));

	ASSERT_CALL(0, id_call(self->v, KVM_PERF_OP_CLOSE, 0));
	ASSERT_EQ(0, tiny_vm_create_apics(&self->borrower));
	tiny_vm_destroy(&self->borrower);
}

/* The host's own events about a thread are none of the PMU. */
TEST_F(mediated, software_first)
{
	ASSERT_CALL(0, open_switches(self->v, 0));
	ASSERT_CALL(0, id_call(self->v, KVM_PERF_OP_ENABLE, 0));
	ASSERT_EQ(0, tiny_vm_create_apics(&self->borrower));
	EXPECT_CALL(0, id_call(self->v, KVM_PERF_OP_READ, 0));
	EXPECT_EQ(KVM_PERF_STATE_COUNTING, event_at(&self->vm, 0)->state);
	tiny_vm_destroy(&self->borrower);
}

TEST_HARNESS_MAIN
