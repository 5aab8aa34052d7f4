// SPDX-License-Identifier: GPL-2.0
/*
 * Operations of a guest, timed by its TSC. The host's timer ticks hit some of them, so
 * each figure is the median of many, minus what the same code takes with a NOP.
 */
#include "timed.h"

#include <stdio.h>
#include <stdlib.h>

/* Ticks of TINY_CODE_TIMED_NOP. */
static uint64_t nothing;

void need(bool ok, const char *what)
{
	if (ok)
		return;
	fprintf(stderr, "calls: %s\n", what);
	exit(1);
}

void figure(const char *key, int64_t value)
{
	printf("figure %s %lld\n", key, (long long)value);
	fflush(stdout);
}

void figure_of(const char *a, const char *b, int64_t value)
{
	char key[64];

	snprintf(key, sizeof(key), "%s%s", a, b);
	figure(key, value);
}

void vm_make(struct tiny_vm *vm, int vcpus)
{
	need(!tiny_vm_create(vm, vcpus), "can't create a VM");
}

static int uint64_compare(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

uint64_t median(uint64_t *value, int n)
{
	qsort(value, n, sizeof(*value), uint64_compare);
	return value[n / 2];
}

struct tiny_timed call_of(uint32_t op, uint64_t a, uint32_t c)
{
	return (struct tiny_timed){
		.rax = KVM_PERF_OP, .rbx = op, .rcx = (uint32_t)a,
		.rdx = a >> 32, .rsi = c,
	};
}

/* The median of one kind in a table in which @n kinds take turns. */
static uint64_t timed_median(const struct tiny_timed *t, int n, int rounds)
{
	uint64_t ticks[ROUNDS];
	int i;

	for (i = 0; i < rounds; i++) {
		need((int64_t)t[i * n].rax >= 0 || t[i * n].rbx == UNKNOWN, "a call failed");
		ticks[i] = t[i * n].ticks;
	}
	return median(ticks, rounds) - nothing;
}

void timed(struct tiny_vcpu *v, enum tiny_code code, const struct tiny_timed *what,
	   int n, int rounds, uint64_t *ticks)
{
	struct kvm_regs regs = { .rdi = AT_TIMED, .rcx = n * rounds };
	struct tiny_timed *t = tiny_ptr(v->vm, AT_TIMED);
	int i;

	for (i = 0; i < n * rounds; i++)
		t[i] = what[i % n];
	need(!tiny_vcpu_exec(v, code, &regs), "the guest broke");
	for (i = 0; i < n; i++)
		ticks[i] = timed_median(t + i, n, rounds);
}

uint64_t timed_one(struct tiny_vcpu *v, enum tiny_code code, struct tiny_timed what)
{
	uint64_t ticks;

	timed(v, code, &what, 1, ROUNDS, &ticks);
	return ticks;
}

/* Ticks of a loop of two instructions in this program. */
static uint64_t loop_ticks(long turns)
{
	const uint64_t before = __builtin_ia32_rdtsc();

	asm volatile("1: dec %0; jnz 1b" : "+r" (turns));
	return __builtin_ia32_rdtsc() - before;
}

void timing_check(void)
{
	struct tiny_vm vm;

	figure("tsc.per_1000", loop_ticks(1000) - loop_ticks(500));
	vm_make(&vm, 1);
	nothing = timed_one(&vm.vcpu[0], TINY_CODE_TIMED_NOP, (struct tiny_timed){});
	figure("call.nothing", nothing);
	tiny_vm_destroy(&vm);
}
