/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _PVPERF_GUEST_STATE_H
#define _PVPERF_GUEST_STATE_H

/*
 * What all other files here work on: a slot, the private part of a perf_event,
 * and what a CPU has of them. No functions but short inlines; no calls.
 */

#include <linux/bitops.h>
#include <linux/bits.h>
#include <linux/build_bug.h>
#include <linux/irq_work.h>
#include <linux/kvm_pvperf.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/percpu.h>
#include <linux/perf_event.h>
#include <linux/sched/clock.h>
#include <asm/local64.h>
#include <pvperf/page.h>

#define PVPERF_SLOTS	KVM_PERF_EVENTS_MAX	/* one bit each in .pending */

/* The slots of a set, as it is when this begins; for_each_set_bit() costs thrice that. */
#define pvperf_for_each_slot(s, set)						\
	for (unsigned long __left = (set);					\
	     __left && ((s) = __ffs(__left), true); __left &= __left - 1)

/* What the host counts. Events alike in this can follow each other in a slot. */
struct pvperf_key {
	u32 type;
	u32 flags;
	u64 config;
	bool sampling;
};

/*
 * A counter of a CPU's. Its host event, once open, stays so when its perf_event
 * has gone, for the next one of the same key. Touched on its CPU only, with
 * IRQs off; NMIs read .event and .leaving, and write .armed, .rearm, .halted.
 */
struct pvperf_slot {
	struct pvperf_key key;
	struct perf_event *event;	/* whose it is */
	struct perf_event *leaving;	/* whose it was until the coming flush */
	u64 armed;	/* the sampling period that runs at the host */
	int error;	/* of the last OPEN */
	bool open;	/* the host has it */
	bool on;	/* the host counts, for nobody if there's no event */
	bool begins;	/* on when .event came: counts from its READ or DISABLE */
	bool rearm;	/* start the period anew */
	bool halted;	/* throttled: no samples, though the host counts on */
	bool close;	/* for another key, or for good */
	bool trial;	/* open it without an event */
};

/* What became of a perf_event's time while it was on this CPU. */
enum pvperf_served {
	PVPERF_NOT_WANTED,	/* stopped: no time to lose */
	PVPERF_SERVED,		/* the host counts; what it lost it tells */
	PVPERF_UNSERVED,	/* the host doesn't: all is lost */
};

/*
 * A perf_event's private part. NMIs touch .since, .count_fresh_at and .times_fresh, and read
 * the rest but the times.
 */
struct pvperf_event {
	struct pvperf_key key;
	struct pvperf_slot *slot;	/* while it is added */
	int last;		/* number of the slot it had last, of any CPU's */
	bool hardware;		/* needs a counter of the host's */
	bool nested_only;	/* of a nested guest: always 0 */
	local64_t since;	/* counted since the last sample */
	u64 count_fresh_at;	/* when the count last was fresh; local_clock() */
	bool times_fresh;		/* ... and the times with it */
	u64 paced_count;	/* the page's count that core has been told ... */
	u64 paced_at;		/* ... when that was heard */
	u64 paced_running;	/* ... and the host's time then */
	u64 tick_overflows;	/* core's, while it believes to have throttled */
	bool tuned;		/* the period of a frequency is more than a guess */

	u64 added;		/* core's time stamp when it came here */
	u64 clock;		/* local_clock() when .served began */
	u64 enabled;		/* the host's times then */
	u64 running;
	u64 lost;		/* of the time before .clock */
	u64 taken;		/* of .lost, already taken from the event */
	u64 shown;		/* running time here, as of then */
	enum pvperf_served served;
	bool ran;		/* at the host, for any time at all */
	bool frozen;		/* .shown is not to grow while unserved */
	struct rcu_head rcu;
};

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

/* By the file that each part belongs to; others may look, and change what's said. */
struct pvperf_cpu {
	struct pvperf_area *area;	/* cpu.c: from the first time online, to the end */

