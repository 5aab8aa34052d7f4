/* SPDX-License-Identifier: GPL-2.0 */
#ifndef BRANCHES_H
#define BRANCHES_H

/*
 * A guest whose overflows come with the last branches. It takes the same four branches again and
 * again, and leaves to this VMM now and then: each stack is an exact run of these four, and nothing
 * of the VMM's is in one. The vCPUs run in the test's own thread, so that all branches are one thread's.
 */
#include "tiny_test.h"
#include <cpuid.h>
#include <linux/perf_event.h>
#include <sys/syscall.h>

#define PERIOD		1009
#define LONG		20000		/* turns in which there is an overflow, and none is too many */
#define ODD_PERIOD	61007		/* of which none ends with these turns for long */
#define AT_BRANCHES(n)	(TINY_DATA + (40 + (n)) * TINY_PAGE)

FIXTURE(branches) {
	struct tiny_vm vm;
	struct tiny_vcpu *v;
	struct guest_perf_event *e;
	struct guest_perf_branches *b;
	struct guest_perf_branch way[TINY_BRANCHES];
	struct tiny_totals before;
};

FIXTURE_SETUP(branches)
{
	uint32_t r[4];

	ASSERT_EQ(0, tiny_param_write("branches", "addresses"));
	ASSERT_EQ(0, tiny_totals_read(&self->before));
	ASSERT_EQ(0, tiny_vm_create(&self->vm, 2));
	self->v = &self->vm.vcpu[0];
	self->e = event_at(&self->vm, 0);
	self->b = tiny_ptr(&self->vm, AT_BRANCHES(0));
	tiny_branches(self->way);
	ASSERT_EQ(0, tiny_cpuid(self->v, KVM_PERF_CPUID_FEATURES, r));
	if (!(r[1] & KVM_PERF_FEATURE_BRANCHES))
		SKIP(return, "the host's CPU has no stack of branches that guests can have");
}

FIXTURE_TEARDOWN(branches)
{
	tiny_vm_destroy(&self->vm);
	EXPECT_TRUE(tiny_totals_wait(&self->before));
	EXPECT_EQ(0, tiny_param_write("branches", "off"));
	EXPECT_EQ(0, tiny_param_write("priority", "flexible"));
	EXPECT_EQ(0, tiny_param_write("access", "local"));
}

static inline int64_t run(struct tiny_vcpu *v, uint64_t turns)
{
	struct kvm_regs r = { .rcx = turns };

	return tiny_vcpu_exec_here(v, TINY_CODE_BRANCHES_USER, &r);
}

static inline struct guest_perf_attr attr_branches(uint64_t period)
{
	struct guest_perf_attr attr = attr_instructions(period);

	attr.sample_type = KVM_PERF_SAMPLE_BRANCHES;
	attr.flags = KVM_PERF_FLAG_EXCLUDE_KERNEL;
	return attr;
}

static inline int64_t open_at(struct tiny_vcpu *v, int id, const struct guest_perf_attr *attr,
			      uint64_t param_addr, uint64_t branches_addr)
{
	struct guest_perf_event_param param = {
		.attr_addr = AT_ATTR, .guest_event_addr = AT_EVENT(id), .id = id,
		.event_size = KVM_PERF_EVENT_SIZE, .branches_addr = branches_addr,
	};

	int64_t err = -KVM_EBUSY;
	int tries;

	memcpy(tiny_ptr(v->vm, AT_ATTR), attr, sizeof(*attr));
	memcpy(tiny_ptr(v->vm, param_addr), &param, sizeof(param));
	/* A work installs the hook; an OPEN waits 0.1 s for it. */
	for (tries = 0; tries < 50 && err == -KVM_EBUSY; tries++)
		err = tiny_call_here(v, KVM_PERF_OP_OPEN, param_addr, 0);
	return err;
}

static inline int64_t open_branches(struct tiny_vcpu *v, int id, uint64_t period)
{
	struct guest_perf_attr attr = attr_branches(period);

	return open_at(v, id, &attr, AT_PARAM, AT_BRANCHES(id));
}

static inline int64_t begin(struct tiny_vcpu *v, int id, uint64_t period)
{
	return open_branches(v, id, period) ?: tiny_call_here(v, KVM_PERF_OP_ENABLE, id, 0);
}

static inline int way_of(const struct guest_perf_branch *way, const struct guest_perf_branch *b)
{
	int i;

	for (i = 0; i < TINY_BRANCHES; i++)
		if (way[i].from == b->from && way[i].to == b->to)
			return i;
	return -1;
}

/*
 * Are all branches the guest's, each one after the next in the list? The oldest may be the guest's
 * own way into its user code.
 */
static inline bool exact(const struct guest_perf_branches *b, const struct guest_perf_branch *way,
			 bool full)
{
	const uint64_t told = KVM_PERF_BRANCH_CORRECT | KVM_PERF_BRANCH_SPECULATIVE;

	int i, at, last = -1;

	if (b->status != KVM_PERF_BRANCHES_OK || b->number > KVM_PERF_BRANCHES_MAX || b->reserved)
		return false;
	for (i = 0; i < b->number; i++) {
		at = way_of(way, &b->branch[i]);
		if (at < 0)
			return i == b->number - 1 && b->branch[i].to == way[0].from &&
			       b->branch[i].from >> 12 == way[0].from >> 12;
		if (last >= 0 && (at + 1) % TINY_BRANCHES != last)
			return false;
		if (full ? !(b->branch[i].flags & told) : b->branch[i].flags)
			return false;
		last = at;
	}
	return true;
}

static inline bool is_intel(void)
{
	uint32_t a, b, c, d;

	__cpuid(0, a, b, c, d);
	return b == signature_INTEL_ebx;
}

/* What the VMM does between two runs of the guest's. */
static __attribute__((noinline)) int vmm_branches(int n)
{
	return n ? vmm_branches(n - 1) + 1 : 0;
}

struct seen {
	int overflows, exact, branches, contended, others;
};

/* Run the guest @runs times, for @turns each, and look at the stack of each overflow. */
static inline struct seen look(struct tiny_vcpu *v, int id, const struct guest_perf_branch *way,
			       int runs, int turns, bool full)
{
	const struct guest_perf_branches *b = tiny_ptr(v->vm, AT_BRANCHES(id));
	struct guest_perf_event *e = event_at(v->vm, id);
	struct seen seen = { 0 };

	while (runs--) {
		if (vmm_branches(40) != 40 || run(v, turns))
			break;
		if (!e->overflows)
			continue;
		e->overflows = 0;
		seen.overflows++;
		seen.branches += b->number;
		seen.contended += b->status == KVM_PERF_BRANCHES_CONTENDED;
		if (exact(b, way, full))
			seen.exact++;
		else
			seen.others++;
	}
	return seen;
}

/* The host's own use of the stack: of this CPU, or of this thread if @cpu is -1. */
static inline int open_host(uint64_t branches, int cpu, bool pinned)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_HARDWARE, .size = sizeof(attr), .config = COUNT_INSTRUCTIONS,
		.sample_period = 1000000000, .sample_type = PERF_SAMPLE_BRANCH_STACK,
		.branch_sample_type = branches, .pinned = pinned,
	};

	return syscall(SYS_perf_event_open, &attr, cpu < 0 ? 0 : -1, cpu, -1, 0);
}

#endif /* BRANCHES_H */
