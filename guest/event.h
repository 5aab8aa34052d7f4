/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _PVPERF_GUEST_EVENT_H
#define _PVPERF_GUEST_EVENT_H

#include <linux/module.h>
#include <linux/perf_event.h>
#include <linux/sched/clock.h>
#include <asm/local64.h>
#include "slot.h"

struct pvperf_cpu;

/* What became of a perf_event's time while it was on this CPU. */
enum pvperf_served {
	PVPERF_NOT_WANTED,	/* stopped: no time to lose */
	PVPERF_SERVED,		/* the host counts; what it lost it tells */
	PVPERF_UNSERVED,	/* the host doesn't: all is lost */
};

/*
 * A perf_event's private part. NMIs touch .since, .heard and .synced, and read
 * the rest but the times.
 */
struct pvperf_event {
	struct pvperf_key key;
	struct pvperf_slot *slot;	/* while it is added */
	int last;		/* number of the slot it had last, of any CPU's */
	bool hardware;		/* needs a counter of the host's */
	bool nowhere;		/* of a nested guest: always 0 */
	local64_t since;	/* counted since the last sample */
	u64 heard;		/* when the count last was fresh; local_clock() */
	bool synced;		/* ... and the times with it */
	u64 paced;		/* the page's count that core has been told ... */
	u64 paced_at;		/* ... when that was heard */
	u64 paced_running;	/* ... and the host's time then */
	u64 interrupts;		/* core's, while it believes to have throttled */
	bool tuned;		/* the period of a frequency is more than a guess */

	u64 added;		/* event->tstamp when it came here */
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

static inline struct pvperf_event *pvperf_event_of(const struct perf_event *event)
{
	return event->pmu_private;
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

/* For pmu.c. IRQs off, on the CPU; start and stop may come from an NMI. */
int pvperf_event_add(struct perf_event *event, int flags);
void pvperf_event_del(struct perf_event *event, int flags);
void pvperf_event_start(struct perf_event *event, int flags);
void pvperf_event_stop(struct perf_event *event, int flags);
/* Does all that this transaction has added count at the host, if it has to? */
bool pvperf_event_commit(struct pvperf_cpu *cpu);

/* Any context. The page's count is fresh; @synced: and so are its times. */
static inline void pvperf_event_heard(struct pvperf_event *p, bool synced)
{
	p->heard = local_clock();
	p->synced = synced;
}

/* One of ours? Of any PMU's. */
static inline bool pvperf_event_is(const struct perf_event *event)
{
	return event->pmu->module == THIS_MODULE;
}

/* Should it count now? */
static inline bool pvperf_event_wanted(const struct pvperf_slot *slot)
{
	const struct perf_event *event = READ_ONCE(slot->event);

	return event && !(READ_ONCE(event->hw.state) & PERF_HES_STOPPED);
}

#endif /* _PVPERF_GUEST_EVENT_H */