	struct {			/* link.c */
		bool online;		/* may be attached */
		bool attached;		/* the host has the area */
		bool lost;		/* ... and turned out not to, in this flush; batch.c */
		u64 epoch;		/* of the host side we are attached to */
		unsigned long retry;	/* to attach again, in jiffies */
	} link;

	struct {			/* pmu.c */
		int depth;		/* of pmu_disable() brackets */
		unsigned int flags;	/* PERF_PMU_TXN_* */
		unsigned long slots;	/* filled in this transaction ... event.c */
		bool pinned;		/* ... and one of them by a pinned group's */
	} txn;

	struct {			/* of slots; anybody's. An NMI sets bits of .dirty */
		unsigned long dirty;	/* whose event may want what isn't so */
		unsigned long reading;	/* to READ in the next flush */
		unsigned long leaving;	/* with .leaving */
		unsigned long on;	/* with .on */
		unsigned long idling;	/* without an event that are on ... */
		unsigned long stale;	/* ... and were so at the last look, too */
	} set;

	struct {			/* the host's, for hardware events */
		int used;		/* hardware events that are in slots; event.c */
		bool scarce;		/* the host was short of them since the last look */
	} counters;

	struct {			/* read.c */
		unsigned long together;	/* slots of the CPU's own events, read as one ... */
		unsigned long fresh;	/* ... and of these, what nobody has come for yet */
		u64 fresh_at;		/* since then; local_clock() */
	} read;

	struct {			/* batch.c */
		bool busy;		/* in a flush */
		u32 queued;		/* operations in the page's batch */
		u64 now;		/* when the last one was done; local_clock() */
		unsigned long starved;	/* slots begun in this round, without a counter; account.c */
		struct irq_work work;	/* a flush that an NMI asked for */
	} batch;

	struct {			/* nmi.c; link.c for a new host */
		u32 seen;		/* of page.nmis, by the handler ... */
		bool late;		/* ... before they came, one of them */
		unsigned long late_until;	/* jiffies */
	} nmi;

	bool hiding_throttle;		/* sample.c: core believes in a throttling, we don't stop */

	struct pvperf_slot slot[PVPERF_SLOTS];
};

/* So long after an NMI one may come that was announced with it; in jiffies. */
#define PVPERF_NMI_LATE	(HZ / 10)

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
static inline void pvperf_slot_set_on(struct pvperf_cpu *cpu,
					struct pvperf_slot *slot, bool on)
{
	slot->on = on;
	__assign_bit(slot - cpu->slot, &cpu->set.on, on);
}

/* Slot @s is somebody's from now on. On this CPU. */
static inline void pvperf_slot_take(struct pvperf_cpu *cpu, int s)
{
	const unsigned long others = ~BIT(s);

	cpu->set.idling &= others;
	cpu->set.stale &= others;
	cpu->read.fresh &= others;
	cpu->read.together &= others;
}

static inline struct pvperf_event *pvperf_event_of(const struct perf_event *event)
{
	return event->pmu_private;
}

/* One of ours? Of any PMU's. */
static inline bool pvperf_event_is(const struct perf_event *event)
{
	return event->pmu->module == THIS_MODULE;
}

/* Samples at a frequency? .freq alone says nothing with a frequency of 0. */
static inline bool pvperf_event_is_freq(const struct perf_event *event)
{
	return event->attr.freq && event->attr.sample_freq;
}

/* Does each sample say what period it stands for? */
static inline bool pvperf_event_tells_period(const struct perf_event *event)
{
	return event->attr.sample_type & PERF_SAMPLE_PERIOD;
}

/* Any context. The page's count is fresh; @synced: and so are its times. */
static inline void pvperf_event_mark_fresh(struct pvperf_event *p, bool synced)
{
	p->count_fresh_at = local_clock();
	p->times_fresh = synced;
}

/* Should it count now? */
static inline bool pvperf_event_wanted(const struct pvperf_slot *slot)
{
	const struct perf_event *event = READ_ONCE(slot->event);

	return event && !(READ_ONCE(event->hw.state) & PERF_HES_STOPPED);
}

#endif /* _PVPERF_GUEST_STATE_H */
