// SPDX-License-Identifier: GPL-2.0
/*
 * The trace event of this guest's clock. Reads a CPU's page and changes nothing. Calls no
 * other file. The invariant: no CPU is interrupted while the event is disabled.
 */
#include <linux/cpu.h>
#include <linux/smp.h>
#include <linux/spinlock.h>
#include <linux/workqueue.h>
#include "caps.h"
#include "clock.h"
#include "state.h"

#define CREATE_TRACE_POINTS
#include "trace.h"

static bool wanted;	/* the event is enabled */
static bool running;	/* between init and exit; changes under kick_lock */
static DEFINE_SPINLOCK(kick_lock);

static void clock_tell_here(void *unused)
{
	const struct pvperf_cpu *cpu = pvperf_cpu_this();
	u64 clock = 0;

	if (cpu->link.attached && pvperf_caps.features & KVM_PERF_FEATURE_CLOCK)
		clock = READ_ONCE(cpu->area->page.clock);
	trace_pvperf_guest_clock(clock);
}

static void clock_work(struct work_struct *work);
static DECLARE_DELAYED_WORK(next_round, clock_work);

static void clock_work(struct work_struct *work)
{
	if (!READ_ONCE(wanted))
		return;
	/* pvperf_clock_begin() is called some instructions before the event is enabled. */
	if (!trace_pvperf_guest_clock_enabled()) {
		schedule_delayed_work(&next_round, 1);
		return;
	}
	on_each_cpu(clock_tell_here, NULL, 1);
	schedule_delayed_work(&next_round, HZ);
}

/* Also while the module is freed: then there is nothing to do. */
static void clock_kick(void)
{
	spin_lock(&kick_lock);
	cancel_delayed_work(&next_round);
	if (running)
		schedule_delayed_work(&next_round, 0);
	spin_unlock(&kick_lock);
}

int pvperf_clock_begin(void)
{
	WRITE_ONCE(wanted, true);
	clock_kick();
	return 0;
}

void pvperf_clock_end(void)
{
	WRITE_ONCE(wanted, false);
}

static void clock_run(bool on)
{
	spin_lock(&kick_lock);
	running = on;
	spin_unlock(&kick_lock);
}

void pvperf_clock_init(void)
{
	clock_run(true);
	/* The event may be enabled before the module is. */
	clock_kick();
}

void pvperf_clock_exit(void)
{
	clock_run(false);
	cancel_delayed_work_sync(&next_round);
}
