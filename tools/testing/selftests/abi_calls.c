// SPDX-License-Identifier: GPL-2.0
/*
 * Each bad argument of every call but OPEN, one at a time: the call returns the exact
 * error, changes nothing, leaves nothing behind, and another event goes on counting.
 */

#include "tiny_test.h"

#define NEIGHBOUR	60	/* counts, on vCPU 0 */
#define STOPPED		61	/* open, on vCPU 0 */
#define OTHERS		62	/* open, on vCPU 1 */
#define NOBODYS		63
#define TURNS		1000ull

static int64_t setup(struct tiny_vm *vm, struct tiny_totals *opened)
{
	int64_t ret;

	memset(tiny_ptr(vm, TINY_DATA), CANARY, TINY_DATA_SIZE);
	ret = open_event(&vm->vcpu[0], NEIGHBOUR, 0);
	if (!ret)
		ret = open_event(&vm->vcpu[0], STOPPED, 0);
	if (!ret)
		ret = open_event(&vm->vcpu[1], OTHERS, 0);
	if (!ret)
		ret = id_call(&vm->vcpu[0], KVM_PERF_OP_ENABLE, NEIGHBOUR);
	return ret ?: tiny_totals_read(opened);
}

/* ------------------------------------------------------ one call, one error */

FIXTURE(call) {
	struct tiny_vm vm;
	struct tiny_vcpu *v;
	struct tiny_totals before, opened;
};

FIXTURE_VARIANT(call) {
	uint32_t op;
	uint32_t a, b, c;
	bool user;		/* made at CPL 3 */
	int error;
};

#define BAD(name, ...) \
	FIXTURE_VARIANT_ADD(call, name) { __VA_ARGS__ }
#define BAD_GPA(name, what, gpa, n, err) \
	FIXTURE_VARIANT_ADD(call, name) { \
		.op = what, .a = (uint32_t)(gpa), \
		.b = (uint64_t)(gpa) >> 32, .c = n, .error = err }

#define OP(x) .op = KVM_PERF_OP_##x

BAD(op_0, .op = 0, .error = -KVM_ENOSYS);
BAD(op_last, .op = ~0u, .error = -KVM_ENOSYS);
BAD(op_next, .op = KVM_PERF_OP_RESET + 1, .error = -KVM_ENOSYS);

BAD(close_unknown, OP(CLOSE), .a = NOBODYS, .error = -KVM_ENOENT);
BAD(enable_unknown, OP(ENABLE), .a = NOBODYS, .error = -KVM_ENOENT);
BAD(disable_unknown, OP(DISABLE), .a = NOBODYS, .error = -KVM_ENOENT);
BAD(read_unknown, OP(READ), .a = NOBODYS, .error = -KVM_ENOENT);
BAD(close_negative, OP(CLOSE), .a = -1, .error = -KVM_ENOENT);
BAD(enable_negative, OP(ENABLE), .a = -1, .error = -KVM_ENOENT);
BAD(disable_negative, OP(DISABLE), .a = INT32_MIN, .error = -KVM_ENOENT);
BAD(read_negative, OP(READ), .a = INT32_MIN, .error = -KVM_ENOENT);
BAD(read_largest, OP(READ), .a = INT32_MAX, .error = -KVM_ENOENT);

BAD(close_others, OP(CLOSE), .a = OTHERS, .error = -KVM_EPERM);
BAD(enable_others, OP(ENABLE), .a = OTHERS, .error = -KVM_EPERM);
BAD(disable_others, OP(DISABLE), .a = OTHERS, .error = -KVM_EPERM);
BAD(read_others, OP(READ), .a = OTHERS, .error = -KVM_EPERM);

BAD(user_probe, OP(PROBE), .user = true, .error = -KVM_EPERM);
BAD(user_reset, OP(RESET), .user = true, .error = -KVM_EPERM);

