// SPDX-License-Identifier: GPL-2.0
/*
 * A host that lends its whole PMU to VMs (the mediated vPMU), or pvperf: only one works at
 * a time, and the second gets an error. A VM with APICs in KVM borrows the PMU, a VM
 * without them does not. mediated.sh loads KVM with the mediated vPMU.
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

/* An event counts right, from its opening to its end. */
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

/* The borrower gets no hardware events, which leaves nothing behind; it gets software events. */
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

/* Other VMs get no hardware events while there is a borrower, and get them afterwards. */
TEST_F(mediated, others)
{
	ASSERT_EQ(0, tiny_vm_create_apics(&self->borrower));
	EXPECT_CALL(-KVM_EOPNOTSUPP, open_event(self->v, 0, 0));
	EXPECT_CALL(0, open_switches(self->v, 1));
	tiny_vm_destroy(&self->borrower);

	EXPECT_CALL(0, open_event(self->v, 0, 0));
	EXPECT_TRUE(counts(self->v, 0));
}

/* An open event keeps a borrower from starting, and goes on counting. */
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

/* Software events do not need the PMU, so a borrower may start. */
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
