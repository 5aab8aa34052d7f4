// SPDX-License-Identifier: GPL-2.0
/* How a guest finds the host's side, what the CPUID leaves say, and in which modes it may call. */

#include "tiny_test.h"
#include <cpuid.h>

FIXTURE(found) {
	struct tiny_vm vm;
	struct tiny_vcpu *v, *other;
	struct tiny_totals before;
};

FIXTURE_SETUP(found)
{
	VM_BEGIN(2);
	self->other = &self->vm.vcpu[1];
}

VM_END(found)

TEST_F(found, leaves)
{
	const uint32_t must = KVM_PERF_FEATURE_PAGE | KVM_PERF_FEATURE_BATCH |
			      KVM_PERF_FEATURE_TIMES | KVM_PERF_FEATURE_SAMPLING |
			      KVM_PERF_FEATURE_COUNTERS | KVM_PERF_FEATURE_NARROW |
			      KVM_PERF_FEATURE_OPEN_PAGE | KVM_PERF_FEATURE_CPU |
			      KVM_PERF_FEATURE_CLOCK;
	const uint32_t kinds = KVM_PERF_COUNTERS_INSTRUCTIONS | KVM_PERF_COUNTERS_CYCLES |
			       KVM_PERF_COUNTERS_REF_CYCLES | KVM_PERF_COUNTERS_PAIR;
	uint32_t r[4];

	ASSERT_EQ(0, tiny_cpuid(self->v, KVM_PERF_CPUID_BASE, r));
	EXPECT_EQ(0, memcmp(&r[1], KVM_PERF_SIGNATURE, 12));
	EXPECT_EQ(KVM_PERF_CPUID_MAX, r[0]);

	ASSERT_EQ(0, tiny_cpuid(self->v, KVM_PERF_CPUID_FEATURES, r));
	EXPECT_EQ(KVM_PERF_ABI_MAJOR(KVM_PERF_ABI_VERSION),
		  KVM_PERF_ABI_MAJOR(r[0]));
	EXPECT_EQ(must, r[1] & must);
	EXPECT_EQ(KVM_PERF_OP, r[2]);
	EXPECT_EQ(0, r[3] & ~kinds);

	ASSERT_EQ(0, tiny_cpuid(self->v, KVM_PERF_CPUID_LIMITS, r));
	EXPECT_LT(0, r[0]);
	EXPECT_GE(KVM_PERF_EVENTS_MAX, r[0]);
	EXPECT_LT(0, r[1]);
	EXPECT_GE(KVM_PERF_BATCH_MAX, r[1]);
	EXPECT_LT(0, r[3]);
}

/* Narrow events fit in fewer counters than there are, and are told only if there are any. */
TEST_F(found, narrow_leaves)
{
	uint32_t limits[4], narrow[4], codes[8], unlike[8], any = 0, i;

	ASSERT_EQ(0, tiny_cpuid(self->v, KVM_PERF_CPUID_LIMITS, limits));
	ASSERT_EQ(0, tiny_cpuid(self->v, KVM_PERF_CPUID_NARROW, narrow));
	ASSERT_EQ(0, tiny_cpuid(self->v, KVM_PERF_CPUID_CODES, codes));
	ASSERT_EQ(0, tiny_cpuid(self->v, KVM_PERF_CPUID_CODES + 1, codes + 4));
	ASSERT_EQ(0, tiny_cpuid(self->v, KVM_PERF_CPUID_EXCEPTIONS, unlike));
	ASSERT_EQ(0, tiny_cpuid(self->v, KVM_PERF_CPUID_EXCEPTIONS + 1, unlike + 4));
	for (i = 0; i < ARRAY_SIZE(codes); i++)
		any |= codes[i];
	EXPECT_EQ(!narrow[0], !any);
	EXPECT_TRUE(narrow[0] || !unlike[0]);
	EXPECT_TRUE(!narrow[0] || narrow[0] < limits[2]);
	EXPECT_TRUE(narrow[0] || !(narrow[1] | narrow[2] | narrow[3]));
}

/* The host's CPU, which is the one that this program runs on. */
TEST_F(found, cpu_leaf)
{
	uint32_t r[4], eax, ebx, ecx, edx;

	ASSERT_EQ(0, tiny_cpuid(self->v, KVM_PERF_CPUID_CPU, r));
	__cpuid(1, eax, ebx, ecx, edx);
	EXPECT_EQ(eax, r[0]);
	__cpuid(0, eax, ebx, ecx, edx);
	EXPECT_EQ(ebx, r[1]);
	EXPECT_EQ(ecx, r[2]);
	EXPECT_EQ(edx, r[3]);
}

