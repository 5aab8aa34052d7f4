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

#endif /* _PVPERF_COMPAT_CORE_H */
