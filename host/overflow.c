// SPDX-License-Identifier: GPL-2.0
/*
 * Overflows. perf's room. Whatever may run in NMI context here takes no lock,
 * allocates nothing, and reads one word of guest memory: .period.
 *
 * Pace: perf throttles an event that overflows too often, more than sysctl
 * kernel.perf_event_max_sample_rate allows: it stops the event until the next tick,
 * and the guest would not see that nothing is counted meanwhile. So we double the
 * period beyond that limit and one of our own, for as long as it takes. The count stays right, and
 * says how far apart the overflows were. With a limit of one in a tick perf stops an event of
 * hardware, or of a timer, at each overflow, so OPEN refuses these then.
 *
 * A software event also overflows while the VMM's own code runs in the vCPU's thread. There a
 * VMM resets the VM and loads its memory anew before any hook can see that, so such an
 * overflow is told with the next one in KVM_RUN, or in the vCPU's next call. So is one in real
 * mode, which a nested guest may be in; of hardware it is told in such a call.
 */
#include <linux/jiffies.h>
#include <linux/perf_event.h>
#include "../compat/core.h"
#include "../compat/symbol.h"
#include "branches.h"
#include "caps.h"
#include "inject.h"
#include "kinds.h"
#include "overflow.h"
#include "pin.h"
#include "state.h"
#include "sync.h"
#include "thread.h"
#include "trace.h"

/* A thread that runs vCPUs may have this many times the overflows of one event. */
#define THREAD_EVENTS	4

#define STRETCH_MAX	20
#define PERIOD_MAX	(1ULL << 62)

/*
 * The period that the guest wants: read once if the memory is @sound, bounded, and doubled
 * .stretch times.
 */
static u64 overflow_period(struct pvperf_host_event *event, bool sound)
{
	u64 want = sound && event->full ? READ_ONCE(event->shared->period) : 0;
	u64 min = pvperf_policy_min_period(&event->vcpu->vm->policy, event->attr.type);

	if (want) {
		event->period = clamp(want, min, PERIOD_MAX);
		event->raised = event->period > want;
	}
	return min(event->period, PERIOD_MAX >> event->stretch) << event->stretch;
}

/* How often an event may overflow in a tick. */
static u32 overflow_max(const struct pvperf_host_event *event)
{
	u32 max = pvperf_policy_word(&event->vcpu->vm->policy,
				     PVPERF_WORD_MAX_OVERFLOWS) / HZ;

	return pvperf_offer.per_tick ?
	       clamp(READ_ONCE(*pvperf_offer.per_tick), 1, (int)max) : max;
}

/* Is this overflow one too many since the tick? */
static bool overflow_thread_fast(struct pvperf_thread *thread, u32 max)
{
	if (thread->tick != jiffies) {
		thread->tick = jiffies;
		thread->in_tick = 0;
	}
	return ++thread->in_tick > max * THREAD_EVENTS;
}

/*
 * In a new tick: takes back as many doublings as leave the event well below the
 * limit, if it goes on at the rate of the last tick. No doubling is taken back
 * within a tick, so a burst ends after a few doublings.
 */
static void overflow_relax(struct pvperf_host_event *event)
{
	unsigned long passed = jiffies - event->tick, n;
	u32 max;

	if (!passed)
		return;
	max = overflow_max(event);
	n = event->in_tick / passed;
	while (event->stretch && n <= max * 3 / 8) {
		event->stretch--;
		n = n * 2 ?: 1;
	}
	event->tick = jiffies;
	event->in_tick = 0;
}

static void overflow_pace(struct pvperf_host_event *event)
{
	const u32 max = overflow_max(event);
	bool fast = overflow_thread_fast(event->vcpu->thread, max);

	overflow_relax(event);
	fast |= ++event->in_tick > max;
	if (fast && event->stretch < STRETCH_MAX)
		event->stretch++;
}

