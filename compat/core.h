/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _PVPERF_COMPAT_CORE_H
#define _PVPERF_COMPAT_CORE_H

/*
 * What the modules know about the meaning of perf core's own data. A kernel that changes such a
 * meaning still compiles and loads, so all of it is here: each inline names core's function, all
 * of kernel/events/core.c unless another file is named, and what it relies on. What any PMU driver
 * may use (hw.state, hw.prev_count, .count, hw.sample_period as the period to program) is not here.
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
 * How far core has added up an event's times. perf_event_update_time() adds the time since .tstamp
 * and moves .tstamp to now. core calls that before ->add(), by perf_event_set_state(), and before
 * a reader gets the times. When __perf_event_sync_stat() swaps the sums of two clones
 * (inherit_stat), .tstamp stays with its event. Returns a time of core's clock for the event's
 * context.
 */
static inline u64 pvperf_core_tstamp(const struct perf_event *event)
{
	return event->tstamp;
}

/*
 * A number that grows by the time in which an event is off. perf_event_update_time() moves
 * .tstamp, and adds as much to .total_time_enabled if .state is INACTIVE or more. ctx->lock is
 * held. Returns the number; it is the same as before if the event was not off since.
 */
static inline u64 pvperf_core_off(const struct perf_event *event)
{
	return event->tstamp - event->total_time_enabled;
}

/*
 * Take time out of an event's running time. perf_event_update_time() only ever adds to
 * .total_time_running, with what pvperf_core_next_member() wants. Returns how much it was;
 * __perf_event_sync_stat() may have given the sum to another event.
 */
static inline u64 pvperf_core_take_running(struct perf_event *event, u64 time)
{
	time = min(time, event->total_time_running);
	event->total_time_running -= time;
	return time;
}

/*
 * Take time out of another PMU's event, too. @event: the event, which is on this CPU in the
 * context of ours; @now: a time of core's clock for the event's context. As above. If core has not
 * added up its time until @now, the sum may be below 0 until it does, which is before a reader
 * gets it: perf_event_update_time(), __perf_update_times().
 */
static inline void pvperf_core_take_running_of_other(struct perf_event *event, u64 time, u64 now)
{
	s64 most = event->total_time_running + now - event->tstamp;

	if (most > 0)
		event->total_time_running -= min(time, (u64)most);
}

/* With ctx->lock: perf_event_update_time() adds no more to running than to enabled time. */
static inline bool pvperf_core_times_fit(const struct perf_event *event)
{
	return event->total_time_running <= event->total_time_enabled;
}

/*
 * Has a program set the event's fixed period since the last time, perhaps to what it was? Then
 * perf_event_period() made .period_left 0, which our driver needs for nothing else.
 */
static inline bool pvperf_core_period_begins(struct perf_event *event)
{
	if (local64_read(&event->hw.period_left))
		return false;
	local64_set(&event->hw.period_left, 1);
	return true;
}

/*
 * event_sched_in() leaves those out of a group whose .state is OFF or less: disabled, in error, or
 * taken off a CPU that went offline. list_del_event() has taken that one out of its context: if it
 * is enabled once the CPU is back its .state says INACTIVE, but nobody schedules it.
 */
static inline bool pvperf_core_is_off(const struct perf_event *event)
{
	return event->state <= PERF_EVENT_STATE_OFF || !(event->attach_state & PERF_ATTACH_CONTEXT);
}

/*
 * Is an event in a group with others? perf_group_attach() links siblings into the leader's
 * .sibling_list by their own. Returns true for a leader with siblings, and for a sibling.
 */
static inline bool pvperf_core_in_group(const struct perf_event *event)
{
	return !list_empty(&event->sibling_list);
}

/*
 * Walk through a group, from its leader on, which is its own .group_leader. @event: a member.
 * perf_group_attach() links siblings into the leader's .sibling_list by their own.
 * A sibling that perf_group_detach() has taken out is in no list, and may still name the leader.
 * ctx->lock or ctx->mutex is held, or IRQs are off on the CPU on which the context is active, as
 * for perf_event_read_local(): another CPU may then link a member that is off, and unlinks none
 * but by an IPI. Returns the next member; NULL behind the last one.
 */
static inline struct perf_event *pvperf_core_next_member(struct perf_event *event)
{
	struct list_head *next = event->sibling_list.next;

	return next == &event->group_leader->sibling_list ?
	       NULL : list_entry(next, struct perf_event, sibling_list);
}

/*
 * Does core let the events of a PMU take turns? @event: an event of that PMU. Up to 6.1 not those
 * of a software context: __perf_mux_hrtimer_init() gives it no timer. Newer kernels would, but the
 * host takes turns just as well. Returns true if an event that ->add() refuses gets its turn
 * later.
 */
static inline bool pvperf_core_rotates(const struct perf_event *event)
{
	return event->pmu->task_ctx_nr == perf_hw_context;
}

/*
 * Does an event belong to a CPU, not to a task? @event: the event, which is on a CPU.
 * perf_event_context.task is the task that alloc_perf_context() made the context for, and NULL in
 * the context of a CPU. Returns true if it belongs to a CPU.
 */
