// SPDX-License-Identifier: GPL-2.0
/*
 * Decides which NMIs are ours, and which slots they stand for. Reads the page, calls
 * sample.h, knows no perf_event. The invariant: the handler claims an NMI if the host
 * has announced more NMIs than the handler has claimed, or if an event has overflowed. So it
 * never claims those of others, and does claim one for an event that is gone.
 */
#include <linux/jiffies.h>
#include <linux/minmax.h>
#include <linux/sched/clock.h>
#include <asm/nmi.h>
#include "../compat/perf.h"
#include "link.h"
#include "nmi.h"
#include "sample.h"
#include "state.h"

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
		pvperf_sample_nmi(cpu, s, regs);
	/* If samples take too long, core lowers the allowed rate for good. */
	pvperf_compat_sample_took_nmi(min_t(u64, local_clock() - start,
					    PVPERF_NMI_WORK));
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
