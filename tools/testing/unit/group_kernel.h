/* SPDX-License-Identifier: GPL-2.0 */
#ifndef UNIT_GROUP_KERNEL_H
#define UNIT_GROUP_KERNEL_H

/*
 * What guest/group.c and guest/time.c use of the kernel, for userspace: one CPU, no interrupts,
 * and a clock that the test moves. The Makefile lays empty files where the kernel's headers are,
 * and takes the inlines of perf core from compat/core.h.
 */

#include <assert.h>
#include <linux/types.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef uint64_t u64;
typedef int32_t s32;
typedef int64_t s64;

typedef struct { s64 v; } local64_t;

#define local64_read(l)		((u64)(l)->v)
#define local64_set(l, n)	((l)->v = (s64)(n))
#define local64_add(n, l)	((l)->v += (s64)(n))
#define local64_sub(n, l)	((l)->v -= (s64)(n))

typedef struct { int counter; } atomic_t;

#define READ_ONCE(x)		(x)
#define WRITE_ONCE(x, value)	((x) = (value))
#define likely(x)		(x)
#define unlikely(x)		(x)
#undef __always_inline
#define __always_inline		inline
#define __percpu
#define __aligned(n)		__attribute__((aligned(n)))
#define PAGE_SIZE		4096
#define BIT(n)			(1UL << (n))
#define BIT_ULL(n)		(1ULL << (n))
#define HZ			250
#define min(a, b)		((a) < (b) ? (a) : (b))
#define max(a, b)		((a) > (b) ? (a) : (b))
#define container_of(p, type, member)	((type *)((char *)(p) - offsetof(type, member)))
#define list_entry		container_of
#define lockdep_assert_irqs_disabled()	((void)0)
#define smp_rmb()		((void)0)
#define smp_wmb()		((void)0)
#define cpu_relax()		((void)0)
#define smp_processor_id()	0
#define __ffs(x)		__builtin_ctzl(x)
#define __set_bit(n, p)		(*(p) |= BIT(n))
#define set_bit			__set_bit
#define __assign_bit(n, p, on)	((on) ? (*(p) |= BIT(n)) : (*(p) &= ~BIT(n)))
#define atomic_add(n, a)	((a)->counter += (n))
#define xchg(p, n) ({ __typeof__(*(p)) __was = *(p); *(p) = (n); __was; })

/* As the kernel's, which stops the machine where the quotient does not fit. */
static inline u64 mul_u64_u64_div_u64(u64 a, u64 b, u64 c)
{
	unsigned __int128 q = (unsigned __int128)a * b / c;

	assert(!(q >> 64));
	return q;
}

struct list_head {
	struct list_head *next, *prev;
};

static inline bool list_empty(const struct list_head *list)
{
	return list->next == list;
}

struct irq_work { int unused; };
struct rcu_head { int unused; };
struct module { int unused; };

extern struct module unit_module;

#define THIS_MODULE	(&unit_module)

enum {
	PERF_EVENT_STATE_OFF = -1,
	PERF_EVENT_STATE_INACTIVE,
	PERF_EVENT_STATE_ACTIVE,
};

#define PERF_ATTACH_CONTEXT	1
#define PERF_HES_STOPPED	1
#define PERF_SAMPLE_PERIOD	256

struct pmu {
	struct module *module;
};

struct perf_branch_stack {
	u64 nr, hw_idx;
};

struct perf_branch_entry {
	u64 from, to, flags;
};

struct perf_event {
	struct pmu *pmu;
	struct list_head sibling_list;
	struct perf_event *group_leader;
	unsigned int attach_state;
	int state;
	local64_t count;
	u64 tstamp, total_time_enabled, total_time_running;
	void *pmu_private;
	struct {
		int freq;
		u64 sample_freq, sample_period, sample_type;
	} attr;
	struct {
		int state;
		local64_t prev_count;
	} hw;
};

static inline bool is_sampling_event(struct perf_event *event)
{
	return event->attr.sample_period;
}

extern u64 unit_now;

static inline u64 local_clock(void)
{
	return unit_now;
}

struct pvperf_cpu;

extern struct pvperf_cpu *unit_cpu;

#define this_cpu_ptr(unused)	unit_cpu

#endif /* UNIT_GROUP_KERNEL_H */