static inline bool pvperf_core_is_cpu_event(const struct perf_event *event)
{
	return !event->ctx->task;
}

/*
 * Update the page by which a program reads an event. perf_event_update_userpage() does nothing for
 * an event without a buffer, .rb, which nobody has mapped. It takes and drops RCU's lock to find
 * that out. Any context.
 */
static inline void pvperf_core_update_userpage(struct perf_event *event)
{
	if (READ_ONCE(event->rb))
		perf_event_update_userpage(event);
}

/*
 * Count overflows that have no sample. __perf_output_begin() (kernel/events/ring_buffer.c) counts
 * what finds no room in .lost_samples; a child's at its parent's buffer. Any context.
 */
static inline void pvperf_core_lose_samples(struct perf_event *event, u32 n)
{
	atomic64_add(n, &(event->parent ?: event)->lost_samples);
}

/*
 * Show core how much an event counts in a tick. @event: an event with a frequency; @n: its count
 * in TICK_NSEC; 0: unknown. In each tick perf_adjust_freq_unthr_context() (later, of leaders alone:
 * perf_adjust_freq_unthr_events()) stops the event, takes the growth of .count since
 * .freq_count_stamp for what it counts in TICK_NSEC, and computes a new period. It does not do
 * that for a growth of 0.
 */
static inline void pvperf_core_show_tick(struct perf_event *event, u64 n)
{
	event->hw.freq_count_stamp = local64_read(&event->count) - n;
}

#define PVPERF_CORE_AHEAD	S64_MAX	/* a stamp that lies ahead of any */

/*
 * When core last computed a period at an overflow. @event: an event with a frequency. Returns a
 * stamp for pvperf_core_overflow_prepare().
 */
static inline u64 pvperf_core_overflow_stamp(const struct perf_event *event)
{
	return event->hw.freq_time_stamp;
}

/*
 * Say what the next perf_event_overflow() computes with. @stamp: since when it has counted @count;
 * PVPERF_CORE_AHEAD: compute nothing. __perf_event_account_interrupt() computes the next period of
 * an event with a frequency from the time since .freq_time_stamp and the count in .last_period. It
 * does not if the stamp lies ahead, but sets the stamp to now in any case.
 */
static inline void pvperf_core_overflow_prepare(struct perf_event *event, u64 stamp,
						u64 count)
{
	event->hw.freq_time_stamp = stamp;
	event->hw.last_period = count;
}

/*
 * The throttle. __perf_event_account_interrupt() counts the overflows of a tick in
 * hw.interrupts. At a limit it sets MAX_INTERRUPTS and writes a THROTTLE record, and
 * perf_event_overflow() says that the event has to stop (from 6.16 on core stops it).
 * The next tick's perf_adjust_freq_unthr_context() takes MAX_INTERRUPTS for an event that was
 * throttled: it writes an UNTHROTTLE record, sets 0 and starts the event; of a group's members 6.12
 * does that when they are scheduled in next, as on bare metal.
 */
#define PVPERF_CORE_THROTTLED	(~0ULL)		/* core's MAX_INTERRUPTS */

/*
 * Does core believe that it has throttled an event? Any context. Returns true until core starts it.
 */
static inline bool pvperf_core_is_throttled(const struct perf_event *event)
{
	return event->hw.interrupts == PVPERF_CORE_THROTTLED;
}

/*
 * Have the next perf_event_overflow() throttle an event. @event: the event, which is not
 * throttled. One less than MAX_INTERRUPTS is above any limit, and core adds 1 before it compares.
 * Returns the real number of overflows in this tick, with that next one.
 */
static inline u64 pvperf_core_throttle_next(struct perf_event *event)
{
	u64 overflows = event->hw.interrupts + 1;

	event->hw.interrupts = PVPERF_CORE_THROTTLED - 1;
	return overflows;
}

/*
 * Let core count an overflow of a throttled event. @overflows: their number in this tick, up to
 * now. Goes before perf_event_overflow(), and pvperf_core_throttle_back() behind it.
 */
static inline void pvperf_core_throttle_lift(struct perf_event *event, u64 overflows)
{
	event->hw.interrupts = overflows;
}

/*
 * Have core believe again that an event is throttled. Returns the number of its overflows in this
 * tick.
 */
static inline u64 pvperf_core_throttle_back(struct perf_event *event)
{
	u64 overflows = event->hw.interrupts;

	event->hw.interrupts = PVPERF_CORE_THROTTLED;
	return overflows;
}

/* -------------------------------------------------------------------- host */

/*
 * Has perf given up a pinned event? Any context. merge_sched_in() puts a pinned event that finds
 * no counter in ERROR, where __perf_update_times() stops both of its clocks. It stays there until
 * somebody enables it again. Returns true if it has.
 */
static inline bool pvperf_core_failed(const struct perf_event *perf)
{
	return READ_ONCE(perf->state) == PERF_EVENT_STATE_ERROR;
}

/*
 * Have a failed event look for a counter again. _perf_event_enable() takes an event out of ERROR
 * before it enables it.
 */
