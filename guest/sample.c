// SPDX-License-Identifier: GPL-2.0
/*
 * Overflows become samples. Calls account.h to fold the count and perf core, by
 * compat, to write samples; all of it in NMI context. The invariant: each
 * overflow that is taken from the page is a sample, or is added to the event's
 * lost samples; and the periods of the samples add up to the count.
 */
#include <linux/math64.h>
#include <linux/sched/task_stack.h>
#include "../compat/core.h"
#include "../compat/perf.h"
#include "account.h"
#include "event.h"
#include "period.h"
#include "sample.h"
#include "state.h"

/*
 * An event of user code may get its NMI when the kernel has been entered since;
 * core would drop the sample without a word. It is of the user code that was
 * left.
 */
static struct pt_regs *regs_nmi(const struct perf_event *event,
				struct pt_regs *regs)
{
	if (!event->attr.exclude_kernel || user_mode(regs) ||
	    (current->flags & PF_KTHREAD) || !current->mm)
		return regs;
	return task_pt_regs(current);
}

/*
 * The period that a sample stands for. Where the host has made periods longer
 * and samples say what theirs was, it's as with a frequency.
 */
static u64 period_nmi(const struct perf_event *event, u64 since,
		      u32 n, bool stretched)
{
	if (pvperf_event_is_freq(event) ||
	    (stretched && pvperf_event_tells_period(event)))
		return max_t(u64, div_u64(since, n), 1);
	return event->hw.sample_period;
}

/*
 * Stopped in a bracket, or leaving, an event counts still, and its overflow is
 * one as any other. But one that has left has no SIGTRAP to send, for core.
 */
static bool wanted_nmi(const struct pvperf_slot *slot,
		       const struct perf_event *event)
{
	return !slot->halted && (event == slot->event || !event->attr.sigtrap);
}

/* Returns what core does: not 0 if there are to be no more for now. */
static int write_nmi(struct perf_event *event, u64 period,
		     struct pt_regs *regs)
{
	struct perf_sample_data data;

	perf_sample_data_init(&data, 0, period);
	local64_sub(period, &pvperf_event_of(event)->since);
	return pvperf_compat_overflow_nmi(event, &data, regs);
}

/*
 * The host has made the periods longer, as they were too short for it. Who reads
 * the samples is to know, by core's THROTTLE record: so core is made to believe,
 * once a tick, that this one was too many for itself. But nothing has to stop
 * until that tick, as core would have it; only what is too much for core itself
 * is halted.
 */
static int write_throttled_nmi(struct pvperf_cpu *cpu,
			       struct perf_event *event, u64 period,
			       struct pt_regs *regs)
{
	struct pvperf_event *p = pvperf_event_of(event);
	int halt;

	if (!pvperf_core_is_throttled(event)) {
		p->tick_overflows = pvperf_core_throttle_next(event);
		cpu->hiding_throttle = true;
		write_nmi(event, period, regs);
		cpu->hiding_throttle = false;
		return 0;
	}
	pvperf_core_throttle_lift(event, p->tick_overflows);
	halt = write_nmi(event, period, regs);
	p->tick_overflows = pvperf_core_throttle_back(event);
	return halt;
}

/*
 * Core computes the next period of an event with a frequency from the time
 * between two calls and the count in it. So of overflows that come together only
 * the last is let do so, with all of their count; a stamp in the future makes
 * core skip that for the others. Returns how many were made.
 */
static u32 write_all_nmi(struct pvperf_cpu *cpu, struct perf_event *event,
			 u32 n, bool stretched, struct pt_regs *regs)
{
	u64 since = max_t(s64, local64_read(&pvperf_event_of(event)->since), 1);
	u64 period = period_nmi(event, since, n, stretched);
	u64 last = pvperf_event_is_freq(event) ? since : period;
	u64 stamp = pvperf_core_overflow_stamp(event);
	u32 made = 0;
	int halt;

	do {
		made++;
		if (made < n)
			pvperf_core_overflow_prepare(event, PVPERF_CORE_AHEAD, period);
		else
			pvperf_core_overflow_prepare(event, stamp, last);
		halt = stretched ?
		       write_throttled_nmi(cpu, event, period, regs) :
		       write_nmi(event, period, regs);
	} while (made < n && !halt);
	/* Core may have done this itself, or leave it to us. */
	if (halt)
		pvperf_event_stop(event, 0);
	return made;
}

void pvperf_sample_nmi(struct pvperf_cpu *cpu, int s, struct pt_regs *regs)
{
	struct guest_perf_event *ev = &cpu->area->event[s];
	struct pvperf_slot *slot = &cpu->slot[s];
	struct perf_event *event = READ_ONCE(slot->event);
	u32 n = pvperf_page_overflows_take(ev), made = 0;
	bool stretched = READ_ONCE(ev->flags) & KVM_PERF_EVENT_STRETCHED;

	event = event ?: READ_ONCE(slot->leaving);
	if (!n || !event)
		return;
	pvperf_account_fold(event, ev);
	pvperf_event_mark_fresh(pvperf_event_of(event), false);
	if (wanted_nmi(slot, event))
		made = write_all_nmi(cpu, event, n, stretched,
				     regs_nmi(event, regs));
	pvperf_account_lose_samples(event, n - made);
	if (stretched)
		pvperf_account_lose_missed(event);
	slot->armed = READ_ONCE(ev->period);
	WRITE_ONCE(ev->period, pvperf_period_of(event));
}
