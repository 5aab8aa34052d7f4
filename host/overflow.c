// SPDX-License-Identifier: GPL-2.0
/*
 * Overflows. perf's room. Everything that may run in NMI context here takes no
 * lock, allocates nothing, and reads one word of guest memory: .period.
 *
 * Pace: perf stops an event that overflows too often until the next tick, and
 * counts nothing meanwhile, which the guest would not see. So we never get
 * there: beyond OVERFLOWS_PER_SECOND the period is doubled for as long as it
 * takes. The count stays right, and says how far apart the overflows were.
 */
#include <linux/jiffies.h>
#include <linux/perf_event.h>
#include "caps.h"
#include "event.h"
#include "inject.h"
#include "overflow.h"
#include "trace.h"
#include "vcpu.h"
#include "vm.h"

#define OVERFLOWS_PER_SECOND	16000
#define OVERFLOWS_PER_TICK	(OVERFLOWS_PER_SECOND / HZ)
#define STRETCH_MAX		20

/* The guest's wish, read once and bounded. */
static u64 overflow_period(struct pvperf_event *event)
{
	u64 want = event->full ? READ_ONCE(event->shared->period) : 0;
	u64 min = event->attr.type == PERF_TYPE_SOFTWARE ? 1 :
		  pvperf_policy.min_period;

	if (want)
		event->period = clamp(want, min, 1ULL << 40);
	return event->period;
}

/* perf stopped it until the next tick: the host's limit is lower than ours. */
static bool overflow_throttled(const struct perf_event *perf)
{
	return perf->hw.interrupts == ~0ULL;
}

static void overflow_pace(struct pvperf_event *event, bool throttled)
{
	if (event->tick != jiffies) {
		if (event->stretch && event->in_tick <= OVERFLOWS_PER_TICK / 2)
			event->stretch--;
		event->tick = jiffies;
		event->in_tick = 0;
	}
	if ((++event->in_tick > OVERFLOWS_PER_TICK || throttled) &&
	    event->stretch < STRETCH_MAX)
		event->stretch++;
}

void pvperf_overflow_arm(struct pvperf_event *event, u64 left)
{
	struct hw_perf_event *hw = &event->perf->hw;
	u64 period;

	if (!event->attr.sample_period)
		return;
	period = overflow_period(event) << event->stretch;
	if (!left || left > period)
		left = period;
	/* The perf_event is off, so these are nobody else's. */
	hw->sample_period = period;
	hw->last_period = period;
	local64_set(&hw->period_left, left);
}

void pvperf_overflow_nmi(struct perf_event *perf, struct perf_sample_data *data,
			 struct pt_regs *regs)
{
	struct pvperf_event *event = perf->overflow_handler_context;
	struct pvperf_vcpu *vcpu = event->vcpu;
	struct guest_perf_page *head;

	if (READ_ONCE(vcpu->dead))
		return;
	overflow_pace(event, overflow_throttled(perf));
	/* perf has armed the next period already: this is for the one after */
	perf->hw.sample_period = overflow_period(event) << event->stretch;

	event->sync.count = event->base.count + local64_read(&perf->count);
	event->sync.state = KVM_PERF_STATE_COUNTING;
	event->sync.flags = event->stretch ? KVM_PERF_EVENT_STRETCHED : 0;
	pvperf_event_tell(event);
	if (event->full)
		WRITE_ONCE(event->shared->count_at_overflow, event->sync.count);
	pvperf_page_overflows_inc(event->shared);
	atomic64_inc(&vcpu->vm->stats.overflows);
	trace_pvperf_overflow(vcpu->vm->pid, vcpu->index, event->id,
			      event->sync.count, perf->hw.sample_period);

	head = READ_ONCE(vcpu->head);
	vcpu->nmis++;
	if (head) {
		pvperf_page_pending_set(head, event->id);
		pvperf_page_nmis_set(head, vcpu->nmis);
	}
	atomic64_inc(&vcpu->vm->stats.nmis);
	trace_pvperf_inject(vcpu->vm->pid, vcpu->index, vcpu->nmis);
	pvperf_inject_nmi(vcpu);
}
