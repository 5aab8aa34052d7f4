// SPDX-License-Identifier: GPL-2.0
/*
 * A host that lends its whole PMU to VMs (the mediated vPMU), or pvperf: only one works at
 * a time, and the second gets an error. A VM with APICs in KVM borrows the PMU, a VM
 * without them does not. mediated.sh loads KVM with the mediated vPMU.
 */

#include "tiny_test.h"
#include <linux/perf_event.h>
#include <sys/syscall.h>
#include <time.h>

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
	EXPECT_EQ(0, tiny_param_write("yield", "0"));
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

	ASSERT_EQ(0, tiny_vm_create_apics(&self->borrower, 1));
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
	ASSERT_EQ(0, tiny_vm_create_apics(&self->borrower, 1));
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
	EXPECT_EQ(-EBUSY, tiny_vm_create_apics(&self->borrower, 1));
	EXPECT_TRUE(counts(self->v, 0));

	ASSERT_CALL(0, id_call(self->v, KVM_PERF_OP_ENABLE, 0));
	EXPECT_EQ(-EBUSY, tiny_vm_create_apics(&self->borrower, 1));
	ASSERT_CALL(0, id_call(self->v, KVM_PERF_OP_DISABLE, 0));
	EXPECT_TRUE(counts(self->v, 0));

	ASSERT_CALL(0, id_call(self->v, KVM_PERF_OP_CLOSE, 0));
	ASSERT_EQ(0, tiny_vm_create_apics(&self->borrower, 1));
	tiny_vm_destroy(&self->borrower);
}

/* Those of a VM that has just ended do not. */
TEST_F(mediated, ended)
{
	struct tiny_vm last;

	ASSERT_EQ(0, tiny_vm_create(&last, 1));
	ASSERT_CALL(0, open_event(&last.vcpu[0], 0, 0));
	tiny_vm_destroy(&last);
	ASSERT_EQ(0, tiny_vm_create_apics(&self->borrower, 1));
	tiny_vm_destroy(&self->borrower);
}

/* Software events do not need the PMU, so a borrower may start. */
TEST_F(mediated, software_first)
{
	ASSERT_CALL(0, open_switches(self->v, 0));
	ASSERT_CALL(0, id_call(self->v, KVM_PERF_OP_ENABLE, 0));
	ASSERT_EQ(0, tiny_vm_create_apics(&self->borrower, 1));
	EXPECT_CALL(0, id_call(self->v, KVM_PERF_OP_READ, 0));
	EXPECT_EQ(KVM_PERF_STATE_COUNTING, event_at(&self->vm, 0)->state);
	tiny_vm_destroy(&self->borrower);
}

enum { COUNTING, OFF, SWITCHES, NEW };	/* ids */

static void open_three(struct __test_metadata *_metadata, struct tiny_vcpu *v)
{
	ASSERT_CALL(0, open_event(v, COUNTING, 0));
	ASSERT_CALL(0, id_call(v, KVM_PERF_OP_ENABLE, COUNTING));
	ASSERT_CALL(0, open_event(v, OFF, 0));
	ASSERT_CALL(0, open_switches(v, SWITCHES));
	ASSERT_CALL(0, id_call(v, KVM_PERF_OP_ENABLE, SWITCHES));
	ASSERT_EQ(0, tiny_spin(v, TURNS));
	ASSERT_CALL(0, id_call(v, KVM_PERF_OP_READ, COUNTING));
}

/* Hardware events neither count nor begin to, and their times say so. */
static void check_without(struct __test_metadata *_metadata, struct tiny_vcpu *v)
{
	const struct guest_perf_event *e = event_at(v->vm, COUNTING);
	struct guest_perf_event told = *e;
	uint64_t begun, missed;

	/* The guest is told by the next call, not in the middle of its code. */
	EXPECT_EQ(KVM_PERF_STATE_COUNTING, told.state);
	EXPECT_CALL(0, id_call(v, KVM_PERF_OP_READ, COUNTING));
	told = *e;
	begun = now_ns();
	EXPECT_EQ(KVM_PERF_STATE_ERROR, told.state);
	ASSERT_EQ(0, tiny_spin(v, TURNS));
	EXPECT_CALL(0, id_call(v, KVM_PERF_OP_READ, COUNTING));
	EXPECT_EQ(KVM_PERF_STATE_ERROR, e->state);
	EXPECT_EQ(told.count, e->count);
	EXPECT_EQ(told.time_running, e->time_running);
	missed = e->time_enabled - told.time_enabled;
	EXPECT_LT(measured_least(TURNS) / 16, missed);
	/* perf may have known a time that was a tick old */
	EXPECT_GT(now_ns() - begun + 10000000, missed);
	EXPECT_CALL(-KVM_EBUSY, id_call(v, KVM_PERF_OP_ENABLE, OFF));
	EXPECT_CALL(-KVM_EOPNOTSUPP, open_event(v, NEW, 0));
	EXPECT_CALL(0, id_call(v, KVM_PERF_OP_READ, SWITCHES));
	EXPECT_EQ(KVM_PERF_STATE_COUNTING, event_at(v->vm, SWITCHES)->state);
}

