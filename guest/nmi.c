// SPDX-License-Identifier: GPL-2.0
/*
 * Decides which NMIs are ours, and makes samples from the overflows that they stand for.
 *
 * The handler claims an NMI if the host has announced more NMIs than the handler has claimed,
 * or if an event has overflowed. So it does claim one for an event that is gone. Where one of
 * others comes before ours it claims that; for 0.1 s after an attach, or after several at once, it
 * claims one more, as one of ours may be late.
 *
 * Each overflow that is taken from the page of an event that samples becomes a sample or a lost
 * sample (of a software event of one mode: if it was in that mode). The periods of all samples of
 * others add up to the count, but for those of lost samples where the period is fixed.
 */
#include <asm/cpu_entry_area.h>
#include <asm/nmi.h>
#include <linux/jiffies.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/sched/clock.h>
#include <linux/sched/task_stack.h>
#include "../compat/core.h"
#include "../compat/perf.h"
#include "account.h"
#include "branches.h"
#include "event.h"
#include "link.h"
#include "nmi.h"
#include "period.h"
#include "state.h"

/* Is there a limit of overflows (PERF_EVENT_IOC_REFRESH), after which core stops the event? */
static bool sample_limited_nmi(const struct perf_event *event)
{
	return atomic_read(&event->event_limit);
}

/*
 * Has the kernel's entry code stored @user, the task's registers? It changes stacks first, and has
 * the page tables' address in the stack pointer for a moment.
 */
static bool sample_regs_kept_nmi(const struct pt_regs *regs, const struct pt_regs *user)
{
	unsigned long sp = regs->sp;

	if (sp - (unsigned long)task_stack_page(current) <= THREAD_SIZE)
		return sp <= (unsigned long)user;
	return sp >= PAGE_OFFSET && sp - CPU_ENTRY_AREA_BASE >= CPU_ENTRY_AREA_MAP_SIZE;
}

/* The task's; NULL: they may not be stored yet, and nobody waits for a signal. */
static noinline struct pt_regs *sample_regs_of_user_nmi(const struct perf_event *event,
							const struct pt_regs *regs)
{
	struct pt_regs *user = task_pt_regs(current);

	return sample_regs_kept_nmi(regs, user) || event->attr.sigtrap ||
	       (event->parent ?: event)->fasync || sample_limited_nmi(event) ? user : NULL;
}

/*
 * The NMI of an event of user code may come when the CPU has entered the kernel. The sample
 * belongs to the user code that the CPU has left, so it gets the registers of that: the reader may
 * be an ordinary user. NULL: those that are stored may be of the entry before, or the task gives up
 * its memory, so the sample is lost. Who counts what kernel threads do may see the kernel.
 */
static struct pt_regs *sample_regs_nmi(const struct perf_event *event,
				       struct pt_regs *regs)
{
	if (likely(user_mode(regs)) || !event->attr.exclude_kernel ||
	    (current->flags & PF_KTHREAD))
		return regs;
	return current->mm ? sample_regs_of_user_nmi(event, regs) : NULL;
}

/*
 * Returns whether there is to be a sample. The host's software events count in both modes, and core
 * makes none of its own in a mode that the program excludes: the next sample stands for what is
 * counted from here on.
 */
static noinline bool sample_begin_special_nmi(struct pvperf_cpu *cpu, int s,
					      struct perf_event *event, u32 n, struct pt_regs *regs)
{
	u16 flags = cpu->slot[s].key.flags;

	if (flags & PVPERF_KEY_BRANCHES)
		pvperf_branches_take_nmi(cpu, s, event, n, regs);
	if (!(flags & PVPERF_KEY_MODE) ||
	    !(user_mode(regs) ? event->attr.exclude_user : event->attr.exclude_kernel))
		return true;
	local64_set(&pvperf_event_of(event)->since, 0);
	pvperf_core_overflow_prepare(event, local_clock(), 0);
	return false;
}

/*
 * The period that each of @n samples stands for. If the host stretches periods, or did when it
 * chose this interval, which its driver arms one ahead, and the samples carry theirs, they share
 * @since as they do with a frequency.
 */
static u64 sample_period_nmi(const struct perf_event *event, u64 since,
			     u32 n, bool stretched)
{
	if (pvperf_event_is_freq(event) ||
	    (pvperf_event_tells_period(event) &&
	     (stretched || 2 * since >= 3 * (u64)n * event->hw.sample_period)))
		return max_t(u64, div_u64(since, n), 1);
	return event->hw.sample_period;
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
	if (unlikely(event->attr.sample_type & PERF_SAMPLE_BRANCH_STACK))
		pvperf_branches_give_nmi(event, &data);
	local64_sub(period, &pvperf_event_of(event)->since);
	return static_call(pvperf_overflow)(event, &data, regs);
}

