/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _PVPERF_GUEST_READ_H
#define _PVPERF_GUEST_READ_H

struct perf_event;
struct pvperf_cpu;

/* Both with IRQs off, on the event's CPU; the first from an NMI, too. */

void pvperf_read_event(struct perf_event *event);
/* All that pvperf_read_event() has put off until the transaction's end. */
void pvperf_read_deferred(struct pvperf_cpu *cpu);

#endif /* _PVPERF_GUEST_READ_H */
