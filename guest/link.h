/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _PVPERF_GUEST_LINK_H
#define _PVPERF_GUEST_LINK_H

#include "state.h"

/* Has the host said in the page that it leaves, or has another one taken over? */
static inline bool pvperf_link_gone(const struct pvperf_cpu *cpu)
{
	const struct guest_perf_page *page = &cpu->area->page;

	return READ_ONCE(page->state) == KVM_PERF_PAGE_GONE ||
	       READ_ONCE(page->epoch) != READ_ONCE(cpu->link.epoch);
}

/*
 * In an NMI, on @cpu: the host has raised an overflow that it did not announce in our page,
 * so it has not got the page. The next flush takes it for another host.
 */
static inline void pvperf_link_doubt_nmi(struct pvperf_cpu *cpu)
{
	WRITE_ONCE(cpu->link.epoch, ~READ_ONCE(cpu->area->page.epoch));
}

/* These four: with IRQs off, on @cpu. */

/* Lets the next flush attach @cpu. */
void pvperf_link_begin(struct pvperf_cpu *cpu);
/* Detaches @cpu now, and lets no flush attach it again. */
void pvperf_link_end(struct pvperf_cpu *cpu);
/*
 * Is @cpu attached? If it is not, tries to attach it. That makes all used slots
 * dirty, as a new host has none of their events.
 */
bool pvperf_link_serving(struct pvperf_cpu *cpu);
/* The host does not know us any more. */
void pvperf_link_forget(struct pvperf_cpu *cpu);

/* In any context: */

/* How often CPUs have lost their host since the module was loaded. */
int pvperf_link_losses(void);
/* Why the last host side that was lost has gone: KVM_PERF_REASON_*. */
u32 pvperf_link_reason(void);
/* The host is back, and that was printed: a host that goes without a word has no reason. */
void pvperf_link_forget_reason(u32 printed);
/* Is there a CPU that should be attached and is not? @known: and was once. */
bool pvperf_link_is_down(const struct pvperf_cpu *cpu, bool known);
bool pvperf_link_any_down(bool known);

#endif /* _PVPERF_GUEST_LINK_H */
