// SPDX-License-Identifier: GPL-2.0
/*
 * Batches: many operations in one call. Bad batches are in abi_calls.c.
 */

#include "tiny_test.h"

#define TURNS		1000000ull

FIXTURE(batch) {
	struct tiny_vm vm;
	struct tiny_vcpu *v;
	struct tiny_totals before;
};

FIXTURE_SETUP(batch)
{
	VM_BEGIN(1);
}

VM_END(batch)

static void op_set(struct guest_perf_op *op, uint32_t what, int id, uint64_t arg)
{
	*op = (struct guest_perf_op){
		.op = what, .id = id, .arg = arg, .result = 12345,
	};
}

/* A batch does in one call what single calls do one by one. */
TEST_F(batch, as_calls)
{
	struct guest_perf_attr attr = attr_measured(0);
	struct guest_perf_op *op = batch_at(&self->vm);
	struct guest_perf_event *e = event_at(&self->vm, 4);
	uint64_t count;
	int i;

	open_put(&self->vm, 4, AT_EVENT(4), &attr);
	op_set(&op[0], KVM_PERF_OP_OPEN, 4, AT_PARAM);
	op_set(&op[1], KVM_PERF_OP_ENABLE, 4, 0);
	ASSERT_CALL(2, tiny_call_gpa(self->v, KVM_PERF_OP_BATCH, AT_BATCH, 2));
	EXPECT_EQ(0, op[0].result);
	EXPECT_EQ(0, op[1].result);
	ASSERT_EQ(0, tiny_spin(self->v, TURNS));

	op_set(&op[0], KVM_PERF_OP_DISABLE, 4, 0);
	op_set(&op[1], KVM_PERF_OP_READ, 4, 0);
	ASSERT_CALL(2, tiny_call_gpa(self->v, KVM_PERF_OP_BATCH, AT_BATCH, 2));
	EXPECT_EQ(0, op[0].result);
	EXPECT_EQ(0, op[1].result);
	count = e->count;
	EXPECT_TRUE(counted(count, TURNS));

	op_set(&op[0], KVM_PERF_OP_READ, 4, 0);
	op_set(&op[1], KVM_PERF_OP_CLOSE, 4, 0);
	op_set(&op[2], KVM_PERF_OP_READ, 4, 0);
	op_set(&op[3], KVM_PERF_OP_OPEN, 4, AT_PARAM);
	ASSERT_CALL(4, tiny_call_gpa(self->v, KVM_PERF_OP_BATCH, AT_BATCH, 4));
	EXPECT_EQ(0, op[0].result);
	EXPECT_EQ(0, op[1].result);
	EXPECT_EQ(-KVM_ENOENT, op[2].result);
	EXPECT_EQ(0, op[3].result);
	for (i = 0; i < 4; i++)
		EXPECT_EQ(4, op[i].id);
	/* the host does not touch what lies behind the batch */
	EXPECT_EQ(0, op[4].result);
}

/*
 * One operation reads the events that it names, and no other. An id without an event
 * does not stop the rest from being read.
 */
TEST_F(batch, read_many)
{
	static const int32_t ids[] = { 4, 5, 8, 67 };
	struct guest_perf_op *op = batch_at(&self->vm);
	uint64_t count[4];
	int i;

	for (i = 0; i < 4; i++) {
		ASSERT_CALL(0, open_event(self->v, ids[i], 0));
		ASSERT_CALL(0, id_call(self->v, KVM_PERF_OP_ENABLE, ids[i]));
	}
	ASSERT_EQ(0, tiny_spin(self->v, TURNS));
	for (i = 0; i < 4; i++)
		count[i] = event_at(&self->vm, ids[i])->count;

	op_set(&op[0], KVM_PERF_OP_READ, 4, 1 | 1 << 4 | 1ull << 63);
	ASSERT_CALL(1, tiny_call_gpa(self->v, KVM_PERF_OP_BATCH, AT_BATCH, 1));
	EXPECT_EQ(0, op[0].result);
	for (i = 0; i < 4; i++)
		EXPECT_EQ(ids[i] != 5, counted(event_at(&self->vm, ids[i])->count -
					       count[i], TURNS));
	EXPECT_EQ(count[1], event_at(&self->vm, 5)->count);

	ASSERT_EQ(0, tiny_spin(self->v, TURNS));
	for (i = 0; i < 4; i++)
		count[i] = event_at(&self->vm, ids[i])->count;
	op_set(&op[0], KVM_PERF_OP_READ, 4, ~0ull);
	ASSERT_CALL(1, tiny_call_gpa(self->v, KVM_PERF_OP_BATCH, AT_BATCH, 1));
	EXPECT_EQ(-KVM_ENOENT, op[0].result);
	for (i = 0; i < 4; i++)
		EXPECT_LE(measured_least(ids[i] == 5 ? 2 * TURNS : TURNS),
			  event_at(&self->vm, ids[i])->count - count[i]);
}

/* The whole of the longest batch is done in order, so the last operation wins. */
TEST_F(batch, longest)
{
	struct limits limits = limits_read(self->v);
	struct guest_perf_op *op = batch_at(&self->vm);
	struct guest_perf_event *e = event_at(&self->vm, 4);
	int i;

	ASSERT_CALL(0, open_event(self->v, 4, 0));
	for (i = 0; i < limits.batch; i++)
		op_set(&op[i], (i & 1) ? KVM_PERF_OP_ENABLE : KVM_PERF_OP_DISABLE,
		       4, 0);
	ASSERT_CALL(limits.batch, tiny_call_gpa(self->v, KVM_PERF_OP_BATCH,
						AT_BATCH, limits.batch));
	for (i = 0; i < limits.batch; i++)
		EXPECT_EQ(0, op[i].result);
	EXPECT_EQ((limits.batch & 1) ? KVM_PERF_STATE_OFF :
		  KVM_PERF_STATE_COUNTING, e->state);
}

/* A page with the head and a batch, as guests use it. */
TEST_F(batch, in_page)
{
	struct guest_perf_page *head = head_at(&self->vm, 0);
	uint64_t at = AT_HEAD(0) + offsetof(struct guest_perf_page, batch);

	ASSERT_CALL(0, tiny_call_gpa(self->v, KVM_PERF_OP_ATTACH, AT_HEAD(0), 0));
	ASSERT_CALL(0, open_event(self->v, 4, 0));
	op_set(&head->batch[0], KVM_PERF_OP_READ, 4, 0);
	ASSERT_CALL(1, tiny_call_gpa(self->v, KVM_PERF_OP_BATCH, at, 1));
	EXPECT_EQ(0, head->batch[0].result);
}

TEST_HARNESS_MAIN
