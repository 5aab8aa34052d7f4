// SPDX-License-Identifier: GPL-2.0
/*
 * Makes samples from overflows, in NMI context. Calls account.h to fold the count, and
 * perf core, by compat/, to write samples. The invariant: each overflow that is taken
 * from the page becomes a sample or a lost sample, and the periods of all samples add
 * up to the count.
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
 * The NMI of an event of user code may come when the CPU has entered the kernel. The sample
 * belongs to the user code that the CPU has left, so it gets the registers of that: core
 * would take the kernel's address away from it, or the sample's SIGTRAP.
 */
static struct pt_regs *sample_regs_nmi(const struct perf_event *event,
				       struct pt_regs *regs)
{
	if (!event->attr.exclude_kernel || user_mode(regs) ||
	    (current->flags & PF_KTHREAD) || !current->mm)
		return regs;
	return task_pt_regs(current);
}

/*
 * The period that each of @n samples stands for. If the host stretches periods and the
 * samples carry theirs, they share @since as they do with a frequency.
 */
static u64 sample_period_nmi(const struct perf_event *event, u64 since,
			     u32 n, bool stretched)
{
	if (pvperf_event_is_freq(event) ||
	    (stretched && pvperf_event_tells_period(event)))
		return max_t(u64, div_u64(since, n), 1);
	return event->hw.sample_period;
}

/* Is there a limit of overflows (PERF_EVENT_IOC_REFRESH), after which core stops the event? */
static bool sample_limited_nmi(const struct perf_event *event)
{
	return atomic_read(&event->event_limit);
}

/*
 * An event that is stopped in a bracket, or leaving, still counts, so its overflows
 * make samples. But core sends no SIGTRAP for an event that has left, and can't stop it.
 */
static bool sample_wanted_nmi(const struct pvperf_slot *slot,
			      const struct perf_event *event)
{
	return !READ_ONCE(slot->halted) &&
	       (event == slot->event || !(event->attr.sigtrap || sample_limited_nmi(event)));
}

/* Returns what core says: not 0 if the event must stop for now. */
static int sample_write_nmi(struct perf_event *event, u64 period,
			    struct pt_regs *regs)
{
	struct perf_sample_data data;

	perf_sample_data_init(&data, 0, period);
	local64_sub(period, &pvperf_event_of(event)->since);
	return pvperf_compat_overflow_nmi(event, &data, regs);
}

/*
 * The host has stretched the periods, as they were too short for it. core's THROTTLE
 * record tells that to the reader of the samples. So once a tick we make core believe
 * that this overflow exceeds its own limit. core then wants the event stopped until the
 * next tick, which is not necessary: .hiding_throttle has ->stop() ignore that. An
 * event that exceeds core's real limit is stopped.
 */
static int sample_write_throttled_nmi(struct pvperf_cpu *cpu,
				      struct perf_event *event, u64 period,
				      struct pt_regs *regs)
{
	struct pvperf_event *p = pvperf_event_of(event);
	int halt;

	if (!pvperf_core_is_throttled(event)) {
		p->tick_overflows = pvperf_core_throttle_next(event);
		cpu->hiding_throttle = true;
		sample_write_nmi(event, period, regs);
		cpu->hiding_throttle = false;
		return 0;
	}
	pvperf_core_throttle_lift(event, p->tick_overflows);
	halt = sample_write_nmi(event, period, regs);
	p->tick_overflows = pvperf_core_throttle_back(event);
	return halt;
}

/*
 * core computes the next period of a frequency from the time between two samples and
 * the count in that time. Of overflows that come together only the last one may do
 * that, with the count of all. For the others a stamp in the future makes core skip
 * it. Returns the number of samples.
 */
static u32 sample_write_all_nmi(struct pvperf_cpu *cpu, struct perf_event *event,
				u32 n, bool stretched, struct pt_regs *regs)
{
	u64 since = max_t(s64, local64_read(&pvperf_event_of(event)->since), 1);
	u64 period = sample_period_nmi(event, since, n, stretched);
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
		halt = stretched && !sample_limited_nmi(event) ?
		       sample_write_throttled_nmi(cpu, event, period, regs) :
		       sample_write_nmi(event, period, regs);
	} while (made < n && !halt);
	/* Newer kernels have stopped the event already, older ones leave that to us. */
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
	/* After a move to a host whose shortest period is longer. */
	stretched |= pvperf_period_min(event) > event->hw.sample_period &&
		     !pvperf_event_is_freq(event);
	pvperf_account_fold(event, ev);
	pvperf_event_mark_fresh(pvperf_event_of(event), false);
	if (sample_wanted_nmi(slot, event))
		made = sample_write_all_nmi(cpu, event, n, stretched,
					    sample_regs_nmi(event, regs));
	pvperf_account_lose_samples(event, n - made);
	if (stretched)
		pvperf_account_lose_missed(event);
	WRITE_ONCE(slot->armed, READ_ONCE(ev->period));
	WRITE_ONCE(ev->period, pvperf_period_of(event));
}
