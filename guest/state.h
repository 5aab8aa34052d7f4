/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _PVPERF_GUEST_STATE_H
#define _PVPERF_GUEST_STATE_H

/*
 * The structures that all other files of guest/ work on: a slot, the private part
 * of a perf_event, and what a CPU has of both. The inlines here are short and call
 * no other file.
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

#define PVPERF_SLOTS	KVM_PERF_EVENTS_MAX	/* each has one bit in page.pending */

/* Walks a copy of @set: for_each_set_bit() takes three times as many instructions. */
#define pvperf_for_each_slot(s, set)						\
	for (unsigned long __left = (set);					\
	     __left && ((s) = __ffs(__left), true); __left &= __left - 1)

/* What the host counts in a slot. Events of equal keys can share a host event in turn. */
struct pvperf_key {
	union {
		struct {
			u16 type;
			u16 cpu;	/* of the host, with KVM_PERF_FLAG_CPU */
		};
		u32 what;		/* both, to compare */
	};
	union {
		struct {
			u16 flags;
			bool sampling;
			u8 model;	/* of a raw event: pvperf_caps.model when it was opened */
		};
		u32 how;		/* all of these, to compare */
	};
	u64 config;
	u64 need;	/* of the host's counters, see counters.h; follows from the above */
};

/*
 * About a CPU of the host, or about one kind of its cores: which counter such an event takes, and
 * when, is not known here. So it needs none, and is not starved where it does not count.
 */
#define PVPERF_KEY_APART	(KVM_PERF_FLAG_CPU | KVM_PERF_FLAG_KINDS)

/* In .flags, besides those of the ABI, which do not use these bits. */
#define PVPERF_KEY_BRANCHES	BIT(1)	/* its samples have branches */
#define PVPERF_KEY_MODE		BIT(2)	/* a software event, and samples of one mode only */
#define PVPERF_KEY_OURS		(PVPERF_KEY_BRANCHES | PVPERF_KEY_MODE)

static_assert(!(PVPERF_KEY_OURS &
		(KVM_PERF_FLAG_DISABLED | KVM_PERF_FLAG_EXCLUDE_USER |
		 KVM_PERF_FLAG_EXCLUDE_KERNEL | KVM_PERF_FLAG_KINDS | KVM_PERF_FLAG_CPU |
		 KVM_PERF_FLAG_HOST)));

/* Of .how, one test for both: samples, or is apart. */
#define PVPERF_KEY_RESTLESS	(PVPERF_KEY_APART | 1u << 16)

static_assert(offsetof(struct pvperf_key, sampling) == offsetof(struct pvperf_key, how) + 2);

/*
 * The life of a slot:
 *
 *	free -> claimed -> open -> on -> idle -> on -> ... -> open -> free
 *
 * claimed: a perf_event has it; open: the host has an event for its key; on: that counts; idle: it
 * counts on, and no perf_event has the slot; the next one with this key begins at the host's count.
 * dirty: the flush looks whether the host has what is wanted; leaving: until the flush has booked
 * it, the slot has its last perf_event, too; a trial is an OPEN without one.
 */

/* From when on .event counts; until then nothing is folded, not even by an NMI. */
enum pvperf_begins {
	PVPERF_BEGUN,
	PVPERF_BEGINS_READ,	/* at a READ or DISABLE: the slot was on when .event came */
	PVPERF_BEGINS_OPENED,	/* once the host has opened it: the id may be another event's */
};

/*
 * A virtual counter of a CPU. When its perf_event leaves, its host event stays open
 * for the next perf_event with the same key. A slot is touched on its own CPU only,
 * with IRQs off. An NMI reads .key, .event, .leaving, .begins, .on, .open and .close, and writes
 * .armed, .rearm and .halted.
 */
