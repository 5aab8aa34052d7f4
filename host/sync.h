/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _PVPERF_HOST_SYNC_H
#define _PVPERF_HOST_SYNC_H

/*
 * Reads an event's count, times and state from perf and publishes them to the
 * guest. The caller holds pvperf_vcpu.lock, and may sleep, unless a function says
 * otherwise.
 */

#include <linux/types.h>
#include <pvperf/page.h>
#include "pin.h"
#include "state.h"

/*
 * READ of one event, in the vCPU's thread. @event: the event; if it has failed, it is tried
 * again.
 */
void pvperf_sync_read(struct pvperf_host_event *event);

/*
 * READ of many events, in the vCPU's thread. @mask: bit n is set for event @id + n. Reads every
 * event that exists. Returns 0, or the first error.
 */
int pvperf_sync_read_many(struct pvperf_vcpu *vcpu, s32 id, u64 mask);

/* Publish count, times and the current state. */
void pvperf_sync_event(struct pvperf_host_event *event);

/* Publish what a new event has counted, nothing. @event: the event, which is off. */
void pvperf_sync_opened(struct pvperf_host_event *event);

/* Publish count and times. @state: the state to publish, KVM_PERF_STATE_*. */
void pvperf_sync_event_as(struct pvperf_host_event *event, u32 state);

/*
 * pvperf_sync_event_as(), without a word to the guest. @state: the state that the vCPU's next
 * call publishes, if it is the same then. In other threads than the vCPU's, whose guest may be
 * looking at its memory.
 */
void pvperf_sync_event_quietly(struct pvperf_host_event *event, u32 state);

/*
 * Enable a failed event again; perf never does by itself. @event: any event; nothing happens to
 * one that has not failed.
 */
void pvperf_sync_revive(struct pvperf_host_event *event);

/*
 * How long the vCPU's thread has run; any context. @event: an event of the vCPU. Returns
 * nanoseconds; up to its last tick if it is not the current thread.
 */
u64 pvperf_sync_ran(const struct pvperf_host_event *event);
/* What is booked without a counter begins now. */
void pvperf_sync_begin(struct pvperf_host_event *event);

/*
 * Store .sync where the guest sees it; any context. @event: the event, whose memory is not
 * poisoned.
 */
static inline void pvperf_sync_store(struct pvperf_host_event *event)
{
	if (event->full)
		pvperf_page_event_write(event->shared, &event->sequence,
					&event->sync);
	else
		WRITE_ONCE(event->shared->count, event->sync.count);
}

/* pvperf_sync_store(), if the memory is not poisoned; any context. */
static inline void pvperf_sync_tell(struct pvperf_host_event *event)
{
	if (!pvperf_pin_poisoned(event->shared))
		pvperf_sync_store(event);
}

#endif /* _PVPERF_HOST_SYNC_H */
