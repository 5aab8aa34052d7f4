/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _PVPERF_GUEST_BATCH_H
#define _PVPERF_GUEST_BATCH_H

struct pvperf_cpu;
struct pvperf_slot;

/* All with IRQs off, on @cpu. */

/*
 * Sends the host one batch with what the dirty slots want, and settles the events
 * that have left. Does nothing within a flush, where a BPF program may end up, and
 * is not for NMIs.
 */
void pvperf_batch_flush(struct pvperf_cpu *cpu);

/* @slot's event has left: stops the host event, or lets it run on for the next one. */
void pvperf_batch_leave(struct pvperf_cpu *cpu, struct pvperf_slot *slot);

/* Slots became dirty: flushes now, or at the bracket's end, or after the NMI. */
void pvperf_batch_kick(struct pvperf_cpu *cpu);

#endif /* _PVPERF_GUEST_BATCH_H */