BAD_GPA(attach_odd, KVM_PERF_OP_ATTACH, AT_HEAD(0) + 1, 0, -KVM_EINVAL);
BAD_GPA(attach_misaligned, KVM_PERF_OP_ATTACH, AT_HEAD(0) + 64, 0, -KVM_EINVAL);
BAD_GPA(attach_half, KVM_PERF_OP_ATTACH, AT_HEAD(0) + 2048, 0, -KVM_EINVAL);
BAD_GPA(attach_hole, KVM_PERF_OP_ATTACH, TINY_HOLE, 0, -KVM_EFAULT);
BAD_GPA(attach_rom, KVM_PERF_OP_ATTACH, TINY_ROM, 0, -KVM_EFAULT);
BAD_GPA(attach_past_memory, KVM_PERF_OP_ATTACH, 1ull << 40, 0, -KVM_EFAULT);
BAD_GPA(attach_past_any_cpu, KVM_PERF_OP_ATTACH, ~0ull & ~4095ull, 0,
	-KVM_EFAULT);

BAD_GPA(batch_65, KVM_PERF_OP_BATCH, AT_BATCH, KVM_PERF_BATCH_MAX + 1,
	-KVM_E2BIG);
BAD_GPA(batch_crosses, KVM_PERF_OP_BATCH, AT_BATCH + TINY_PAGE - 32, 2,
	-KVM_EINVAL);
BAD_GPA(batch_hole, KVM_PERF_OP_BATCH, TINY_HOLE, 1, -KVM_EFAULT);
BAD_GPA(batch_rom, KVM_PERF_OP_BATCH, TINY_ROM, 1, -KVM_EFAULT);
BAD_GPA(batch_past_memory, KVM_PERF_OP_BATCH, 1ull << 40, 1, -KVM_EFAULT);
BAD_GPA(batch_past_any_cpu, KVM_PERF_OP_BATCH, ~0ull & ~4095ull, 1,
	-KVM_EFAULT);

FIXTURE_SETUP(call)
{
	VM_BEGIN(2);
	ASSERT_CALL(0, setup(&self->vm, &self->opened));
}

VM_END(call)

/* Puts a batch that would do harm wherever the host may look for one. */
static void batch_put(struct tiny_vm *vm, uint64_t at)
{
	const struct guest_perf_op op = {
		.op = KVM_PERF_OP_CLOSE, .id = NEIGHBOUR, .result = 12345,
	};

	if (at + sizeof(op) <= TINY_MEM ||
	    (at >= TINY_ROM && at + sizeof(op) <= TINY_ROM + TINY_ROM_SIZE))
		memcpy(tiny_ptr(vm, at), &op, sizeof(op));
}

TEST_F(call, refused)
{
	struct tiny_totals after;
	int64_t ret;

	if (variant->op == KVM_PERF_OP_BATCH)
		batch_put(&self->vm, variant->a | (uint64_t)variant->b << 32);
	data_keep(&self->vm);

	ret = variant->user ?
	      tiny_call_user(self->v, variant->op, variant->a, variant->b,
			     variant->c) :
	      tiny_call(self->v, variant->op, variant->a, variant->b, variant->c);
	EXPECT_CALL(variant->error, ret);
	EXPECT_TRUE(data_is_kept(&self->vm));
	ASSERT_EQ(0, tiny_totals_read(&after));
	EXPECT_EQ(0, memcmp(&self->opened, &after, sizeof(after)));
	EXPECT_TRUE(still_counts(self->v, NEIGHBOUR, TURNS));

	/* STOPPED still does not count, and vCPU 1 still owns OTHERS */
	EXPECT_CALL(0, id_call(self->v, KVM_PERF_OP_READ, STOPPED));
	EXPECT_EQ(0, event_at(&self->vm, STOPPED)->count);
	EXPECT_EQ(KVM_PERF_STATE_OFF, event_at(&self->vm, STOPPED)->state);
	EXPECT_CALL(0, id_call(&self->vm.vcpu[1], KVM_PERF_OP_READ, OTHERS));
}

