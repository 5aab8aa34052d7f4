/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _PVPERF_GUEST_READ_H
#define _PVPERF_GUEST_READ_H

struct perf_event;
struct pvperf_cpu;

/*
 * Reads @event. In a transaction this only notes the event for
 * pvperf_read_deferred(). IRQs off, on the event's CPU, in an NMI, too.
 */
void pvperf_read_event(struct perf_event *event);
/* Reads all events that the transaction has noted. IRQs off, on @cpu, not in an NMI. */
void pvperf_read_deferred(struct pvperf_cpu *cpu);

#endif /* _PVPERF_GUEST_READ_H */
