// SPDX-License-Identifier: GPL-2.0
/*
 * Which NMIs are ours, and which slots they stand for. Reads the page, calls
 * sample.h, knows no perf_event. The invariant: an NMI is claimed if and only
 * if the host has announced one that we have not seen, so that others' are
 * theirs, and one for an event that is gone is still ours.
 */
#include <linux/minmax.h>
#include <asm/nmi.h>
#include "cpu.h"
#include "nmi.h"
#include "sample.h"

static int pvperf_nmi_handler(unsigned int type, struct pt_regs *regs)
{
	struct pvperf_cpu *cpu = pvperf_cpu_this();
	unsigned long pending;
	u32 nmis;
	int s;

	if (!cpu->area)
		return NMI_DONE;
	nmis = pvperf_page_nmis(&cpu->area->page) - cpu->nmis;
	if (!nmis)
		return NMI_DONE;
	cpu->nmis += nmis;
	pending = pvperf_page_pending_take(&cpu->area->page);
	for_each_set_bit(s, &pending, PVPERF_SLOTS)
		pvperf_sample_nmi(cpu, s, regs);
	/* More than one: another NMI may follow with nothing left to announce. */
	return min(nmis, 2U);
}

int pvperf_nmi_init(void)
{
	return register_nmi_handler(NMI_LOCAL, pvperf_nmi_handler, 0, "pvperf");
}

/* Waits for handlers that run. */
void pvperf_nmi_exit(void)
{
	unregister_nmi_handler(NMI_LOCAL, "pvperf");
}
