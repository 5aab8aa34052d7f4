// SPDX-License-Identifier: GPL-2.0
/*
 * What a guest's event counts is the guest's, to the instruction, whatever the guest
 * leaves for, and whatever the host counts and samples at the same time. The guest does
 * the same loop a number of times and twice as often: the difference has nothing in it
 * that is not the loop's.
 */

#include "tiny_test.h"
#include <linux/perf_event.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#define TURNS		60
#define AT_TIMED	(TINY_DATA + 16 * TINY_PAGE)
#define AT_FRESH	(TINY_DATA + 32 * TINY_PAGE)	/* pages that the host does not have yet */
#define MSR_APIC_BASE	0x1b

_Static_assert(2 * TURNS * sizeof(struct tiny_timed) <= AT_FRESH - AT_TIMED, "AT_TIMED");
_Static_assert(AT_FRESH + 2 * TURNS * TINY_PAGE <= TINY_MEM, "AT_FRESH");

enum { TICKS, COUNTS, GUEST, HOSTS };	/* the host's own events */

FIXTURE(exits) {
	struct tiny_vm vm;
	struct tiny_vcpu *v;
	struct tiny_totals before;
	int host[HOSTS];
};

FIXTURE_VARIANT(exits) {
	enum tiny_code code;
	uint32_t rcx;
	uint64_t rsi;
	bool fresh;	/* each turn reads another page */
	bool exits;
};

FIXTURE_VARIANT_ADD(exits, none) { .code = TINY_CODE_TIMED_NOP };
FIXTURE_VARIANT_ADD(exits, hypercall) { .code = TINY_CODE_TIMED_CALL, .exits = true };
FIXTURE_VARIANT_ADD(exits, cpuid) { .code = TINY_CODE_TIMED_CPUID, .exits = true };
FIXTURE_VARIANT_ADD(exits, msr) {
	.code = TINY_CODE_TIMED_RDMSR, .rcx = MSR_APIC_BASE, .exits = true,
};
/* These three go to userspace, or wait for memory. */
FIXTURE_VARIANT_ADD(exits, io) { .code = TINY_CODE_TIMED_OUT, .exits = true };
FIXTURE_VARIANT_ADD(exits, mmio) {
	.code = TINY_CODE_TIMED_LOAD, .rsi = TINY_HOLE, .exits = true,
};
FIXTURE_VARIANT_ADD(exits, page) {
	.code = TINY_CODE_TIMED_LOAD, .rsi = AT_FRESH, .fresh = true, .exits = true,
};

FIXTURE_SETUP(exits)
{
	memset(self->host, -1, sizeof(self->host));
	VM_BEGIN(1);
	ASSERT_CALL(0, open_event(self->v, 0, 0));
	ASSERT_CALL(0, id_call(self->v, KVM_PERF_OP_ENABLE, 0));
}

FIXTURE_TEARDOWN(exits)
{
	int i;

	for (i = 0; i < HOSTS; i++)
		if (self->host[i] >= 0)
			close(self->host[i]);
	tiny_vm_destroy(&self->vm);
	EXPECT_TRUE(tiny_totals_wait(&self->before));
}

/* All exits of all VMs; -1: this KVM does not say. */
static long exits_read(void)
{
	FILE *f = fopen("/sys/kernel/debug/kvm/exits", "re");
	long n = -1;

	if (f && fscanf(f, "%ld", &n) != 1)
		n = -1;
	if (f)
		fclose(f);
	return n;
}

static uint64_t host_read(int fd)
{
	uint64_t count = 0;

	return read(fd, &count, sizeof(count)) == sizeof(count) ? count : 0;
}

struct counts {
	uint64_t guest, host;
	long exits;
};

/* What @turns of the loop count; false if a call fails. */
static bool turns_count(struct tiny_vcpu *v, int turns, int host, const struct kvm_regs *each,
			const FIXTURE_VARIANT(exits) *variant, struct counts *counts)
{
	struct tiny_timed *timed = tiny_ptr(v->vm, AT_TIMED);
	struct kvm_regs regs = { .rcx = turns, .rdi = AT_TIMED };
	int i;

	for (i = 0; i < turns; i++)
		timed[i] = (struct tiny_timed){
			.rax = each->rax, .rcx = variant->rcx,
			.rsi = variant->rsi + (variant->fresh ? i * TINY_PAGE : 0),
		};
	if (variant->fresh && madvise(tiny_ptr(v->vm, AT_FRESH), turns * TINY_PAGE, MADV_DONTNEED))
		return false;
	if (id_call(v, KVM_PERF_OP_READ, 0))
		return false;
	*counts = (struct counts){ -event_at(v->vm, 0)->count, -host_read(host), exits_read() };
	if (tiny_vcpu_exec(v, variant->code, &regs))
		return false;
	if (counts->exits >= 0)
		counts->exits = exits_read() - counts->exits;
	counts->host += host_read(host);
	if (id_call(v, KVM_PERF_OP_READ, 0))
		return false;
	counts->guest += event_at(v->vm, 0)->count;
	return true;
}

/*
 * What @count has more of twice the turns. The instruction that leaves counts as executed
 * or not, by CPU, but always the same.
 */
static bool exact(uint64_t more)
{
	return more == TURNS * TINY_TIMED_INSNS || more == TURNS * (TINY_TIMED_INSNS - 1);
}

static void check(struct __test_metadata *_metadata, FIXTURE_DATA(exits) *self,
		  const FIXTURE_VARIANT(exits) *variant)
{
	/* an unknown hypercall */
	const struct kvm_regs each = { .rax = 0xffff };
	struct counts once, twice;

	ASSERT_TRUE(turns_count(self->v, TURNS, self->host[GUEST], &each, variant, &once));
	ASSERT_TRUE(turns_count(self->v, TURNS, self->host[GUEST], &each, variant, &once));
	ASSERT_TRUE(turns_count(self->v, 2 * TURNS, self->host[GUEST], &each, variant, &twice));
	TH_LOG("%llu more, the host says %llu, in %ld exits",
	       (unsigned long long)(twice.guest - once.guest),
	       (unsigned long long)(twice.host - once.host), twice.exits);
	EXPECT_TRUE(exact(twice.guest - once.guest));
	if (self->host[GUEST] >= 0)
		EXPECT_EQ(twice.guest - once.guest, twice.host - once.host);
	if (variant->exits && twice.exits >= 0)
		EXPECT_LE(2 * TURNS, twice.exits);
	if (!variant->exits)
		EXPECT_GT(TURNS, twice.exits);
}

TEST_F(exits, alone)
{
	NEED_PMU();
	check(_metadata, self, variant);
}

/* The host's perf on this CPU: counts itself and guests, and takes NMIs in guests. */
TEST_F(exits, with_perf)
{
	struct perf_event_attr attr[HOSTS] = {
		[TICKS] = { .config = PERF_COUNT_HW_CPU_CYCLES, .sample_period = 211,
			    .exclude_host = 1 },
		[COUNTS] = { .config = PERF_COUNT_HW_INSTRUCTIONS, .exclude_guest = 1 },
		[GUEST] = { .config = PERF_COUNT_HW_INSTRUCTIONS, .exclude_host = 1 },
	};
	int i;

	NEED_PMU();
	for (i = 0; i < HOSTS; i++) {
		attr[i].size = sizeof(attr[i]);
		attr[i].type = PERF_TYPE_HARDWARE;
		self->host[i] = syscall(SYS_perf_event_open, &attr[i], -1, 0, -1, 0);
		ASSERT_LE(0, self->host[i]);
	}
	check(_metadata, self, variant);
}

TEST_HARNESS_MAIN