/* With yield=1 the borrower starts. The guest's events come back, and the next call tells so. */
TEST_F(mediated, yield)
{
	const struct guest_perf_event *e = event_at(&self->vm, COUNTING);
	struct guest_perf_event told;
	int i;

	ASSERT_EQ(0, tiny_param_write("yield", "1"));
	open_three(_metadata, self->v);
	for (i = 0; i < 3; i++) {
		told = *e;
		ASSERT_EQ(0, tiny_vm_create_apics(&self->borrower, 1));
		EXPECT_LE(told.count, e->count);
		check_without(_metadata, self->v);
		told = *e;
		tiny_vm_destroy(&self->borrower);
		EXPECT_EQ(KVM_PERF_STATE_ERROR, e->state);
		EXPECT_EQ(told.count, e->count);
		EXPECT_TRUE(still_counts(self->v, COUNTING, TURNS));
		EXPECT_EQ(KVM_PERF_STATE_COUNTING, e->state);
		EXPECT_LT(e->time_running, e->time_enabled);
		EXPECT_TRUE(counts(self->v, OFF));
		EXPECT_CALL(0, open_event(self->v, NEW, 0));
		EXPECT_TRUE(counts(self->v, NEW));
		EXPECT_CALL(0, id_call(self->v, KVM_PERF_OP_CLOSE, NEW));
	}
}

/* There are two borrowers, and the events are back when the last one has ended. */
TEST_F(mediated, yield_to_two)
{
	const struct guest_perf_event *e = event_at(&self->vm, COUNTING);
	struct tiny_vm second;

	ASSERT_EQ(0, tiny_param_write("yield", "1"));
	open_three(_metadata, self->v);
	ASSERT_EQ(0, tiny_vm_create_apics(&self->borrower, 1));
	ASSERT_EQ(0, tiny_vm_create_apics(&second, 1));
	tiny_vm_destroy(&self->borrower);
	check_without(_metadata, self->v);
	/* what was taken comes back, whatever the parameter says by then */
	ASSERT_EQ(0, tiny_param_write("yield", "0"));
	tiny_vm_destroy(&second);
	EXPECT_TRUE(still_counts(self->v, COUNTING, TURNS));
	EXPECT_EQ(KVM_PERF_STATE_COUNTING, e->state);
	EXPECT_EQ(-EBUSY, tiny_vm_create_apics(&self->borrower, 1));
}

/* The host's own perf keeps the borrower from starting: the guest gets its events back. */
TEST_F(mediated, yield_in_vain)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_HARDWARE, .size = sizeof(attr),
		.config = PERF_COUNT_HW_CPU_CYCLES, .disabled = 1,
	};
	int fd;

	ASSERT_EQ(0, tiny_param_write("yield", "1"));
	open_three(_metadata, self->v);
	fd = syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
	ASSERT_LE(0, fd);
	EXPECT_EQ(-EBUSY, tiny_vm_create_apics(&self->borrower, 1));
	EXPECT_TRUE(still_counts(self->v, COUNTING, TURNS));
	EXPECT_TRUE(counts(self->v, OFF));
	close(fd);
}

/* The vCPU moves to another thread, and ends, while its events are taken. */
TEST_F(mediated, yield_and_move)
{
	const struct guest_perf_event *e = event_at(&self->vm, COUNTING);
	uint64_t begun, before;

	ASSERT_EQ(0, tiny_param_write("yield", "1"));
	open_three(_metadata, self->v);
	ASSERT_EQ(0, tiny_vm_create_apics(&self->borrower, 1));
	begun = now_ns();
	before = e->time_enabled;
	ASSERT_CALL(0, tiny_call_here(self->v, KVM_PERF_OP_READ, COUNTING, 0));
	EXPECT_EQ(KVM_PERF_STATE_ERROR, e->state);
	EXPECT_GT(now_ns() - begun + 10000000, e->time_enabled - before);
	EXPECT_CALL(0, id_call(self->v, KVM_PERF_OP_CLOSE, OFF));
	tiny_vm_destroy(&self->borrower);
	EXPECT_TRUE(still_counts(self->v, COUNTING, TURNS));
}

TEST_HARNESS_MAIN
