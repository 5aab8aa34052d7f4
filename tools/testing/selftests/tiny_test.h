/* SPDX-License-Identifier: GPL-2.0 */
#ifndef TINY_TEST_H
#define TINY_TEST_H

/*
 * What the tests on the tiny guest share: where they put things in its memory,
 * and the shortest ways to make, use and look at an event.
 */

#include "kselftest_harness.h"
#include "tiny_guest.h"

/* One page each, so that nothing is next to anything by chance. */
#define AT_PARAM	(TINY_DATA + 0 * TINY_PAGE)
#define AT_ATTR		(TINY_DATA + 1 * TINY_PAGE)
#define AT_BATCH	(TINY_DATA + 2 * TINY_PAGE)
#define AT_HEAD(cpu)	(TINY_DATA + (4 + (cpu)) * TINY_PAGE)
#define AT_EVENT(n)	(TINY_DATA + (8 + (n)) * TINY_PAGE)

#define COUNT_INSTRUCTIONS	1	/* PERF_COUNT_HW_INSTRUCTIONS */

/* What the guest's memory is filled with where nobody should write. */
#define CANARY		0x5a

static inline struct guest_perf_event *event_at(struct tiny_vm *vm, int n)
{
	return tiny_ptr(vm, AT_EVENT(n));
}

static inline struct guest_perf_page *head_at(struct tiny_vm *vm, int cpu)
{
	return tiny_ptr(vm, AT_HEAD(cpu));
}

static inline struct guest_perf_op *batch_at(struct tiny_vm *vm)
{
	return tiny_ptr(vm, AT_BATCH);
}

static inline struct guest_perf_attr attr_instructions(uint64_t period)
{
	return (struct guest_perf_attr){
		.type = KVM_PERF_TYPE_HARDWARE,
		.size = KVM_PERF_ATTR_SIZE_VER0,
		.config = COUNT_INSTRUCTIONS,
		.sample_period = period,
	};
}

/* Writes a param with id @id, memory AT_EVENT(id), and opens it. */
static inline int64_t open_attr(struct tiny_vcpu *v, int id, uint32_t event_size,
				const struct guest_perf_attr *attr)
{
	struct guest_perf_event_param param = {
		.attr_addr = AT_ATTR, .guest_event_addr = AT_EVENT(id),
		.id = id, .event_size = event_size,
	};

	memcpy(tiny_ptr(v->vm, AT_ATTR), attr, sizeof(*attr));
	memcpy(tiny_ptr(v->vm, AT_PARAM), &param, sizeof(param));
	return tiny_call_gpa(v, KVM_PERF_OP_OPEN, AT_PARAM, 0);
}

static inline int64_t open_event(struct tiny_vcpu *v, int id, uint64_t period)
{
	struct guest_perf_attr attr = attr_instructions(period);

	memset(event_at(v->vm, id), 0, sizeof(struct guest_perf_event));
	return open_attr(v, id, KVM_PERF_EVENT_SIZE, &attr);
}

static inline int64_t id_call(struct tiny_vcpu *v, uint32_t op, int32_t id)
{
	return tiny_call(v, op, id, 0, 0);
}

/*
 * Instructions counted around @turns of the loop: all of its own, and at most
 * TINY_AROUND more, plus what a real CPU adds for interrupts (10^-5).
 */
static inline bool counted(uint64_t count, uint64_t turns)
{
	uint64_t own = turns * TINY_SPIN_INSNS;

	return count >= own && count - own <= TINY_AROUND + own / 100000;
}

/* The host has a hardware PMU; without it most of the tests mean nothing. */
static inline bool host_has_pmu(struct tiny_vcpu *v)
{
	int64_t ret = open_event(v, 0, 0);

	if (!ret)
		id_call(v, KVM_PERF_OP_CLOSE, 0);
	return ret != -KVM_ENOENT;
}

#define ASSERT_CALL(want, call) ASSERT_EQ((int64_t)(want), (call))
#define EXPECT_CALL(want, call) EXPECT_EQ((int64_t)(want), (call))

/* One vCPU's limits, by CPUID. */
struct limits {
	uint32_t events, batch, counters, min_period;
};

static inline struct limits limits_read(struct tiny_vcpu *v)
{
	uint32_t r[4] = { 0 };

	tiny_cpuid(v, KVM_PERF_CPUID_LIMITS, r);
	return (struct limits){ r[0], r[1], r[2], r[3] };
}

#endif /* TINY_TEST_H */
