/* SPDX-License-Identifier: GPL-2.0 */
#ifndef BENCH_TIMED_H
#define BENCH_TIMED_H

#include "../tiny/tiny_guest.h"

#define UNKNOWN		0x1234		/* a hypercall number that does not exist */
#define ROUNDS		101		/* for operations of thousands of instructions */
#define ROUNDS_BATCH	21
#define ROUNDS_MOST	5	/* for whole calls */

/* Addresses in the guest. Each vCPU has its page, its events, and what OPEN reads. */
#define AT_HEAD(v)	(TINY_DATA + (v)->index * 3 * TINY_PAGE)
#define AT_EVENT(v, n)	(AT_HEAD(v) + TINY_PAGE + (n) * KVM_PERF_EVENT_SIZE)
#define AT_ATTR(v)	(AT_HEAD(v) + 2 * TINY_PAGE)
#define AT_PARAM(v, n)	(AT_ATTR(v) + 128 + (n) * 32)
/* The VM has one of this. */
#define AT_TIMED	(TINY_DATA + TINY_VCPUS * 3 * TINY_PAGE)
#define AT_LOG		(TINY_MEM - TINY_PAGE)

/* Ends the program unless @ok. */
void need(bool ok, const char *what);

/* Prints a figure; figure_of() makes its name of two parts. */
void figure(const char *key, int64_t value);
void figure_of(const char *a, const char *b, int64_t value);

void vm_make(struct tiny_vm *vm, int vcpus);

/* Call it first: measures the speed of the TSC, and what timing itself takes. */
void timing_check(void);

/* Also sorts the values. */
uint64_t median(uint64_t *value, int n);

struct tiny_timed call_of(uint32_t op, uint64_t a, uint32_t c);

/* Runs @n operations in turn, @rounds times, and takes the median of each. */
void timed(struct tiny_vcpu *v, enum tiny_code code, const struct tiny_timed *what,
	   int n, int rounds, uint64_t *ticks);
uint64_t timed_one(struct tiny_vcpu *v, enum tiny_code code, struct tiny_timed what);

#endif /* BENCH_TIMED_H */