static bool overflow_is_fast(const struct pvperf_host_event *event)
{
	const struct pvperf_thread *thread = event->vcpu->thread;
	/* The thread may overflow while a VM's work asks, so this may be a guess. */
	const u32 in_tick = data_race(thread->tick != jiffies ? 0 : thread->in_tick);
	const u32 max = overflow_max(event);

	return event->in_tick > max || in_tick > max * THREAD_EVENTS;
}

/*
 * What is @left of a period that has begun before; all, if overflows are too many, or each ENABLE
 * could overflow at once. The guest is told with the next overflow, if that comes soon.
 */
static noinline u64 overflow_left(struct pvperf_host_event *event, u64 left, u64 period)
{
	if (!overflow_is_fast(event))
		return min(left, period);
	if (!event->stretch)
		event->stretch = 1;
	return period;
}

void pvperf_overflow_arm(struct pvperf_host_event *event, u64 left)
{
	u64 period;

	if (!event->attr.sample_period)
		return;
	overflow_relax(event);
	period = overflow_period(event, !pvperf_pin_poisoned(event->shared));
	left = left ? overflow_left(event, left, period) : period;
	pvperf_core_arm(event->perf, period, left);
}

/* From here on: interrupts off, as a timer's overflow may interrupt another one. */

static __always_inline u32 overflow_flags(const struct pvperf_host_event *event)
{
	return event->stretch || event->raised ? KVM_PERF_EVENT_STRETCHED : 0;
}

/* The memory is sound. */
static __always_inline void overflow_count(struct pvperf_host_event *event, u64 count)
{
	event->sync.count = event->base.count + count;
	event->sync.state = KVM_PERF_STATE_COUNTING;
	event->sync.flags = overflow_flags(event);
	pvperf_sync_store(event);
	if (event->full)
		WRITE_ONCE(event->shared->count_at_overflow, event->sync.count);
}

/* The memory has the count. */
static __always_inline void overflow_tell(struct pvperf_host_event *event, u32 n, u64 period)
{
	struct pvperf_vcpu *vcpu = event->vcpu;
	struct guest_perf_page *head = READ_ONCE(vcpu->head);
	struct pvperf_vm *vm = vcpu->vm;

	pvperf_page_overflows_add(event->shared, n);
	vcpu->nmis++;
	if (head && !pvperf_pin_poisoned(head)) {
		pvperf_page_pending_set(head, event->id);
		pvperf_page_nmis_set(head, vcpu->nmis);
	}
	atomic64_add(n, &vm->stats.overflows);
	trace_pvperf_overflow(vm->pid, vcpu->index, event->id, event->sync.count,
			      period);
	atomic64_inc(&vm->stats.nmis);
	trace_pvperf_inject(vm->pid, vcpu->index, vcpu->nmis);
	pvperf_inject_nmi(vcpu, event->pin);
}

static void overflow_defer(struct pvperf_host_event *event, const struct perf_event *perf)
{
	event->late++;
	if (event->attr.type == KVM_PERF_TYPE_SOFTWARE)
		event->late_at = event->base.count + pvperf_core_count_nmi(perf);
	WRITE_ONCE(event->vcpu->late, true);
}

/*
 * Nothing may be written, and the pace holds all the same. An overflow in real mode is told later,
 * but not with branches: the guest would take the last overflow's stack for this one's. No overflow
 * is told that happens while the thread runs another vCPU: it is of what that vCPU did.
 */
static noinline void overflow_mute(struct pvperf_host_event *event, struct perf_event *perf)
{
	overflow_pace(event);
	pvperf_core_next_period_nmi(perf, overflow_period(event, false));
	pvperf_core_no_throttle_nmi(perf);
	if (!READ_ONCE(event->vcpu->mute) && !pvperf_inject_is_other(event->vcpu) &&
	    !event->attr.sample_type && !pvperf_pin_poisoned(event->shared))
		overflow_defer(event, perf);
}

