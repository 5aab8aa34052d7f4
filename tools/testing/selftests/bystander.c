// SPDX-License-Identifier: GPL-2.0
/*
 * What a VM that does its worst costs others: the interrupts of a CPU on which it never
 * runs.
 */

#include "tiny_test.h"
#include <stdio.h>
#include <string.h>

#define PAIRS	(KVM_PERF_BATCH_MAX / 2)
#define BATCHES	8
/*
 * Interrupts of the other CPU that have other reasons, such as a wake-up: up to 3. Text that
 * is patched for each pair costs at least 256.
 */
#define OTHERS	16

FIXTURE(bystander) {
	struct tiny_vm vm;
	struct tiny_vcpu *v;
	struct tiny_totals before;
	long calls;
};

FIXTURE_VARIANT(bystander) {
	uint32_t type;
	uint64_t config;
};

FIXTURE_VARIANT_ADD(bystander, cycles) {
	.type = KVM_PERF_TYPE_HARDWARE, .config = 0,
};

FIXTURE_VARIANT_ADD(bystander, cpu_clock) {
	.type = KVM_PERF_TYPE_SOFTWARE, .config = 0,
};

FIXTURE_VARIANT_ADD(bystander, page_faults) {
	.type = KVM_PERF_TYPE_SOFTWARE, .config = 2,
};

FIXTURE_VARIANT_ADD(bystander, context_switches) {
	.type = KVM_PERF_TYPE_SOFTWARE, .config = 3,
};

FIXTURE_VARIANT_ADD(bystander, cpu_migrations) {
	.type = KVM_PERF_TYPE_SOFTWARE, .config = 4,
};

/* A batch that opens and closes an event again and again. */
static void write_pairs(struct tiny_vm *vm, const struct guest_perf_attr *attr)
{
	struct guest_perf_op *op = batch_at(vm);
	int i;

	open_put(vm, 0, AT_EVENT(0), attr);
	memset(op, 0, 2 * PAIRS * sizeof(*op));
	for (i = 0; i < 2 * PAIRS; i += 2) {
		op[i].op = KVM_PERF_OP_OPEN;
		op[i].arg = AT_PARAM;
		op[i + 1].op = KVM_PERF_OP_CLOSE;
	}
}

static bool opened_all(struct tiny_vm *vm)
{
	const struct guest_perf_op *op = batch_at(vm);
	int i;

	for (i = 0; i < 2 * PAIRS; i++)
		if (op[i].result)
			return false;
	return true;
}

FIXTURE_SETUP(bystander)
{
	struct guest_perf_attr attr = {
		.type = variant->type, .config = variant->config,
		.size = KVM_PERF_ATTR_SIZE_VER0,
	};

	self->calls = tiny_interrupts_of(1, "CAL:");
	if (self->calls < 0)
		SKIP(return, "no second CPU");
	ASSERT_EQ(0, tiny_stay_on(0));
	VM_BEGIN(1);
	if (by_clock && variant->type == KVM_PERF_TYPE_HARDWARE)
		SKIP(return, "the host has no hardware PMU");
	write_pairs(&self->vm, &attr);
	/* the first one may cost more */
	ASSERT_CALL(2 * PAIRS, tiny_call_gpa(self->v, KVM_PERF_OP_BATCH, AT_BATCH, 2 * PAIRS));
	ASSERT_TRUE(opened_all(&self->vm));
	self->calls = tiny_interrupts_of(1, "CAL:");
}

VM_END(bystander)

TEST_F(bystander, interrupts)
{
	int i;

	for (i = 0; i < BATCHES; i++)
		ASSERT_CALL(2 * PAIRS, tiny_call_gpa(self->v, KVM_PERF_OP_BATCH, AT_BATCH,
						     2 * PAIRS));
	TH_LOG("%d OPENs and CLOSEs, %ld interrupts of the other CPU", BATCHES * PAIRS,
	       tiny_interrupts_of(1, "CAL:") - self->calls);
	EXPECT_GE(OTHERS, tiny_interrupts_of(1, "CAL:") - self->calls);
}

TEST_HARNESS_MAIN