struct pvperf_slot {
	struct pvperf_key key;
	struct perf_event *event;	/* the one that the slot counts for */
	struct perf_event *leaving;	/* the previous one, until the next flush */
	u64 armed;	/* the sampling period that the host has started */
	int error;	/* result of the last OPEN */
	u32 trial;	/* open the host event, with this period, though there is no perf_event */
	bool open;	/* the host event exists */
	bool on;	/* the host event counts, perhaps without a perf_event */
	u8 begins;	/* enum pvperf_begins */
	bool rearm;	/* restart the period */
	bool halted;	/* throttled: the host counts on, overflows make no samples */
	bool close;	/* close the host event: another key or period wants the slot, or nobody */
};

/* Finding a slot by its number, and the number by the slot, is then a shift. */
static_assert(sizeof(struct pvperf_slot) == 64);

/* So many events of other PMUs in a group share its losses. */
#define PVPERF_OTHERS	4

struct pvperf_other {
	const struct perf_event *event;	/* to compare; it may be gone */
	u64 count;	/* at the last levelling */
	u64 added;	/* its pvperf_core_tstamp() when it came to the group ... */
	u64 taken;	/* ... and what of its running time was taken since */
	u64 off;	/* pvperf_core_off(); another number: it was off since */
};

/* How a perf_event's time is booked while the event is on a CPU. */
enum pvperf_served {
	PVPERF_NOT_WANTED,	/* the event is stopped: no time is lost */
	PVPERF_SERVED,		/* the host counts, and tells how much time it lost */
	PVPERF_UNSERVED,	/* the host does not count: all time is lost */
};

/*
 * The private part of a perf_event. An NMI touches .since, .count_fresh_at, .times_fresh and
 * .tick_overflows, and reads the rest except for the times.
 */
struct pvperf_event {
	struct pvperf_key key;
	struct pvperf_slot *slot;	/* while the event is added */
	int last;		/* number of its last slot, whichever CPU that was on */
	bool hardware;		/* needs a counter of the host */
	bool nested_only;	/* counts guests of this guest only: always 0 */
	int refused;		/* the pvperf_slot_round in which the host has refused it ... */
	bool host_busy;		/* ... as it was too busy, or full */
	bool turnless;		/* is in counters.turnless */
	int heirs_refused;	/* it, or one that inherits it, anywhere; written by other CPUs */
	local64_t since;	/* counted since the last sample, or levelling of the group */
	u64 count_fresh_at;	/* when the page's count was last up to date; local_clock() */
	bool times_fresh;	/* the page's times were up to date then, too */
	u64 paced_count;	/* the page's count that core was last told of ... */
	u64 paced_at;		/* ... the .count_fresh_at of that count ... */
	u64 paced_running;	/* ... and the page's time_running then */
	u64 tick_overflows;	/* core's count of overflows, while core believes in a throttle */
	bool tuned;		/* the period of a frequency is measured, not guessed */
	bool anew;		/* at the next ENABLE .since is 0: the program has begun a period */

	u64 added;		/* pvperf_core_tstamp() when the event was added */
	u64 clock;		/* local_clock() of the last booking */
	u64 enabled;		/* the page's times then */
	u64 running;
	u64 lost;		/* time lost up to .clock, since the event was added */
	u64 lost_before;	/* .lost when the flush began that looks for starved events */
	u64 taken;		/* the part of .lost that total_time_running no longer has */
	u64 shown;		/* running time since .added that readers may have seen */
	enum pvperf_served served;	/* how the time since .clock is booked */
	bool ran;		/* since .added, or levelling, the host has counted for some time */
	bool frozen;		/* was unserved when .shown was set: .shown must not grow */

	bool together;		/* since .added all events of the group have run at a time */
	u64 level_clock;	/* .clock and .lost when the group was last levelled */
	u64 level_lost;
	u64 told;		/* the part of .lost - .taken that .other[] have lost already */
	int others;		/* events of other PMUs in the group, if this one answers for it */
	struct pvperf_other other[PVPERF_OTHERS];
	struct rcu_head rcu;
};