static inline void pvperf_core_retry(struct perf_event *perf)
{
	perf_event_enable(perf);
}

/*
 * How long a task has run; interrupts off. @task: the task; if it is not the current one, the
 * answer is as old as its tick. update_curr() of kernel/sched/fair.c adds the time since
 * .exec_start to .sum_exec_runtime and sets .exec_start to now; another CPU may do that, too.
 * Returns nanoseconds.
 */
static inline u64 pvperf_core_ran(const struct task_struct *task)
{
	u64 ran = READ_ONCE(task->se.sum_exec_runtime);

	if (task == current)
		ran += local_clock() - READ_ONCE(task->se.exec_start);
	return ran;
}

/*
 * Derive the time of an event's context. @perf: the event, which is on; @enabled: what
 * perf_event_read_local() has just returned. __perf_update_times() computes @enabled as the total
 * plus the context's time since .tstamp.
 */
static inline void pvperf_core_now(struct pvperf_compat_now *now,
				   const struct perf_event *perf, u64 enabled)
{
	now->ctx = perf->ctx;
	now->time = enabled - perf->total_time_enabled + perf->tstamp;
}

/*
 * perf_event_read_local() without reading the clock. @perf: an event of the current task; @now:
 * the time of its context, if it was read; @enabled: how long it was enabled; @running: how long
 * it had a counter. Interrupts off. event_sched_in() sets ACTIVE and .oncpu, and by
 * perf_event_set_state() .tstamp. An event that is ACTIVE on this CPU stays so while interrupts
 * are off, and pmu->read() brings .count up to date. A pinned event may be in ERROR, see
 * pvperf_core_failed(). Returns false if only core can answer.
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
 * Set the period of an event that is off. @left: what is left of the first one.
 * x86_perf_event_set_period() of arch/x86/events/core.c and perf_swevent_start_hrtimer() start
 * from .period_left, and take .sample_period when that is used up. perf_swevent_event(), for
 * software events that are no clocks, counts .period_left up to 0. Nobody else writes to them
 * while the event is off.
 */
static inline void pvperf_core_arm(struct perf_event *perf, u64 period, u64 left)
{
	perf->hw.sample_period = period;
	perf->hw.last_period = period;
	if (perf->attr.type == PERF_TYPE_SOFTWARE &&
	    perf->attr.config > PERF_COUNT_SW_TASK_CLOCK)
		left = -left;
	local64_set(&perf->hw.period_left, left);
}

/*
 * What is left of a hardware event's period. @perf: the event, which was disabled.
 * x86_perf_event_update() of arch/x86/events/core.c takes off what was counted. Returns the rest;
 * 0 or less: a whole period.
 */
static inline s64 pvperf_core_left(const struct perf_event *perf)
{
	return local64_read(&perf->hw.period_left);
}

/*
 * Is an event that overflows still on? In the overflow handler. @perf: the event; interrupts are
 * off. perf_remove_from_context() takes an event off by an interrupt of its CPU, and so waits
 * until interrupts are on, if event_sched_in() has made it ACTIVE. perf_swevent_event() makes sure
 * of that since 6.1.164 and 6.12.74 (Debian's); before, a software event could overflow when its
 * release had returned, and what the handler writes to was somebody else's. Returns false if it
 * may be released already.
 */
static inline bool pvperf_core_is_on_nmi(const struct perf_event *perf)
{
	return READ_ONCE(perf->state) == PERF_EVENT_STATE_ACTIVE;
}

/*
 * The count, in the overflow handler. @perf: has overflowed. The drivers update .count before they
 * call perf_event_overflow(): x86_pmu_handle_irq() of arch/x86/events/core.c,
 * amd_pmu_v2_handle_irq() of arch/x86/events/amd/core.c.
 */
static inline u64 pvperf_core_count_nmi(const struct perf_event *perf)
{
	return local64_read(&perf->count);
}

/*
 * How long an event has waited for a counter. @perf: has overflowed, or is not on.
 * perf_event_set_state() brings both times up to date when event_sched_in() gives the event a
 * counter. They stand still in ERROR.
 */
static inline u64 pvperf_core_waited(const struct perf_event *perf)
{
	return perf->total_time_enabled - perf->total_time_running;
}

/*
 * Set the period after the next one. @perf: has overflowed. In the overflow handler. The drivers,
 * as above, arm the next period before they call perf_event_overflow().
 */
static inline void pvperf_core_next_period_nmi(struct perf_event *perf, u64 period)
{
	perf->hw.sample_period = period;
}

/*
 * Keep core from throttling an event. @perf: has overflowed. In the overflow handler. The throttle
 * would stop the event for the rest of the tick, see PVPERF_CORE_THROTTLED. An event that core has
 * just throttled keeps MAX_INTERRUPTS, or nobody would start it again.
 */
static inline void pvperf_core_no_throttle_nmi(struct perf_event *perf)
{
	if (!pvperf_core_is_throttled(perf))
		perf->hw.interrupts = 0;
}

#endif /* _PVPERF_COMPAT_CORE_H */
