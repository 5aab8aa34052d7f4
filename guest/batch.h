/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _PVPERF_GUEST_BATCH_H
#define _PVPERF_GUEST_BATCH_H

struct pvperf_cpu;
struct pvperf_slot;

/*
 * Makes the host do what the dirty slots want, in one batch, and settles the
 * events that have left. IRQs off, on @cpu, not in NMI. Inside a flush (a BPF
 * program may come upon one) it does nothing.
 */
void pvperf_batch_flush(struct pvperf_cpu *cpu);

/* @slot's event has left it: to be stopped, or to run on for the next one. */
void pvperf_batch_leave(struct pvperf_cpu *cpu, struct pvperf_slot *slot);

/* Slots have become dirty: flush now, at the bracket's end, or after the NMI. */
void pvperf_batch_kick(struct pvperf_cpu *cpu);

#endif /* _PVPERF_GUEST_BATCH_H */