/* The input of OPEN for one slot. */
struct pvperf_open {
	struct guest_perf_event_param param;
	struct guest_perf_attr attr;
} __aligned(128);

/* So many events of a CPU have branches at a time: those in its last slots. */
#define PVPERF_BRANCH_SLOTS	4

/* The memory that a CPU shares with the host. No structure in it crosses a page. */
struct pvperf_area {
	union {
		struct guest_perf_page page;
		u8 whole_page[PAGE_SIZE];
	};
	struct guest_perf_event event[PVPERF_SLOTS];
	struct pvperf_open open[PVPERF_SLOTS];
	union {
		struct guest_perf_branches branches;
		u8 quarter_page[PAGE_SIZE / PVPERF_BRANCH_SLOTS];
	} last[PVPERF_BRANCH_SLOTS];
};

static_assert(sizeof(struct pvperf_area) == 5 * PAGE_SIZE);

/*
 * A CPU. Each part is the business of the unit that is named there. That CPU writes it, with
 * IRQs off; the watch reads some of it from another CPU. In an NMI see pvperf_slot.
 */
struct pvperf_cpu {
	struct pvperf_area *area;	/* cpu.c: from first online until module exit, or NULL */

	struct {			/* link.c */
		bool online;		/* the CPU may be attached */
		bool attached;		/* the host has the area */
		u64 epoch;		/* of the host that the CPU is attached to */
		unsigned long retry;	/* no attempt to attach before; jiffies */
	} link;

	struct {			/* pmu.c; event.c adds slots */
		int depth;		/* of nested pmu_disable() */
		unsigned int flags;	/* PERF_PMU_TXN_* */
		unsigned long slots;	/* filled in this transaction ... */
		bool pinned;		/* ... one of them for a pinned group */
		u64 turning;		/* .used less .turnless before it */
	} txn;

	struct {			/* sets of slots, for all files; NMIs set bits of .dirty */
		unsigned long dirty;	/* may differ from what the host has */
		unsigned long reading;	/* to READ in the next flush */
		unsigned long leaving;	/* have .leaving */
		unsigned long on;	/* have .on */
		unsigned long idling;	/* are on without an event */
		unsigned long stale;	/* are open without one, as at the last tick of the watch */
		unsigned long odd;	/* used, by a key that needs certain counters */
		unsigned long refused;	/* have a key that the host has refused, see .refused_in */
		unsigned long whole;	/* have a key that is about a CPU of the host */
		unsigned long looked;	/* of .whole, those that the watch has READ in turn */
		unsigned long grouped;	/* have an event that is in a group, or .leaving one */
	} set;

	struct {			/* of the host; event.c, idle.c, account.c, watch.c */
		u64 used;		/* what the hardware events in slots need ... */
		u64 turnless;		/* ... and of these, those that core gives no turns */
		bool scarce;		/* too few since the last tick */
		u32 shown;		/* most events seen counting at once ... */
		unsigned long shown_until;	/* ... which holds until then; jiffies */
	} counters;

	struct {			/* read.c; another host or user takes slots away */
		unsigned long together;	/* slots of the CPU's own events, READ at once ... */
		unsigned long fresh;	/* ... of these, the ones that no reader asked for yet */
		u64 fresh_at;		/* when .fresh was READ; local_clock() */
	} read;

	struct {			/* batch.c */
		bool busy;		/* a flush runs */
		bool lost;		/* a result of this flush says that the host forgot us */
		u32 queued;		/* operations in the page's batch */
		u64 now;		/* when the last batch was done; local_clock() */
		struct irq_work work;	/* a flush on behalf of an NMI */
	} batch;

	struct {			/* idle.c: events that starve; account.c adds slots */
		unsigned long slots;	/* should count and do not */
		u64 began;		/* before the batch that has starved events; else 0 */
	} starve;

	struct {			/* nmi.c; link.c for a new host */
		u32 seen;		/* announced NMIs that the handler knows of ... */
		bool late;		/* ... one of them is still to come */
		unsigned long late_until;	/* but not after this; jiffies */
	} nmi;

