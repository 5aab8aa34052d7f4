// SPDX-License-Identifier: GPL-2.0
/*
 * KVM's log of dirty pages, by which userspace migrates a VM, has each page that the host
 * wrote to for an event.
 */

#include "tiny_test.h"
#include <sys/ioctl.h>

#define TURNS		1000000ull
#define PERIOD		(TURNS * TINY_SPIN_INSNS / 2)

FIXTURE(dirty) {
	struct tiny_vm vm;
	struct tiny_vcpu *v;
	uint64_t log[TINY_MEM / TINY_PAGE / 64];
};

/* Begins the log anew, or ends it. */
static int log_keep(struct tiny_vm *vm, bool keep)
{
	return tiny_slot_set(vm, 0, 0, TINY_MEM, vm->mem, keep ? KVM_MEM_LOG_DIRTY_PAGES : 0);
}

FIXTURE_SETUP(dirty)
{
	ASSERT_EQ(0, tiny_vm_create(&self->vm, 1));
	self->v = &self->vm.vcpu[0];
	measured_choose(self->v);
	ASSERT_CALL(0, tiny_call_gpa(self->v, KVM_PERF_OP_ATTACH, AT_HEAD(0), 0));
	ASSERT_CALL(0, open_event(self->v, 0, 0));
	ASSERT_CALL(0, id_call(self->v, KVM_PERF_OP_ENABLE, 0));
}

FIXTURE_TEARDOWN(dirty)
{
	tiny_vm_destroy(&self->vm);
}

/* Reads the log, which begins anew. */
static int log_read(FIXTURE_DATA(dirty) *self)
{
	struct kvm_dirty_log log = { .dirty_bitmap = self->log };

	memset(self->log, 0, sizeof(self->log));
	return ioctl(self->vm.fd, KVM_GET_DIRTY_LOG, &log);
}

static bool is_dirty(FIXTURE_DATA(dirty) *self, uint64_t gpa)
{
	uint64_t gfn = gpa / TINY_PAGE;

	return self->log[gfn / 64] >> gfn % 64 & 1;
}

TEST_F(dirty, calls)
{
	ASSERT_EQ(0, log_keep(&self->vm, true));
	ASSERT_EQ(0, tiny_spin(self->v, 1));
	ASSERT_EQ(0, log_read(self));
	ASSERT_EQ(0, tiny_spin(self->v, 1));
	ASSERT_EQ(0, log_read(self));
	EXPECT_FALSE(is_dirty(self, AT_EVENT(0)));
	EXPECT_FALSE(is_dirty(self, AT_HEAD(0)));

	EXPECT_CALL(0, id_call(self->v, KVM_PERF_OP_READ, 0));
	ASSERT_EQ(0, log_read(self));
	EXPECT_TRUE(is_dirty(self, AT_EVENT(0)));
	EXPECT_FALSE(is_dirty(self, AT_EVENT(1)));

	EXPECT_CALL(0, open_event(self->v, 1, 0));
	ASSERT_EQ(0, log_read(self));
	EXPECT_TRUE(is_dirty(self, AT_EVENT(1)));

	EXPECT_CALL(0, id_call(self->v, KVM_PERF_OP_CLOSE, 0));
	ASSERT_EQ(0, log_read(self));
	EXPECT_TRUE(is_dirty(self, AT_EVENT(0)));
}

/* A guest that attaches while a log is kept, as after a load of its module. */
TEST_F(dirty, attached_later)
{
	ASSERT_EQ(0, log_keep(&self->vm, true));
	EXPECT_CALL(0, tiny_call(self->v, KVM_PERF_OP_DETACH, 0, 0, 0));
	EXPECT_CALL(0, tiny_call_gpa(self->v, KVM_PERF_OP_ATTACH, AT_HEAD(0), 0));
	EXPECT_CALL(0, open_event(self->v, 0, 0));
	ASSERT_EQ(0, log_read(self));
	EXPECT_CALL(0, id_call(self->v, KVM_PERF_OP_READ, 0));
	ASSERT_EQ(0, log_read(self));
	EXPECT_TRUE(is_dirty(self, AT_EVENT(0)));
	EXPECT_TRUE(is_dirty(self, AT_HEAD(0)));
}

/* The guest writes the operations, and the host their results. */
TEST_F(dirty, batch)
{
	struct guest_perf_op *op = batch_at(&self->vm);

	*op = (struct guest_perf_op){ .op = KVM_PERF_OP_READ, .id = 0, .result = 1 };
	ASSERT_EQ(0, log_keep(&self->vm, true));
	EXPECT_CALL(1, tiny_call_gpa(self->v, KVM_PERF_OP_BATCH, AT_BATCH, 1));
	EXPECT_EQ(0, op->result);
	ASSERT_EQ(0, log_read(self));
	EXPECT_TRUE(is_dirty(self, AT_BATCH));
	EXPECT_TRUE(is_dirty(self, AT_EVENT(0)));
}

/* Also if the log begins after the guest's last call. */
TEST_F(dirty, overflow)
{
	NEED_PMU();
	EXPECT_CALL(0, open_event(self->v, 1, PERIOD));
	EXPECT_CALL(0, id_call(self->v, KVM_PERF_OP_ENABLE, 1));
	ASSERT_EQ(0, log_keep(&self->vm, true));
	ASSERT_EQ(0, tiny_spin(self->v, TURNS / 4));
	ASSERT_EQ(0, log_read(self));
	EXPECT_FALSE(is_dirty(self, AT_EVENT(1)));
	ASSERT_EQ(0, event_at(&self->vm, 1)->overflows);

	ASSERT_EQ(0, tiny_spin(self->v, TURNS));
	ASSERT_LT(0, event_at(&self->vm, 1)->overflows);
	ASSERT_EQ(0, log_read(self));
	EXPECT_TRUE(is_dirty(self, AT_EVENT(1)));
	EXPECT_TRUE(is_dirty(self, AT_HEAD(0)));
}

TEST_F(dirty, no_log)
{
	ASSERT_EQ(0, log_keep(&self->vm, true));
	EXPECT_CALL(0, id_call(self->v, KVM_PERF_OP_READ, 0));
	ASSERT_EQ(0, log_keep(&self->vm, false));
	EXPECT_CALL(0, id_call(self->v, KVM_PERF_OP_READ, 0));
	EXPECT_EQ(-1, log_read(self));
}

TEST_HARNESS_MAIN
