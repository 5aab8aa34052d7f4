/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _PVPERF_COMPAT_CORE_H
#define _PVPERF_COMPAT_CORE_H

/*
 * What the modules know about the meaning of perf core's own data. A kernel that
 * changes such a meaning still compiles and loads, so all of it is here: each
 * inline names core's function, all of kernel/events/core.c unless another file
 * is named, and what it relies on. Documentation/kernels.md says which selftest
 * goes red. What any PMU driver may use (hw.state, hw.prev_count, .count,
 * hw.sample_period as the period to program) is not here.
 */

#include <linux/limits.h>
#include <linux/list.h>
#include <linux/minmax.h>
#include <linux/perf_event.h>
#include <linux/sched.h>
#include <linux/sched/clock.h>
#include <linux/smp.h>
#include "count.h"

/* ------------------------------------------------------------------- guest */

/*
 * How far core has added up @event's times. perf_event_update_time() adds the time
 * since .tstamp and moves .tstamp to now. core calls that before ->add(), by
 * perf_event_set_state(), and before anybody gets the times. When
 * perf_event_sync_stat() swaps the sums of two clones (inherit_stat), .tstamp
 * stays with its event.
 */
static inline u64 pvperf_core_tstamp(const struct perf_event *event)
{
	return event->tstamp;
}

/*
 * Takes @time from what perf_event_update_time() has added to .total_time_running.
 * core only ever adds to that, under ctx->lock, which the caller holds, too.
 */
static inline void pvperf_core_take_running(struct perf_event *event, u64 time)
{
	event->total_time_running -= min(time, event->total_time_running);
}

/*
 * Do the times of one event stand for others? perf_read_group() and
 * perf_output_read_group() give a leader's times only, for its whole group.
 */
static inline bool pvperf_core_is_leader(const struct perf_event *event)
{
	return event->group_leader == event;
}

static inline bool pvperf_core_in_group(const struct perf_event *event)
{
	return !list_empty(&event->sibling_list);
}

/*
 * Does core let events of @event's PMU take turns? Not those of a software
 * context: perf_mux_hrtimer_restart() has no timer for them.
 */
static inline bool pvperf_core_rotates(const struct perf_event *event)
{
	return event->pmu->task_ctx_nr == perf_hw_context;
}

/*
 * Does @event belong to a CPU? perf_event_context.task is NULL then, and else the
 * task that the context was allocated for, by alloc_perf_context().
 */
static inline bool pvperf_core_is_cpu_event(const struct perf_event *event)
{
	return !event->ctx->task;
}

/*
 * perf_event_update_userpage() has nothing to do for an event that nobody has
 * mapped, which is one without a buffer, .rb. It finds that out under RCU, after
 * it has read clocks; looking first saves all of that.
 */
static inline void pvperf_core_update_userpage(struct perf_event *event)
{
	if (READ_ONCE(event->rb))
		perf_event_update_userpage(event);
}

/*
 * @n overflows of @event have no sample. __perf_output_begin() (ring_buffer.c)
 * counts what finds no room in .lost_samples, a child's at its parent, whose
 * buffer it is.
 */
static inline void pvperf_core_lose_samples(struct perf_event *event, u32 n)
{
	atomic64_add(n, &(event->parent ?: event)->lost_samples);
}

/*
 * @event begins with hw.sample_period. perf_adjust_period() stops and starts an
 * event with more than 8 periods in .period_left, for the new period to be
 * programmed. The host keeps what is left of ours, so .period_left stays 0.
 */
static inline void pvperf_core_first_period(struct perf_event *event)
{
	event->hw.last_period = event->hw.sample_period;
	local64_set(&event->hw.period_left, 0);
}

/*
 * In each tick perf_adjust_freq_unthr_context() stops an event with a frequency,
 * and takes the growth of .count since .freq_count_stamp for what the event counts
 * in a tick, TICK_NSEC. It doesn't adjust the period if that is 0. Shows it @n.
 */
static inline void pvperf_core_show_tick(struct perf_event *event, u64 n)
{
	event->hw.freq_count_stamp = local64_read(&event->count) - n;
}

/*
 * perf_event_overflow() computes the next period of an event with a frequency, in
 * __perf_event_account_interrupt(), from the time since .freq_time_stamp and the
 * count in .last_period. It doesn't if the stamp lies ahead. Then it sets the
 * stamp to now, so the real one has to be put back.
 */
#define PVPERF_CORE_AHEAD	S64_MAX

static inline u64 pvperf_core_overflow_stamp(const struct perf_event *event)
{
	return event->hw.freq_time_stamp;
}

static inline void pvperf_core_overflow_prepare(struct perf_event *event, u64 stamp,
						u64 count)
{
	event->hw.freq_time_stamp = stamp;
	event->hw.last_period = count;
}

/*
 * The throttle. __perf_event_account_interrupt() counts the overflows of a tick in
 * hw.interrupts. At a limit it sets MAX_INTERRUPTS, writes a THROTTLE record, and
 * perf_event_overflow() says that the event is to stop (which core does itself
 * from 6.16 on). The next tick's perf_adjust_freq_unthr_context() takes
 * MAX_INTERRUPTS for an event that was throttled: it writes an UNTHROTTLE record,
 * sets 0 and starts the event.
 */
#define PVPERF_CORE_THROTTLED	(~0ULL)		/* core's MAX_INTERRUPTS */