	bool hiding_throttle;		/* ->stop() must not stop, see nmi.c */

	int refused_in[PVPERF_SLOTS];	/* the pvperf_slot_round of that */
	struct pvperf_slot slot[PVPERF_SLOTS];

	struct {			/* slot.c, event.c; at the end, as slots are nearer then */
		unsigned long slots;	/* have a key of PVPERF_KEY_APART */
		u8 of_kind[1 + KVM_PERF_KINDS];	/* events in slots, where cores are of kinds */
	} apart;

	struct {			/* branches.c, in an NMI */
		u32 samples;		/* of one event, up to the one that has these */
		struct perf_branch_stack stack;
		struct perf_branch_entry entry[KVM_PERF_BRANCHES_MAX];	/* of .stack */
	} branches;

	unsigned long noted;		/* group.c: slots with an event that has .others */
};

/* An NMI that was announced together with another one comes within this; jiffies. */
#define PVPERF_NMI_LATE	(HZ / 10)

extern struct pvperf_cpu __percpu *pvperf_cpus;

/* The caller has IRQs off, so that the CPU remains this one. */
static inline struct pvperf_cpu *pvperf_cpu_this(void)
{
	return this_cpu_ptr(pvperf_cpus);
}

static inline struct guest_perf_event *
pvperf_cpu_event(struct pvperf_cpu *cpu, const struct pvperf_slot *slot)
{
	return &cpu->area->event[slot - cpu->slot];
}

/* Of the last slots each has its own. */
static inline struct guest_perf_branches *pvperf_cpu_branches(struct pvperf_cpu *cpu, int s)
{
	return &cpu->area->last[s % PVPERF_BRANCH_SLOTS].branches;
}

/* The ABI's id of @slot. @cpu is this CPU. */
static inline s32 pvperf_cpu_id(struct pvperf_cpu *cpu,
				const struct pvperf_slot *slot)
{
	return smp_processor_id() * PVPERF_SLOTS + (slot - cpu->slot);
}

/* Notes whether the host event of @slot counts. On this CPU, not in an NMI. */
static inline void pvperf_slot_set_on(struct pvperf_cpu *cpu,
				      struct pvperf_slot *slot, bool on)
{
	slot->on = on;
	__assign_bit(slot - cpu->slot, &cpu->set.on, on);
}

/* Takes slot @s out of the sets that describe its previous user. On this CPU. */
static inline void pvperf_slot_forget_user(struct pvperf_cpu *cpu, int s)
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

/* Is @event one of ours, of whichever of our PMUs? */
static inline bool pvperf_event_is(const struct perf_event *event)
{
	return event->pmu->module == THIS_MODULE;
}

/* Does @event sample at a frequency? .freq alone may come with a frequency of 0. */
static inline bool pvperf_event_is_freq(const struct perf_event *event)
{
	return event->attr.freq && event->attr.sample_freq;
}

/* Does each sample say what period it stands for? */
static inline bool pvperf_event_tells_period(const struct perf_event *event)
{
	return event->attr.sample_type & PERF_SAMPLE_PERIOD;
}

/* The page's count is up to date now; its times are, too, if @times. Any context. */
static inline void pvperf_event_mark_fresh(struct pvperf_event *p, bool times)
{
	WRITE_ONCE(p->count_fresh_at, local_clock());
	WRITE_ONCE(p->times_fresh, times);
}

/* Has the host counted for it since .added? In a group: for all of the group. */
static inline bool pvperf_event_has_run(const struct pvperf_event *p)
{
	return p->ran || p->together;
}

/* Should the event in @slot count now? */
static inline bool pvperf_event_wanted(const struct pvperf_slot *slot)
{
	const struct perf_event *event = READ_ONCE(slot->event);

	return event && !(READ_ONCE(event->hw.state) & PERF_HES_STOPPED);
}

#endif /* _PVPERF_GUEST_STATE_H */