/* ------------------------------------------------ one operation of a batch */

FIXTURE(op) {
	struct tiny_vm vm;
	struct tiny_vcpu *v;
	struct tiny_totals before, opened;
};

FIXTURE_VARIANT(op) {
	struct guest_perf_op op;
	int error;
};

#define BAD_OP(name, what, num, err, ...) \
	FIXTURE_VARIANT_ADD(op, name) { \
		.op = { .op = what, .id = num, __VA_ARGS__ }, .error = err }

BAD_OP(zero, 0, STOPPED, -KVM_ENOSYS);
BAD_OP(probe, KVM_PERF_OP_PROBE, STOPPED, -KVM_ENOSYS);
BAD_OP(attach, KVM_PERF_OP_ATTACH, STOPPED, -KVM_ENOSYS, .arg = AT_HEAD(0));
BAD_OP(detach, KVM_PERF_OP_DETACH, STOPPED, -KVM_ENOSYS);
BAD_OP(batch, KVM_PERF_OP_BATCH, STOPPED, -KVM_ENOSYS, .arg = AT_BATCH);
BAD_OP(reset, KVM_PERF_OP_RESET, STOPPED, -KVM_ENOSYS);
BAD_OP(next, KVM_PERF_OP_RESET + 1, STOPPED, -KVM_ENOSYS);
BAD_OP(last, ~0u, STOPPED, -KVM_ENOSYS);
BAD_OP(unknown_close, KVM_PERF_OP_CLOSE, NOBODYS, -KVM_ENOENT);
BAD_OP(unknown_enable, KVM_PERF_OP_ENABLE, NOBODYS, -KVM_ENOENT);
BAD_OP(unknown_disable, KVM_PERF_OP_DISABLE, NOBODYS, -KVM_ENOENT);
BAD_OP(unknown_read, KVM_PERF_OP_READ, NOBODYS, -KVM_ENOENT);
BAD_OP(negative_read, KVM_PERF_OP_READ, -1, -KVM_ENOENT);
BAD_OP(unknown_read_many, KVM_PERF_OP_READ, NOBODYS, -KVM_ENOENT, .arg = 1);
BAD_OP(others_read_many, KVM_PERF_OP_READ, OTHERS, -KVM_EPERM, .arg = 1);
BAD_OP(negative_read_many, KVM_PERF_OP_READ, -1, -KVM_ENOENT, .arg = 1ull << 62);
BAD_OP(largest_read_many, KVM_PERF_OP_READ, INT32_MAX, -KVM_ENOENT, .arg = ~0ull);
BAD_OP(others_close, KVM_PERF_OP_CLOSE, OTHERS, -KVM_EPERM);
BAD_OP(others_enable, KVM_PERF_OP_ENABLE, OTHERS, -KVM_EPERM);
BAD_OP(reserved_close, KVM_PERF_OP_CLOSE, STOPPED, -KVM_EINVAL, .reserved = 1);
BAD_OP(reserved2_close, KVM_PERF_OP_CLOSE, STOPPED, -KVM_EINVAL,
       .reserved2 = 1ull << 63);
BAD_OP(open_hole, KVM_PERF_OP_OPEN, NOBODYS, -KVM_EFAULT, .arg = TINY_HOLE);
BAD_OP(open_odd, KVM_PERF_OP_OPEN, NOBODYS, -KVM_EINVAL, .arg = AT_PARAM + 1);
BAD_OP(open_past_any_cpu, KVM_PERF_OP_OPEN, NOBODYS, -KVM_EFAULT,
       .arg = ~0ull & ~4095ull);

FIXTURE_SETUP(op)
{
	VM_BEGIN(2);
	ASSERT_CALL(0, setup(&self->vm, &self->opened));
}

VM_END(op)

