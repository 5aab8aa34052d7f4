/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _PVPERF_HOST_SYNC_H
#define _PVPERF_HOST_SYNC_H

/*
 * An event's count, times and state, read of perf and told to the guest. All
 * functions want pvperf_vcpu.lock; those without a word on it may sleep.
 */

#include <linux/types.h>
#include <pvperf/page.h>
#include "state.h"

/* In the vCPU's thread. READ: tells what there is, and tries anew what has failed. */
void pvperf_sync_read(struct pvperf_host_event *event);
/*
 * The same for those that @mask says of the 64 events from @id on. All that there
 * are; 0 or the first error.
 */
int pvperf_sync_read_many(struct pvperf_vcpu *vcpu, s32 id, u64 mask);

/* Tells the guest what there is; in .state what it is, or @state. */
void pvperf_sync_event(struct pvperf_host_event *event);
void pvperf_sync_event_as(struct pvperf_host_event *event, u32 state);

/* Enabled, and perf has given it up: pinned, without a counter. Any context. */
bool pvperf_sync_failed(const struct pvperf_host_event *event);
/* That stays so until it is enabled again, which this does. */
void pvperf_sync_revive(struct pvperf_host_event *event);

/* How long the vCPU's thread has run; of another's, up to its last tick. Any context. */
u64 pvperf_sync_ran(const struct pvperf_host_event *event);

/* Any context: store .sync where the guest sees it. */
static inline void pvperf_sync_tell(struct pvperf_host_event *event)
{
	if (event->full)
		pvperf_page_event_write(event->shared, &event->sequence,
					&event->sync);
	else
		WRITE_ONCE(event->shared->count, event->sync.count);
}

#endif /* _PVPERF_HOST_SYNC_H */
