/* SPDX-License-Identifier: GPL-2.0 */
#ifndef UNIT_KERNEL_H
#define UNIT_KERNEL_H

/*
 * The kernel's primitives that include/pvperf/page.h uses, for userspace, and sides_run(),
 * which runs the sides of a protocol at the same time.
 *
 * Without WEAK the primitives are those of x86, and the sides are threads.
 *
 * With WEAK they model a machine as weak as the kernel's memory model allows, which no x86
 * is: stores and atomic operations without a result wait in a buffer and become visible in
 * any order, but none passes smp_wmb(); loads return any value that was there since the
 * last smp_rmb(). The sides take turns in one thread, and can be interrupted at each access,
 * at random, but in the same way in every run. What works there works anywhere.
 *
 * BREAK names a barrier that is left out, or something that is done wrong. The test must
 * then fail.
 */

#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#ifdef WEAK
#include <ucontext.h>
#endif

#ifdef BREAK
#define broken(what)	(!strcmp(BREAK, what))
#else
#define broken(what)	false
#endif

typedef struct { int counter; } atomic_t;

/* One side: its function and the argument. */
struct side {
	void (*run)(void *arg);
	void *arg;
};

/* The letter of a barrier in page.h: its function, and whether it is the second there. */
static inline char barrier_name(const char *function, bool second)
{
	if (!strcmp(function, "pvperf_page_event_write"))
		return second ? 'B' : 'A';
	if (!strcmp(function, "pvperf_page_event_read"))
		return second ? 'D' : 'C';
	if (!strcmp(function, "pvperf_page_pending_set"))
		return 'E';
	if (!strcmp(function, "pvperf_page_nmis_set"))
		return 'F';
	if (!strcmp(function, "pvperf_page_nmis"))
		return 'G';
	abort();	/* a barrier that the tests don't know */
}

static inline bool barrier_left_out(const char *function, int line)
{
#ifdef BREAK
	static const char *last;
	static int first;
	char name[2] = { 0 };

	/* the barrier with the lower line number is the first of a function */
	if (last != function) {
		last = function;
		first = line;
	}
	if (line < first)
		first = line;
	name[0] = barrier_name(function, line > first);
	return broken(name);
#else
	barrier_name(function, line);
	return false;
#endif
}

#ifndef WEAK

#define READ_ONCE(x)		__atomic_load_n(&(x), __ATOMIC_RELAXED)
#define WRITE_ONCE(x, v)	__atomic_store_n(&(x), v, __ATOMIC_RELAXED)
#define smp_wmb()		asm volatile("" ::: "memory")
#define smp_rmb()		asm volatile("" ::: "memory")
#define xchg(p, v)		__atomic_exchange_n(p, v, __ATOMIC_SEQ_CST)
#define cpu_relax()		sched_yield()

static inline void atomic_add(int n, atomic_t *a)
{
	__atomic_fetch_add(&a->counter, n, __ATOMIC_SEQ_CST);
}

static inline void set_bit(long bit, unsigned long *p)
{
	__atomic_fetch_or(p, 1ul << bit, __ATOMIC_SEQ_CST);
}

static inline void *side_thread(void *arg)
{
	struct side *side = arg;

	side->run(side->arg);
	return NULL;
}

/* @shared, of @size, is the memory that the sides share. */
static inline void sides_run(struct side *sides, int n, void *shared, size_t size)
{
	pthread_t threads[n];
	int i;

	for (i = 0; i < n; i++)
		if (pthread_create(&threads[i], NULL, side_thread, &sides[i]))
			abort();
	for (i = 0; i < n; i++)
		pthread_join(threads[i], NULL);
}

/* From here on all see what this side did, and this side sees what others did. */
#define side_done()		do { } while (0)
#define side_sync()		do { } while (0)

#else /* WEAK */

#define WEAK_SIDES	4
#define WEAK_STORES	32
#define WEAK_WORDS	2048

/* A store that waits to become visible. */
struct weak_store {
	enum { STORE_32, STORE_64, ADD_32, OR_64 } kind;
	void *at;
	uint64_t value;
};

/* What a side sees of the memory. */
struct weak_cpu {
	struct weak_store store[WEAK_STORES];
	int stores;
	uint32_t old[WEAK_WORDS];	/* old values that loads may still return */
	ucontext_t context;
	char stack[65536];
	struct side *side;
	bool done;
};

static struct weak_cpu weak_cpus[WEAK_SIDES];
static struct weak_cpu *weak;		/* the side that is running */
static ucontext_t weak_main;
static int weak_count;
static uint32_t *weak_memory;
static size_t weak_words;
static uint64_t weak_seed = 1;

static inline uint32_t weak_random(uint32_t below)
{
	weak_seed = weak_seed * 6364136223846793005ull + 1442695040888963407ull;
	return (weak_seed >> 33) % below;
}