/* @event is on, so its release waits for us. Returns false if nothing may be written. */
static __always_inline bool overflow_begin(struct pvperf_host_event *event,
					   struct perf_event *perf, u64 *period)
{
	if (!pvperf_core_is_on_nmi(perf))
		return false;
	if (!pvperf_reset_alive_nmi(event->vcpu) || pvperf_pin_poisoned(event->shared)) {
		overflow_mute(event, perf);
		return false;
	}
	overflow_pace(event);
	*period = overflow_period(event, true);
	pvperf_core_next_period_nmi(perf, *period);
	pvperf_core_no_throttle_nmi(perf);
	return true;
}

/* @kinds: @perf is of one kind of cores. */
static __always_inline void overflow_do_hard(struct perf_event *perf, bool kinds, bool branches)
{
	struct pvperf_host_event *event = perf->overflow_handler_context;
	unsigned long flags;
	u64 period;

	local_irq_save(flags);
	if (overflow_begin(event, perf, &period)) {
		if (kinds)
			pvperf_kinds_period_nmi(event, perf, period);
		if (branches)
			pvperf_branches_write_nmi(event, pvperf_core_waited(perf));
		overflow_count(event, kinds ? pvperf_kinds_count_nmi(event) :
					      pvperf_core_count_nmi(perf));
		overflow_tell(event, 1, period);
	}
	local_irq_restore(flags);
}

static void overflow_nmi(struct perf_event *perf, struct perf_sample_data *data,
			 struct pt_regs *regs)
{
	overflow_do_hard(perf, false, false);
}

static void overflow_kinds_nmi(struct perf_event *perf, struct perf_sample_data *data,
			       struct pt_regs *regs)
{
	overflow_do_hard(perf, true, false);
}

void pvperf_overflow_branches(struct perf_event *perf, struct perf_sample_data *data,
			      struct pt_regs *regs)
{
	overflow_do_hard(perf, false, true);
}

void (*pvperf_overflow_hard)(struct perf_event *perf, struct perf_sample_data *data,
			     struct pt_regs *regs) __ro_after_init = overflow_nmi;

void pvperf_overflow_init(void)
{
	if (static_branch_unlikely(&pvperf_kinds_differ))
		pvperf_overflow_hard = overflow_kinds_nmi;
	pvperf_offer.per_tick = pvperf_symbol_data("max_samples_per_tick");
}

static void overflow_do_soft(struct pvperf_host_event *event, struct perf_event *perf)
{
	u64 period;
	u32 n;

	if (!overflow_begin(event, perf, &period))
		return;
	if (!pvperf_inject_is_running()) {
		overflow_defer(event, perf);
		return;
	}
	n = event->late + 1;
	event->late = 0;
	overflow_count(event, pvperf_core_count_nmi(perf));
	overflow_tell(event, n, period);
}

void pvperf_overflow_soft(struct perf_event *perf, struct perf_sample_data *data,
			  struct pt_regs *regs)
{
	unsigned long flags;

	local_irq_save(flags);
	overflow_do_soft(perf->overflow_handler_context, perf);
	local_irq_restore(flags);
}

static void overflow_tell_late(struct pvperf_host_event *event)
{
	u32 n;

	if (pvperf_pin_poisoned(event->shared))
		return;
	/* An NMI that is late may come in between. */
	n = xchg(&event->late, 0);
	if (!n)
		return;
	if (event->full)
		WRITE_ONCE(event->shared->count_at_overflow,
			   event->attr.type == KVM_PERF_TYPE_SOFTWARE ?
			   event->late_at : event->sync.count);
	overflow_tell(event, n, overflow_period(event, true));
}

void pvperf_overflow_late(struct pvperf_vcpu *vcpu)
{
	struct pvperf_host_event *event;
	unsigned long flags;

	if (!pvperf_reset_alive_nmi(vcpu))
		return;
	WRITE_ONCE(vcpu->late, false);
	list_for_each_entry(event, &vcpu->events, node) {
		if (!READ_ONCE(event->late))
			continue;
		event->sync.flags = overflow_flags(event);
		pvperf_sync_event(event);
		local_irq_save(flags);
		overflow_tell_late(event);
		local_irq_restore(flags);
	}
}
