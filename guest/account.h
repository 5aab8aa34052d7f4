/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _PVPERF_GUEST_ACCOUNT_H
#define _PVPERF_GUEST_ACCOUNT_H

#include <linux/types.h>

struct guest_perf_event;
struct perf_event;
struct pvperf_cpu;
struct pvperf_slot;

/* Any context. Adds what the page has more than was added before. */
void pvperf_account_fold(struct perf_event *event, const struct guest_perf_event *ev);

/* Any context. @n overflows of it will not become samples. */
void pvperf_account_lose_samples(struct perf_event *event, u32 n);

/*
 * Any context. Where samples don't say what their period was: the whole ones that
 * have had none, as the host has made them longer.
 */
void pvperf_account_lose_missed(struct perf_event *event);

/* The others with IRQs off, on @cpu. */

/* The event in @slot begins to count, from what the host event has. */
void pvperf_account_begin(struct pvperf_cpu *cpu, struct perf_event *event,
			  struct pvperf_slot *slot);

/* For batch.c, in a flush. */

/* The host event is about to be opened, its count starts at 0. */
void pvperf_account_restart(struct pvperf_cpu *cpu, struct pvperf_slot *slot);

/* These were read, and may be leaving. */
void pvperf_account_synced(struct pvperf_cpu *cpu, unsigned long slots);
/* It was enabled, disabled, could not be opened or enabled. */
void pvperf_account_served(struct pvperf_cpu *cpu, struct pvperf_slot *slot);
void pvperf_account_disabled(struct pvperf_cpu *cpu, struct pvperf_slot *slot);
void pvperf_account_unserved(struct pvperf_cpu *cpu, struct pvperf_slot *slot);
/* The host forgot it. */
void pvperf_account_lost(struct pvperf_cpu *cpu, struct pvperf_slot *slot);
/* The flush is over: the times of those that leave are final, and so they may go. */
void pvperf_account_settle(struct pvperf_cpu *cpu);

#endif /* _PVPERF_GUEST_ACCOUNT_H */