/* Maybe switches to another side. */
static inline void weak_switch(void)
{
	struct weak_cpu *was = weak;

	weak = &weak_cpus[weak_random(weak_count)];
	if (weak->done)
		weak = was;
	if (weak != was)
		swapcontext(&was->context, &weak->context);
}

static inline void weak_step(void)
{
	if (!weak_random(4))
		weak_switch();
}

#define cpu_relax()	weak_switch()

static inline void weak_apply(const struct weak_store *s)
{
	switch (s->kind) {
	case STORE_32:
		*(uint32_t *)s->at = s->value;
		break;
	case STORE_64:
		*(uint64_t *)s->at = s->value;
		break;
	case ADD_32:
		*(uint32_t *)s->at += s->value;
		break;
	case OR_64:
		*(uint64_t *)s->at |= s->value;
		break;
	}
}

/* Makes one waiting store visible: any, but the oldest of its location. */
static inline void weak_drain_one(void)
{
	struct weak_cpu *cpu = weak;
	int i = weak_random(cpu->stores), j;
	struct weak_store s;

	for (j = 0; j < i; j++)
		if (cpu->store[j].at == cpu->store[i].at)
			i = j;
	s = cpu->store[i];
	memmove(&cpu->store[i], &cpu->store[i + 1],
		(cpu->stores - i - 1) * sizeof(s));
	cpu->stores--;
	weak_apply(&s);
}

static inline void weak_drain(void)
{
	while (weak->stores) {
		weak_step();
		weak_drain_one();
	}
}

/* From here on loads return no older values. */
static inline void weak_refresh(void)
{
	memcpy(weak->old, weak_memory, weak_words * 4);
}

static inline void weak_put(int kind, void *at, uint64_t value)
{
	weak_step();
	if (weak->stores == WEAK_STORES || (weak->stores && !weak_random(4)))
		weak_drain_one();
	weak->store[weak->stores++] = (struct weak_store){ kind, at, value };
}

static inline uint64_t weak_get(const void *at, size_t size)
{
	size_t words = size / 4, w = (const uint32_t *)at - weak_memory;
	uint64_t value = 0;

	weak_step();
	if (weak_random(2))
		memcpy(&weak->old[w], at, words * 4);
	memcpy(&value, &weak->old[w], words * 4);
	return value;
}

static inline void weak_side(void)
{
	weak_refresh();
	weak->side->run(weak->side->arg);
	weak_drain();
	weak->done = true;
	for (;;) {
		int i, left = 0;

		for (i = 0; i < weak_count; i++)
			left += !weak_cpus[i].done;
		if (!left)
			setcontext(&weak_main);
		weak_switch();
	}
}

static inline void sides_run(struct side *sides, int n, void *shared, size_t size)
{
	int i;

	weak_count = n;
	weak_memory = shared;
	weak_words = size / 4;
	if (n > WEAK_SIDES || weak_words > WEAK_WORDS)
		abort();
	for (i = 0; i < n; i++) {
		struct weak_cpu *cpu = &weak_cpus[i];

		getcontext(&cpu->context);
		cpu->side = &sides[i];
		cpu->context.uc_stack.ss_sp = cpu->stack;
		cpu->context.uc_stack.ss_size = sizeof(cpu->stack);
		makecontext(&cpu->context, weak_side, 0);
	}
	weak = &weak_cpus[0];
	swapcontext(&weak_main, &weak->context);
}

#define side_done()	weak_drain()
#define side_sync()	weak_refresh()

#define READ_ONCE(x) \
	((broken("no-recheck") && !strcmp(#x, "ev->sequence")) ? 0 : \
	 (__typeof__(x))weak_get(&(x), sizeof(x)))

#define WRITE_ONCE(x, v) do { \
	if (!(broken("no-sequence") && !strcmp(#x, "ev->sequence"))) \
		weak_put(sizeof(x) == 8 ? STORE_64 : STORE_32, &(x), v); \
} while (0)

#define smp_wmb() do { \
	if (!barrier_left_out(__func__, __LINE__)) \
		weak_drain(); \
} while (0)

#define smp_rmb() do { \
	if (!barrier_left_out(__func__, __LINE__)) \
		weak_refresh(); \
} while (0)

#define atomic_add(n, a)	weak_put(ADD_32, &(a)->counter, n)
#define set_bit(bit, p)	weak_put(OR_64, p, 1ull << (bit))

/* An atomic operation with a result is a full barrier on any machine. */
#define xchg(p, v) ({ \
	__typeof__(*(p)) _was; \
	weak_drain(); \
	weak_step(); \
	_was = *(p); \
	if (broken("no-xchg")) \
		weak_step(); \
	*(p) = (v); \
	weak_refresh(); \
	_was; })

#endif /* WEAK */

#endif /* UNIT_KERNEL_H */