/* The bad operation is between two good ones, which are done. */
TEST_F(op, refused)
{
	struct guest_perf_op *op = batch_at(&self->vm);
	struct guest_perf_op want;
	struct tiny_totals after;
	uint8_t *head = tiny_ptr(&self->vm, AT_HEAD(0));
	int i;

	memset(op, 0, 3 * sizeof(*op));
	op[0].op = op[2].op = KVM_PERF_OP_READ;
	op[0].id = op[2].id = NEIGHBOUR;
	op[0].result = op[2].result = 12345;
	op[1] = variant->op;
	op[1].result = 12345;
	want = op[1];
	want.result = variant->error;

	EXPECT_CALL(3, tiny_call_gpa(self->v, KVM_PERF_OP_BATCH, AT_BATCH, 3));
	EXPECT_EQ(0, op[0].result);
	EXPECT_EQ(variant->error, op[1].result);
	EXPECT_EQ(0, op[2].result);
	/* the host writes nothing of an operation but its result */
	EXPECT_EQ(0, memcmp(&want, &op[1], sizeof(want)));
	ASSERT_EQ(0, tiny_totals_read(&after));
	EXPECT_EQ(0, memcmp(&self->opened, &after, sizeof(after)));
	EXPECT_TRUE(still_counts(self->v, NEIGHBOUR, TURNS));
	EXPECT_CALL(0, id_call(self->v, KVM_PERF_OP_READ, STOPPED));
	EXPECT_EQ(0, event_at(&self->vm, STOPPED)->count);
	EXPECT_EQ(KVM_PERF_STATE_OFF, event_at(&self->vm, STOPPED)->state);
	EXPECT_CALL(0, id_call(&self->vm.vcpu[1], KVM_PERF_OP_READ, OTHERS));
	for (i = 0; i < TINY_PAGE; i++)
		ASSERT_EQ(CANARY, head[i]);
}

/* Memory that KVM itself has put into the VM: on Intel the APIC's page is such a slot. */
TEST(apic_page)
{
	struct tiny_totals before;
	struct tiny_vm vm;

	ASSERT_EQ(0, tiny_totals_read(&before));
	ASSERT_EQ(0, tiny_vm_create_apics(&vm, 1));
	EXPECT_CALL(-KVM_EFAULT, tiny_call_gpa(&vm.vcpu[0], KVM_PERF_OP_ATTACH, 0xfee00000, 0));
	EXPECT_CALL(-KVM_EFAULT, tiny_call_gpa(&vm.vcpu[0], KVM_PERF_OP_BATCH, 0xfee00000, 1));
	EXPECT_CALL(-KVM_EFAULT, tiny_call_gpa(&vm.vcpu[0], KVM_PERF_OP_OPEN, 0xfee00000, 0));
	tiny_vm_destroy(&vm);
	EXPECT_TRUE(tiny_totals_wait(&before));
}

/* Its work is the guest's. */
TEST(guest_of_guest)
{
	struct guest_perf_event *e;
	struct tiny_vcpu *v;
	struct tiny_vm vm;

	ASSERT_EQ(0, tiny_vm_create(&vm, 1));
	v = &vm.vcpu[0];
	measured_choose(v);
	e = event_at(&vm, NEIGHBOUR);
	ASSERT_CALL(0, open_event(v, NEIGHBOUR, 0));
	ASSERT_CALL(0, id_call(v, KVM_PERF_OP_ENABLE, NEIGHBOUR));
	if (tiny_vcpu_nested(v))
		SKIP(goto out, "this KVM takes no state of SVM's");
	EXPECT_CALL(0, tiny_spin(v, TURNS));
	tiny_vcpu_mode64(v);
	ASSERT_CALL(0, id_call(v, KVM_PERF_OP_READ, NEIGHBOUR));
	EXPECT_TRUE(counted(e->count, TURNS));
out:
	tiny_vm_destroy(&vm);
}

TEST_HARNESS_MAIN
