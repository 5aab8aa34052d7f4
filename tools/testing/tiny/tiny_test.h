/* SPDX-License-Identifier: GPL-2.0 */
#ifndef TINY_TEST_H
#define TINY_TEST_H

/*
 * What the tests with the tiny guest share: addresses in its memory, and short functions
 * to open, use and check an event.
 */

#include "kselftest_harness.h"
#include "need.h"
#include "tiny_guest.h"
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

/* Each on a page of its own, so that no two are neighbours by chance. */
#define AT_PARAM	(TINY_DATA + 0 * TINY_PAGE)
#define AT_ATTR		(TINY_DATA + 1 * TINY_PAGE)
#define AT_BATCH	(TINY_DATA + 2 * TINY_PAGE)
#define AT_HEAD(cpu)	(TINY_DATA + (4 + (cpu)) * TINY_PAGE)
#define AT_EVENT(n)	(TINY_DATA + (8 + (n)) * TINY_PAGE)

#define COUNT_INSTRUCTIONS	1	/* PERF_COUNT_HW_INSTRUCTIONS */

/* Fills the guest's memory where the host must not write. */
#define CANARY		0x5a

static void __attribute__((constructor)) need_kvm(void)
{
	need("host", !access("/dev/kvm", R_OK | W_OK), "no /dev/kvm");
#ifndef WITHOUT_MODULE
	need("host", !access("/sys/module/pvperf_host", F_OK), "pvperf_host is not loaded");
#endif
}

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

/* A copy of the guest's data, to see whether the host has written to it since. */
static uint8_t data_copy[TINY_DATA_SIZE];

static inline void data_keep(struct tiny_vm *vm)
{
	memcpy(data_copy, tiny_ptr(vm, TINY_DATA), TINY_DATA_SIZE);
}

static inline bool data_is_kept(struct tiny_vm *vm)
{
	return !memcmp(data_copy, tiny_ptr(vm, TINY_DATA), TINY_DATA_SIZE);
}

/*
 * True: the tests measure the CPU clock of the vCPU's thread, because the host has no
 * hardware PMU, or because $TINY_CLOCK is set. False: they measure instructions. The clock
 * is an event that counts, overflows and ends as well, but it also counts what the host
 * does for the vCPU, so the tests demand less of it.
 */
static bool by_clock;

/* For a test that proves nothing with the clock. */
#define NEED_PMU()	\
	do { if (by_clock) SKIP(return, "the host has no hardware PMU"); } while (0)

static inline struct guest_perf_attr attr_instructions(uint64_t period)
{
	return (struct guest_perf_attr){
		.type = KVM_PERF_TYPE_HARDWARE,
		.size = KVM_PERF_ATTR_SIZE_VER0,
		.config = COUNT_INSTRUCTIONS,
		.sample_period = period,
	};
}

static inline struct guest_perf_attr attr_measured(uint64_t period)
{
	struct guest_perf_attr attr = attr_instructions(period);

	if (by_clock) {
		attr.type = KVM_PERF_TYPE_SOFTWARE;
		attr.config = 0;	/* PERF_COUNT_SW_CPU_CLOCK, in ns */
	}
	return attr;
}

/* Writes what an OPEN with AT_PARAM wants, for an event @id at @gpa; returns the param. */
static inline struct guest_perf_event_param *
open_put(struct tiny_vm *vm, int id, uint64_t gpa, const struct guest_perf_attr *attr)
{
	struct guest_perf_event_param *param = tiny_ptr(vm, AT_PARAM);

	memcpy(tiny_ptr(vm, AT_ATTR), attr, sizeof(*attr));
	*param = (struct guest_perf_event_param){
		.attr_addr = AT_ATTR, .guest_event_addr = gpa,
		.id = id, .event_size = KVM_PERF_EVENT_SIZE,
	};
	return param;
}

/* Opens event @id at AT_EVENT(id). */
static inline int64_t open_attr(struct tiny_vcpu *v, int id, uint32_t event_size,
				const struct guest_perf_attr *attr)
{
	open_put(v->vm, id, AT_EVENT(id), attr)->event_size = event_size;
	return tiny_call_gpa(v, KVM_PERF_OP_OPEN, AT_PARAM, 0);
}

static inline int64_t open_event(struct tiny_vcpu *v, int id, uint64_t period)
{
	struct guest_perf_attr attr = attr_measured(period);

	memset(event_at(v->vm, id), 0, sizeof(struct guest_perf_event));
	return open_attr(v, id, KVM_PERF_EVENT_SIZE, &attr);
}

static inline int64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000ll + t.tv_nsec;
}

