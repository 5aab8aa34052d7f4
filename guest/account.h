/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _PVPERF_GUEST_ACCOUNT_H
#define _PVPERF_GUEST_ACCOUNT_H

#include <linux/types.h>

struct guest_perf_event;
struct perf_event;
struct pvperf_cpu;
struct pvperf_slot;

/* Adds to @event the growth of the page's count since the last call. Any context. */
void pvperf_account_fold(struct perf_event *event, const struct guest_perf_event *ev);

/* Counts @n overflows of @event that will have no sample. Any context. */
void pvperf_account_lose_samples(struct perf_event *event, u32 n);

/*
 * Counts as lost the whole periods for which the host made no overflow because it
 * stretched the period. Only if the samples do not carry their periods. Any context.
 */
void pvperf_account_lose_missed(struct perf_event *event);

/* All functions below: with IRQs off, on @cpu. */

/* @event starts to count in @slot: from what the host event has counted so far. */
void pvperf_account_begin(struct pvperf_cpu *cpu, struct perf_event *event,
			  struct pvperf_slot *slot);

/* All functions below: called by batch.c and link.c for what the host did. */

/* The host event of @slot will be opened, so its count starts at 0. */
void pvperf_account_restart(struct pvperf_cpu *cpu, struct pvperf_slot *slot);

/* The event of @slot was to begin at the count of a host event that has gone: it begins now. */
void pvperf_account_begin_anew(struct pvperf_slot *slot);

/* @slots were READ. Their events may be leaving. */
void pvperf_account_synced(struct pvperf_cpu *cpu, unsigned long slots);
/* @slot was enabled. */
void pvperf_account_served(struct pvperf_cpu *cpu, struct pvperf_slot *slot);
/* @slot was disabled. @waits: for an event that has come meanwhile, and waits from here on. */
void pvperf_account_disabled(struct pvperf_cpu *cpu, struct pvperf_slot *slot, bool waits);
/* @slot could not be opened or enabled. */
void pvperf_account_unserved(struct pvperf_cpu *cpu, struct pvperf_slot *slot);
/* The host has forgotten @slot's event. */
void pvperf_account_lost(struct pvperf_cpu *cpu, struct pvperf_slot *slot);
/* The flush is over. The times of leaving events are final now: lets these events go. */
void pvperf_account_settle(struct pvperf_cpu *cpu);

#endif /* _PVPERF_GUEST_ACCOUNT_H */
