/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _PVPERF_HOST_EVENT_H
#define _PVPERF_HOST_EVENT_H

/*
 * An event: the guest's id and memory on one side, a host perf_event bound to
 * the vCPU's thread on the other. All functions want pvperf_vcpu.lock, and run
 * in the vCPU's thread unless they say otherwise; they return 0 or -KVM_E*.
 */

#include <linux/kvm_pvperf.h>
#include <linux/list.h>
#include <linux/rcupdate.h>
#include <linux/types.h>
#include <pvperf/page.h>
#include "vcpu.h"

struct perf_event;

struct pvperf_event {
	struct list_head node;		/* pvperf_vcpu.events */
	struct pvperf_vcpu *vcpu;
	s32 id;
	bool full;			/* 64 bytes of memory, not 16 */
	bool enabled;			/* by the guest */
	bool raised;			/* .period is above the guest's wish */
	struct guest_perf_attr attr;	/* our copy, checked */
	struct perf_event *perf;	/* NULL: could not be made again */
	struct pvperf_page *page;
	struct guest_perf_event *shared;	/* in .page */
	struct pvperf_event_sync sync;	/* what .shared was told last */
	struct pvperf_event_sync base;	/* of earlier threads' perf_events */
	u64 synced;			/* when, by local_clock() ... */
	u64 ran;			/* ... and by the thread's own time */
	u32 sequence;
	/* the overflow handler's own: see overflow.c */
	u64 period;
	unsigned long tick;
	u32 in_tick;
	u32 stretch;			/* doublings of .period */
	struct rcu_head rcu;
};

/* At load, process context: has perf a driver for this CPU's counters? */
bool pvperf_event_hardware(void);

/* @param and @attr are copies that were checked. */
int pvperf_event_open(struct pvperf_vcpu *vcpu,
		      const struct guest_perf_event_param *param,
		      const struct guest_perf_attr *attr);
/* Any process context. Frees @event. */
void pvperf_event_close(struct pvperf_event *event, enum pvperf_end end);
int pvperf_event_enable(struct pvperf_event *event, u64 left);
void pvperf_event_disable(struct pvperf_event *event);
/* The vCPU's thread is another one now: the caller. */
void pvperf_event_rebind(struct pvperf_event *event);
/* Any process context: the perf_event anew, for the same thread. */
void pvperf_event_reopen(struct pvperf_event *event);

/* The vCPU's event of this id, or ERR_PTR(-KVM_E*). Any context. */
struct pvperf_event *pvperf_event_search(struct pvperf_vcpu *vcpu, s32 id);

static inline struct pvperf_event *pvperf_event_find(struct pvperf_vcpu *vcpu, s32 id)
{
	struct pvperf_event *event = vcpu->recent[(u32)id % PVPERF_VCPU_RECENT];

	return event && event->id == id ? event : pvperf_event_search(vcpu, id);
}

/* Any context: store .sync where the guest sees it. */
static inline void pvperf_event_tell(struct pvperf_event *event)
{
	if (event->full)
		pvperf_page_event_write(event->shared, &event->sequence,
					&event->sync);
	else
		WRITE_ONCE(event->shared->count, event->sync.count);
}

#endif /* _PVPERF_HOST_EVENT_H */
