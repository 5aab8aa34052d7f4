/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _PVPERF_GUEST_CPU_H
#define _PVPERF_GUEST_CPU_H

#include <linux/bits.h>
#include <linux/build_bug.h>
#include <linux/irq_work.h>
#include <linux/kvm_pvperf.h>
#include <linux/mm.h>
#include <linux/percpu.h>
#include <pvperf/page.h>
#include "slot.h"

/* What OPEN reads, of one slot. */
struct pvperf_open {
	struct guest_perf_event_param param;
	struct guest_perf_attr attr;
} __aligned(128);

/* The memory a CPU shares with the host; contiguous, no structure in two pages. */
struct pvperf_area {
	union {
		struct guest_perf_page page;
		u8 whole_page[PAGE_SIZE];
	};
	struct guest_perf_event event[PVPERF_SLOTS];
	struct pvperf_open open[PVPERF_SLOTS];
};

static_assert(sizeof(struct pvperf_area) == 4 * PAGE_SIZE);

struct pvperf_cpu {
	struct pvperf_area *area;	/* from the first time online, to the end */
	bool online;		/* may be attached */
	bool attached;		/* the host has the area */
	bool lost;		/* ... and turned out not to, in this flush */
	bool busy;		/* in a flush */
	u64 epoch;		/* of the host side we are attached to */
	unsigned long retry;	/* to attach again, in jiffies */

	int depth;		/* of pmu_disable() brackets */
	unsigned int txn;	/* PERF_PMU_TXN_* */
	unsigned long coming;	/* slots filled in this transaction ... */
	bool pinned;		/* ... and one of them by a pinned group's */
	unsigned long dirty;	/* slots whose event may want what isn't so; NMI */
	unsigned long reading;	/* slots to READ in the next flush */
	unsigned long leaving;	/* slots with .leaving */
	unsigned long on;	/* slots with .on */
	unsigned long idling;	/* slots without an event that are on ... */
	unsigned long stale;	/* ... and were so at the last look, too */
	bool crowded;		/* the host was short of counters since then */
	unsigned long starved;	/* slots begun in this round, without a counter */
	int hardware;		/* hardware events that are in slots */
	unsigned long together;	/* slots of the CPU's own events, read as one ... */
	unsigned long fresh;	/* ... and of these, what nobody has come for yet */
	u64 fresh_at;		/* since then; local_clock() */

	u32 queued;		/* operations in the page's batch */
	u64 now;		/* when the last batch was done; local_clock() */
	u32 nmis;		/* page.nmis that the handler has seen */
	bool late;		/* ... before they came, one of them */
	bool telling;		/* core of a throttling that is the host's */
	unsigned long late_until;	/* jiffies */
	struct irq_work work;	/* a flush that an NMI asked for */
	struct pvperf_slot slot[PVPERF_SLOTS];
};

extern struct pvperf_cpu __percpu *pvperf_cpus;

/* Callers have IRQs off, and so stay here. */
static inline struct pvperf_cpu *pvperf_cpu_this(void)
{
	return this_cpu_ptr(pvperf_cpus);
}

static inline struct guest_perf_event *
pvperf_cpu_event(struct pvperf_cpu *cpu, const struct pvperf_slot *slot)
{
	return &cpu->area->event[slot - cpu->slot];
}

/* On this CPU. */
static inline s32 pvperf_cpu_id(struct pvperf_cpu *cpu,
				const struct pvperf_slot *slot)
{
	return smp_processor_id() * PVPERF_SLOTS + (slot - cpu->slot);
}

/* The host counts in @slot from now on, or doesn't. On this CPU, not in NMI. */
static inline void pvperf_cpu_slot_turn(struct pvperf_cpu *cpu,
					struct pvperf_slot *slot, bool on)
{
	slot->on = on;
	__assign_bit(slot - cpu->slot, &cpu->on, on);
}

/* Slot @s is somebody's from now on. On this CPU. */
static inline void pvperf_cpu_slot_taken(struct pvperf_cpu *cpu, int s)
{
	const unsigned long others = ~BIT(s);

	cpu->idling &= others;
	cpu->stale &= others;
	cpu->fresh &= others;
	cpu->together &= others;
}

/* What the host says when it leaves, or what a new one does. */
static inline bool pvperf_cpu_gone(const struct pvperf_cpu *cpu)
{
	const struct guest_perf_page *page = &cpu->area->page;

	return READ_ONCE(page->state) == KVM_PERF_PAGE_GONE ||
	       READ_ONCE(page->epoch) != cpu->epoch;
}

/* Process context. */
int pvperf_cpu_init(void);
void pvperf_cpu_exit(void);
/* Attaches all CPUs, now and as they come online; and the reverse. */
int pvperf_cpu_start(void);
void pvperf_cpu_stop(void);

/* Of all CPUs, until pvperf_cpu_resume(): the host has none of our memory then. */
void pvperf_cpu_suspend(void);
void pvperf_cpu_resume(void);

/* While there are perf_events, looks every second if the host is still there. */
void pvperf_cpu_watch(void);
void pvperf_cpu_unwatch(void);

/* IRQs off, this CPU. */

/* Attached, or attached again just now? Then there may be more dirty slots. */
bool pvperf_cpu_serving(struct pvperf_cpu *cpu);
/* The host does not know us any more. */
void pvperf_cpu_forget(struct pvperf_cpu *cpu);

#endif /* _PVPERF_GUEST_CPU_H */