/* A kernel that scans for signatures finds ours once, and KVM's where it always was. */
TEST_F(found, found_once)
{
	uint32_t leaf, r[4];
	int ours = 0, kvm = 0;

	for (leaf = 0x40000000; leaf < 0x40010000; leaf += 0x100) {
		ASSERT_EQ(0, tiny_cpuid(self->v, leaf, r));
		ours += !memcmp(&r[1], KVM_PERF_SIGNATURE, 12);
		kvm += !memcmp(&r[1], "KVMKVMKVM\0\0\0", 12);
	}
	EXPECT_EQ(1, ours);
	EXPECT_EQ(1, kvm);
}

/* The leaves next to ours are answered as without pvperf: all alike. */
TEST_F(found, leaves_around)
{
	uint32_t none[4], r[4];

	ASSERT_EQ(0, tiny_cpuid(self->v, 0x4000fe00, none));
	ASSERT_EQ(0, tiny_cpuid(self->v, KVM_PERF_CPUID_BASE - 1, r));
	EXPECT_EQ(0, memcmp(none, r, sizeof(r)));
	ASSERT_EQ(0, tiny_cpuid(self->v, KVM_PERF_CPUID_MAX + 1, r));
	EXPECT_EQ(0, memcmp(none, r, sizeof(r)));
	ASSERT_EQ(0, tiny_cpuid(self->v, 0x40010000, r));
	EXPECT_EQ(0, memcmp(none, r, sizeof(r)));
}

TEST_F(found, probe)
{
	uint32_t r[4];

	ASSERT_EQ(0, tiny_cpuid(self->v, KVM_PERF_CPUID_FEATURES, r));
	EXPECT_CALL(r[0], tiny_call(self->v, KVM_PERF_OP_PROBE, 0, 0, 0));
	EXPECT_CALL(r[0], tiny_call(self->other, KVM_PERF_OP_PROBE, 0, 0, 0));
}

/* KVM answers its own hypercalls and unknown numbers as it does without pvperf. */
TEST_F(found, others_numbers)
{
	const uint64_t numbers[] = { 0, 7, 100, KVM_PERF_OP - 1, KVM_PERF_OP + 1 };
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(numbers); i++) {
		struct kvm_regs r = {
			.rax = numbers[i], .rbx = KVM_PERF_OP_PROBE,
		};

		ASSERT_EQ(0, tiny_vcpu_exec(self->v, TINY_CODE_CALL, &r));
		EXPECT_EQ(-KVM_ENOSYS, (int64_t)r.rax) {
			TH_LOG("number %#llx", (unsigned long long)numbers[i]);
		}
	}
}

/* Arguments have 32 bits: the host ignores the upper halves of a 64-bit guest. */
TEST_F(found, upper_halves)
{
	const uint64_t high = 0xdeadbeef00000000ull;
	struct kvm_regs r = {
		.rax = KVM_PERF_OP, .rbx = high | KVM_PERF_OP_READ,
		.rcx = high | 5, .rdx = high, .rsi = high,
	};

	ASSERT_CALL(0, open_event(self->v, 5, 0));
	ASSERT_EQ(0, tiny_vcpu_exec(self->v, TINY_CODE_CALL, &r));
	EXPECT_EQ(0, r.rax);
	/* only RAX has changed */
	EXPECT_EQ(high | KVM_PERF_OP_READ, r.rbx);
	EXPECT_EQ(high | 5, r.rcx);
	EXPECT_EQ(high, r.rdx);
	EXPECT_EQ(high, r.rsi);
}

/* A 32-bit caller gets the same results, in EAX. */
TEST_F(found, mode_32)
{
	tiny_vcpu_mode32(self->v);
	EXPECT_CALL(KVM_PERF_ABI_VERSION,
		    tiny_call(self->v, KVM_PERF_OP_PROBE, 0, 0, 0));
	EXPECT_CALL((uint32_t)-KVM_ENOENT, id_call(self->v, KVM_PERF_OP_READ, 5));
	EXPECT_CALL(0, open_event(self->v, 5, 0));
	EXPECT_CALL(0, id_call(self->v, KVM_PERF_OP_ENABLE, 5));
	EXPECT_CALL(0, id_call(self->v, KVM_PERF_OP_DISABLE, 5));
	EXPECT_CALL(0, id_call(self->v, KVM_PERF_OP_CLOSE, 5));
}

TEST_HARNESS_MAIN
