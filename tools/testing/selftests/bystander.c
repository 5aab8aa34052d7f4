// SPDX-License-Identifier: GPL-2.0
/*
 * What a VM that does its worst costs others: the interrupts of a CPU on which it never
 * runs.
 */

#include "tiny_test.h"
#include <sched.h>
#include <stdio.h>
#include <string.h>

#define PAIRS	(KVM_PERF_BATCH_MAX / 2)
#define BATCHES	8
/*
 * Interrupts of the other CPU that have other reasons, such as a wake-up: up to 3. Text that
 * is patched for each pair costs at least 256.
 */
#define OTHERS	16

/* Function call interrupts that a CPU has had, by which text is patched, too. */
static long calls_of(int cpu)
{
	char line[4096], *at;
	long calls = -1;
	FILE *f = fopen("/proc/interrupts", "re");

	while (f && fgets(line, sizeof(line), f)) {
		at = line + strspn(line, " ");
		if (strncmp(at, "CAL:", 4))
			continue;
		for (at += 4; cpu-- >= 0; )
			calls = strtol(at, &at, 10);
	}
	if (f)
		fclose(f);
	return calls;
}

static void stay_on(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	sched_setaffinity(0, sizeof(set), &set);
}

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

	self->calls = calls_of(1);
	if (self->calls < 0)
		SKIP(return, "no second CPU");
	stay_on(0);
	VM_BEGIN(1);
	if (by_clock && variant->type == KVM_PERF_TYPE_HARDWARE)
		SKIP(return, "the host has no hardware PMU");
	write_pairs(&self->vm, &attr);
	/* the first one may cost more */
	ASSERT_CALL(2 * PAIRS, tiny_call_gpa(self->v, KVM_PERF_OP_BATCH, AT_BATCH, 2 * PAIRS));
	ASSERT_TRUE(opened_all(&self->vm));
	self->calls = calls_of(1);
}

FIXTURE_TEARDOWN(bystander)
{
	tiny_vm_destroy(&self->vm);
	EXPECT_TRUE(tiny_totals_wait(&self->before));
}

TEST_F(bystander, interrupts)
{
	int i;

	for (i = 0; i < BATCHES; i++)
		ASSERT_CALL(2 * PAIRS, tiny_call_gpa(self->v, KVM_PERF_OP_BATCH, AT_BATCH,
						     2 * PAIRS));
	TH_LOG("%d OPENs and CLOSEs, %ld interrupts of the other CPU", BATCHES * PAIRS,
	       calls_of(1) - self->calls);
	EXPECT_GE(OTHERS, calls_of(1) - self->calls);
}

TEST_HARNESS_MAIN
