/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _PVPERF_GUEST_LINK_H
#define _PVPERF_GUEST_LINK_H

#include "state.h"

/* What the host says when it leaves, or what a new one does. */
static inline bool pvperf_link_gone(const struct pvperf_cpu *cpu)
{
	const struct guest_perf_page *page = &cpu->area->page;

	return READ_ONCE(page->state) == KVM_PERF_PAGE_GONE ||
	       READ_ONCE(page->epoch) != cpu->link.epoch;
}

/* IRQs off, this CPU. */

/* The CPU may be attached from now on, at the next flush; and the reverse, at once. */
void pvperf_link_begin(struct pvperf_cpu *cpu);
void pvperf_link_end(struct pvperf_cpu *cpu);
/* Attached, or attached again just now? Then there may be more dirty slots. */
bool pvperf_link_serving(struct pvperf_cpu *cpu);
/* The host does not know us any more. */
void pvperf_link_forget(struct pvperf_cpu *cpu);

/* Any context. */

/* How often a CPU has lost its host, ever. */
int pvperf_link_losses(void);
/* Is a CPU without a host that may have one? */
bool pvperf_link_any_down(void);

#endif /* _PVPERF_GUEST_LINK_H */