static inline bool pvperf_core_is_throttled(const struct perf_event *event)
{
	return event->hw.interrupts == PVPERF_CORE_THROTTLED;
}

/*
 * Has the next perf_event_overflow() throttle @event, whatever the limit: one less
 * than MAX_INTERRUPTS is above any, and is counted up. Returns the number of
 * overflows that it really was, with that one.
 */
static inline u64 pvperf_core_throttle_next(struct perf_event *event)
{
	u64 overflows = event->hw.interrupts + 1;

	event->hw.interrupts = PVPERF_CORE_THROTTLED - 1;
	return overflows;
}

/* Around a perf_event_overflow() of a throttled event that counts on. */
static inline void pvperf_core_throttle_lift(struct perf_event *event, u64 overflows)
{
	event->hw.interrupts = overflows;
}

static inline u64 pvperf_core_throttle_back(struct perf_event *event)
{
	u64 overflows = event->hw.interrupts;

	event->hw.interrupts = PVPERF_CORE_THROTTLED;
	return overflows;
}

/* -------------------------------------------------------------------- host */

/*
 * A pinned event that found no counter: merge_sched_in() puts it in ERROR, where
 * __perf_update_times() stops both of its clocks. It stays there until somebody
 * enables it again. Any context.
 */
static inline bool pvperf_core_failed(const struct perf_event *perf)
{
	return READ_ONCE(perf->state) == PERF_EVENT_STATE_ERROR;
}

/* _perf_event_enable() takes an event out of ERROR before it enables it. */
static inline void pvperf_core_retry(struct perf_event *perf)
{
	perf_event_enable(perf);
}

/*
 * How long @task has run: update_curr() of kernel/sched/fair.c adds the time since
 * .exec_start to .sum_exec_runtime and sets .exec_start to now. Of another task
 * the answer is as old as its last tick. Interrupts off, for the current task.
 */
static inline u64 pvperf_core_ran(const struct task_struct *task)
{
	u64 ran = task->se.sum_exec_runtime;

	if (task == current)
		ran += local_clock() - task->se.exec_start;
	return ran;
}

/*
 * The clock of the context of @perf, which is on: perf_event_read_local() has
 * just returned @enabled, and __perf_update_times() made that of the total by
 * adding the context's time since .tstamp.
 */
static inline void pvperf_core_now(struct pvperf_compat_now *now,
				   const struct perf_event *perf, u64 enabled)
{
	now->ctx = perf->ctx;
	now->time = enabled - perf->total_time_enabled + perf->tstamp;
}

/*
 * perf_event_read_local() without its checks and without reading the clock, for
 * an event of the current task in the context of @now: false if only core can
 * answer. event_sched_in() sets ACTIVE, .oncpu and .tstamp; an event that is
 * ACTIVE on this CPU stays so while interrupts are off, and pmu->read() brings
 * .count up to date. A pinned event may be in ERROR, see pvperf_core_failed().
 */
static __always_inline bool pvperf_core_read(struct perf_event *perf,
					     const struct pvperf_compat_now *now,
					     u64 *count, u64 *enabled, u64 *running)
{
	s64 passed;

	if (perf->state != PERF_EVENT_STATE_ACTIVE || perf->ctx != now->ctx ||
	    READ_ONCE(perf->oncpu) != smp_processor_id() || perf->attr.pinned)
		return false;
	passed = now->time - perf->tstamp;
	if (passed < 0)
		return false;
	perf->pmu->read(perf);
	*count = local64_read(&perf->count);
	*enabled = perf->total_time_enabled + passed;
	*running = perf->total_time_running + passed;
	return true;
}

/*
 * Sets the period of a perf_event that is off, and what is left of the first
 * one. x86_perf_event_set_period() of arch/x86/events/core.c and
 * perf_swevent_set_period() start from .period_left, and take .sample_period
 * when that is used up. Nobody else writes to them while the event is off.
 */
static inline void pvperf_core_arm(struct perf_event *perf, u64 period, u64 left)
{
	perf->hw.sample_period = period;
	perf->hw.last_period = period;
	local64_set(&perf->hw.period_left, left);
}

/*
 * What is left of the period of a hardware event that was disabled:
 * x86_perf_event_update() takes off what was counted. 0 or less: all of it.
 */
static inline s64 pvperf_core_left(const struct perf_event *perf)
{
	return local64_read(&perf->hw.period_left);
}

/*
 * In the overflow handler: the count. The driver has updated it before it calls
 * perf_event_overflow(): x86_pmu_handle_irq(), amd_pmu_v2_handle_irq().
 */
static inline u64 pvperf_core_count_nmi(const struct perf_event *perf)
{
	return local64_read(&perf->count);
}

/*
 * In the overflow handler: the period after the next one. The drivers have armed
 * the next one before they call perf_event_overflow().
 */
static inline void pvperf_core_next_period_nmi(struct perf_event *perf, u64 period)
{
	perf->hw.sample_period = period;
}

/*
 * In the overflow handler: keeps core from throttling the event, unless it has
 * just done so: the throttle above would stop it for the rest of the tick. What
 * core has throttled keeps MAX_INTERRUPTS, or nobody would start it again.
 */
static inline void pvperf_core_no_throttle_nmi(struct perf_event *perf)
{
	if (!pvperf_core_is_throttled(perf))
		perf->hw.interrupts = 0;
}

#endif /* _PVPERF_COMPAT_CORE_H */