/* In 5 seconds, as who has the host alone gives it back within one. */
static inline bool opens_soon(struct tiny_vcpu *v, int id)
{
	int tries;

	for (tries = 0; tries < 50; tries++, usleep(100000))
		if (!open_event(v, id, 0))
			return true;
	return false;
}

static inline int64_t id_call(struct tiny_vcpu *v, uint32_t op, int32_t id)
{
	return tiny_call(v, op, id, 0, 0);
}

/* The vCPU's thread is in @code, which waits for .stop or for an interrupt. */
static inline bool starts(struct tiny_vcpu *v, enum tiny_code code)
{
	const struct kvm_regs regs = { 0 };
	int tries;

	v->cpu->stop = 0;
	v->cpu->started = 0;
	tiny_vcpu_start(v, code, &regs);
	for (tries = 0; tries < 1000 && !*(volatile uint64_t *)&v->cpu->started; tries++)
		usleep(1000);
	return tries < 1000;
}

/* The smallest count of @turns of the loop: a CPU may execute 16 instructions in a ns. */
static inline uint64_t measured_least(uint64_t turns)
{
	return turns * TINY_SPIN_INSNS / (by_clock ? 16 : 1);
}

/*
 * Instructions counted around @turns of the loop: all of its own, and at most
 * TINY_AROUND more, plus what a real CPU adds for interrupts (10^-5).
 */
static inline bool counted(uint64_t count, uint64_t turns)
{
	uint64_t own = measured_least(turns);

	return count >= own &&
	       (by_clock || count - own <= TINY_AROUND + own / 100000);
}

/* Event @id, which is enabled, counts @turns of the loop, and counts them right. */
static inline bool still_counts(struct tiny_vcpu *v, int id, uint64_t turns)
{
	const struct guest_perf_event *e = event_at(v->vm, id);
	uint64_t count;

	if (id_call(v, KVM_PERF_OP_READ, id))
		return false;
	count = e->count;
	if (tiny_spin(v, turns) || id_call(v, KVM_PERF_OP_READ, id))
		return false;
	return counted(e->count - count, turns);
}

/*
 * A counter overflows once a period. A timer never overflows early, but may be late, and
 * then skips periods.
 */
static inline bool overflowed(uint64_t overflows, uint64_t count, uint64_t period)
{
	if (by_clock)
		return overflows > 0 && overflows <= count / period + 1;
	return overflows == count / period;
}

/* Sets by_clock; each test calls it before it measures. */
static inline void measured_choose(struct tiny_vcpu *v)
{
	int64_t ret;

	by_clock = false;
	ret = open_event(v, 0, 0);
	if (!ret)
		id_call(v, KVM_PERF_OP_CLOSE, 0);
	by_clock = ret == -KVM_ENOENT || getenv("TINY_CLOCK");
}

/* What many fixtures begin with: .before, and .vm with @vcpus, of which .v is the first. */
#define VM_BEGIN(vcpus)								\
	do {									\
		ASSERT_EQ(0, tiny_totals_read(&self->before));			\
		ASSERT_EQ(0, tiny_vm_create(&self->vm, vcpus));			\
		self->v = &self->vm.vcpu[0];					\
		measured_choose(self->v);					\
	} while (0)

/* What they end with. */
#define VM_END(name)								\
	FIXTURE_TEARDOWN(name)							\
	{									\
		tiny_vm_destroy(&self->vm);					\
		EXPECT_TRUE(tiny_totals_wait(&self->before));			\
	}

#define ASSERT_CALL(want, call) ASSERT_EQ((int64_t)(want), (call))
#define EXPECT_CALL(want, call) EXPECT_EQ((int64_t)(want), (call))

/* The vCPU is offered nothing: our CPUID leaves read as one that does not exist, and calls fail. */
static inline void check_absent(struct __test_metadata *_metadata, struct tiny_vcpu *v)
{
	uint32_t leaf, none[4], r[4], op;

	ASSERT_EQ(0, tiny_cpuid(v, 0x4000fe00, none));
	for (leaf = KVM_PERF_CPUID_BASE; leaf <= KVM_PERF_CPUID_MAX; leaf++) {
		ASSERT_EQ(0, tiny_cpuid(v, leaf, r));
		EXPECT_EQ(0, memcmp(none, r, sizeof(r))) {
			TH_LOG("leaf %#x", leaf);
		}
	}
	for (op = 0; op <= KVM_PERF_OP_RESET + 1; op++)
		EXPECT_CALL(-KVM_ENOSYS, tiny_call(v, op, AT_PARAM, 0, 1)) {
			TH_LOG("operation %u", op);
		}
}

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