/*
 * The host has stretched the periods, as they were too short for it. core's THROTTLE
 * record tells that to the reader of the samples. So once a tick we make core believe
 * that this overflow exceeds its own limit. core then wants the event stopped until the
 * next tick, which is not necessary: .hiding_throttle has ->stop() ignore that. An
 * event that exceeds core's real limit is stopped. Not in a group: newer kernels stop all of it,
 * other PMUs' events, too.
 */
static int sample_write_throttled_nmi(struct pvperf_cpu *cpu,
				      struct perf_event *event, u64 period,
				      struct pt_regs *regs)
{
	struct pvperf_event *p = pvperf_event_of(event);
	int halt;

	if (!pvperf_core_is_throttled(event)) {
		if (pvperf_core_in_group(event))
			return sample_write_nmi(event, period, regs);
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

	/* Or core would add 1 to its mark of a throttle, and forget it. */
	stretched |= pvperf_core_is_throttled(event);
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

/* All overflows of slot @s. */
static __always_inline void sample_nmi(struct pvperf_cpu *cpu, int s,
				       struct pt_regs *regs)
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
	if (unlikely(pvperf_period_min(event) > event->hw.sample_period))
		stretched |= !pvperf_event_is_freq(event);
	pvperf_account_fold(event, ev);
	pvperf_event_mark_fresh(pvperf_event_of(event), false);
	if (unlikely(slot->key.flags & PVPERF_KEY_OURS) &&
	    !sample_begin_special_nmi(cpu, s, event, n, regs)) {
		made = n;
	} else if (sample_wanted_nmi(slot, event)) {
		regs = sample_regs_nmi(event, regs);
		if (likely(regs))
			made = sample_write_all_nmi(cpu, event, n, stretched, regs);
	}
	pvperf_account_lose_samples(event, n - made);
	if (stretched)
		pvperf_account_lose_missed(event);
	WRITE_ONCE(slot->armed, READ_ONCE(ev->period));
	WRITE_ONCE(ev->period, pvperf_period_of(event));
}

/* A handler that takes longer than this was waiting for the host, not working. */
#define PVPERF_NMI_WORK	(100 * NSEC_PER_USEC)

/*
 * KVM lets one NMI wait while the handler runs. If the handler has seen that NMI's
 * announcement already, the NMI finds none when it comes. It may come after some more
 * instructions, so core's own test for such an NMI, an unchanged address, misses it.
 */
static int nmi_take_late(struct pvperf_cpu *cpu)
{
	if (!cpu->nmi.late || time_after(jiffies, cpu->nmi.late_until))
		return NMI_DONE;
	cpu->nmi.late = false;
	return NMI_HANDLED;
}

static void nmi_take_pending(struct pvperf_cpu *cpu, unsigned long pending, u64 start,
			     struct pt_regs *regs)
{
	int s;

	pvperf_for_each_slot(s, pending)
		sample_nmi(cpu, s, regs);
	/* If samples take too long, core lowers the allowed rate for good. */
	static_call(pvperf_sample_took)(min_t(u64, local_clock() - start, PVPERF_NMI_WORK));
}

/*
 * After a migration with no event open, a new host serves us without our page until the
 * first OPEN tells that. A host older than ABI 1.4 does not tell.
 */
static unsigned long nmi_unannounced(const struct pvperf_cpu *cpu)
{
	unsigned long on = cpu->set.on, pending = 0;
	int s;

	pvperf_for_each_slot(s, on)
		if (cpu->slot[s].key.sampling && READ_ONCE(cpu->area->event[s].overflows))
			__set_bit(s, &pending);
	return pending;
}

static int nmi_take_unannounced(struct pvperf_cpu *cpu, u64 start, struct pt_regs *regs)
{
	unsigned long pending = nmi_unannounced(cpu);

	if (!pending)
		return nmi_take_late(cpu);
	nmi_take_pending(cpu, pending, start, regs);
	pvperf_link_doubt_nmi(cpu);
	irq_work_queue(&cpu->batch.work);
	return NMI_HANDLED;
}

static int nmi_take(unsigned int type, struct pt_regs *regs)
{
	struct pvperf_cpu *cpu = pvperf_cpu_this();
	u64 start = local_clock();
	u32 nmis;

	if (!cpu->area)
		return NMI_DONE;
	nmis = pvperf_page_nmis(&cpu->area->page) - cpu->nmi.seen;
	if (!nmis)
		return nmi_take_unannounced(cpu, start, regs);
	cpu->nmi.seen += nmis;
	cpu->nmi.late |= nmis > 1;
	cpu->nmi.late_until = jiffies + PVPERF_NMI_LATE;
	nmi_take_pending(cpu, pvperf_page_pending_take(&cpu->area->page), start, regs);
	return NMI_HANDLED;
}

int pvperf_nmi_init(void)
{
	return register_nmi_handler(NMI_LOCAL, nmi_take, 0, "pvperf");
}

/* Waits for running handlers. */
void pvperf_nmi_exit(void)
{
	unregister_nmi_handler(NMI_LOCAL, "pvperf");
}
