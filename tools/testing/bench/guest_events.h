/* SPDX-License-Identifier: GPL-2.0 */
#ifndef BENCH_GUEST_EVENTS_H
#define BENCH_GUEST_EVENTS_H

#include "timed.h"

#define EVENTS		KVM_PERF_EVENTS_MAX	/* of a vCPU */
#define EVENT_ID(v, n)	((v)->index * EVENTS + (n))

extern const struct guest_perf_attr clock_attr, instructions_attr;

/* Puts what OPEN of event @n reads into the guest. */
void param_put(struct tiny_vcpu *v, int n, const struct guest_perf_attr *attr);
int64_t event_open(struct tiny_vcpu *v, int n, const struct guest_perf_attr *attr);

/* Opens and enables @n events of the kind, with a page; and closes them. */
void events_begin(struct tiny_vcpu *v, int n, const struct guest_perf_attr *attr);
void events_end(struct tiny_vcpu *v);

/* Makes a batch of @n READs of @events events in turn, or of @op of the first @n events. */
void batch_reads(struct tiny_vcpu *v, int n, int events);
void batch_each(struct tiny_vcpu *v, int n, uint32_t op);
/* Runs it, and takes the median. */
uint64_t batch_time(struct tiny_vcpu *v, int n, int rounds);

/*
 * Runs three batches of one operation: DISABLE and ENABLE of the first of @events events,
 * and a READ of all.
 */
void batch_singles(struct tiny_vcpu *v, int events);
void single_times(struct tiny_vcpu *v, uint64_t ticks[3]);

#endif /* BENCH_GUEST_EVENTS_H */
