// SPDX-License-Identifier: GPL-2.0
/*
 * host/cut.c: which of a CPU's last branches may pass. Every state of an entry with addresses of
 * every kind, against what AMD's manual says of its bits.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include "cut.h"
#include "tap.h"

#define ADDRESS(a)	((a) & ((1ull << 58) - 1))

/* Of user mode and of the kernel, with 48 and with 57 bits of a linear address. */
static const uint64_t user48[] = { 0, 1, 0x401000, 0x7fffffffffff };
static const uint64_t kernel48[] = { 0xffff800000000000, 0xffffffff81000000, ~0ull };
static const uint64_t user57[] = { 0, 0x7fffffffffff, 0x800000000000, 0xffffffffffffff };
static const uint64_t kernel57[] = { 0xff00000000000000, 0xffff888000000000, ~0ull };

/* The state bits of an entry, and what an entry with them is. */
enum { MISPREDICTED = 1, VALID = 2, SPECULATIVE = 4, RESERVED = 8, STATES = 16 };

static struct pvperf_cut_raw raw_of(uint64_t from, uint64_t to, unsigned int state)
{
	return (struct pvperf_cut_raw){
		.from = ADDRESS(from) | (state & MISPREDICTED ? 1ull << 63 : 0),
		.to = ADDRESS(to) | (state & VALID ? 1ull << 63 : 0) |
		      (state & SPECULATIVE ? 1ull << 62 : 0) | (state & RESERVED ? 1ull << 61 : 0),
	};
}

static enum pvperf_cut want(unsigned int state, bool user)
{
	if (state & RESERVED || !(state & (VALID | SPECULATIVE)) || !user)
		return PVPERF_CUT_END;
	return state & VALID ? PVPERF_CUT_PASS : PVPERF_CUT_SKIP;
}

static bool passes_as(const struct guest_perf_branch *b, uint64_t from, uint64_t to,
		      unsigned int state, bool full)
{
	const uint64_t flags = (state & MISPREDICTED ? KVM_PERF_BRANCH_MISPREDICTED : 0) |
			       (state & SPECULATIVE ? KVM_PERF_BRANCH_SPECULATIVE : 0) |
			       (state & VALID ? KVM_PERF_BRANCH_CORRECT : 0);

	return b->from == from && b->to == to && b->flags == (full ? flags : 0);
}

static unsigned int wrong_with(unsigned int bits, uint64_t from, uint64_t to, bool user)
{
	unsigned int state, full, wrong = 0;

	for (state = 0; state < STATES; state++)
		for (full = 0; full < 2; full++) {
			struct pvperf_cut_raw raw = raw_of(from, to, state);
			struct guest_perf_branch b = { 1, 2, 3 };
			enum pvperf_cut got = pvperf_cut(&raw, bits, full, &b);

			wrong += got != want(state, user);
			wrong += got == PVPERF_CUT_PASS ? !passes_as(&b, from, to, state, full) :
							  b.from != 1 || b.to != 2 || b.flags != 3;
		}
	return wrong;
}

static void test_bits(unsigned int bits, const uint64_t user[4], const uint64_t kernel[3])
{
	unsigned int i, j, wrong = 0;

	for (i = 0; i < 4; i++)
		for (j = 0; j < 4; j++)
			wrong += wrong_with(bits, user[i], user[j], true);
	for (i = 0; i < 4; i++)
		for (j = 0; j < 3; j++)
			wrong += wrong_with(bits, user[i], kernel[j], false) +
				 wrong_with(bits, kernel[j], user[i], false);
	for (i = 0; i < 3; i++)
		for (j = 0; j < 3; j++)
			wrong += wrong_with(bits, kernel[i], kernel[j], false);
	tap(!wrong, "%u bits: each state, each pair of addresses (%u wrong)", bits, wrong);
}

static uint64_t random_word(void)
{
	uint64_t word = (uint64_t)rand() << 42 ^ (uint64_t)rand() << 21 ^ rand();

	/* Most addresses are short, or of the kernel. */
	switch (rand() % 4) {
	case 0:
		return word;
	case 1:
		return word | 0x3ffff8000000000ull;
	default:
		return word & ~0x3ffff8000000000ull;
	}
}

/* Whatever an entry's bits are: no address of an upper half, and none that is not in the entry. */
static void test_random(void)
{
	unsigned int i, wrong = 0, passed = 0;

	srand(1);
	for (i = 0; i < 2000000; i++) {
		struct pvperf_cut_raw raw = { random_word(), random_word() };
		unsigned int bits = i & 1 ? 48 : 57;
		struct guest_perf_branch b;

		if (pvperf_cut(&raw, bits, i & 2, &b) != PVPERF_CUT_PASS)
			continue;
		passed++;
		wrong += !(raw.to >> 63);
		wrong += (b.from | b.to) >> (bits - 1) || b.from != ADDRESS(raw.from) ||
			 b.to != ADDRESS(raw.to) || b.flags > 7;
	}
	tap(!wrong && passed > 10000, "two million words: %u passed, %u wrong", passed, wrong);
}

int main(void)
{
	test_bits(48, user48, kernel48);
	test_bits(57, user57, kernel57);
	test_random();
	return tap_end();
}
