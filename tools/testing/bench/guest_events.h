/* SPDX-License-Identifier: GPL-2.0 */
#ifndef BENCH_GUEST_EVENTS_H
#define BENCH_GUEST_EVENTS_H

#include "timed.h"

#define EVENTS		KVM_PERF_EVENTS_MAX	/* of a vCPU */
#define EVENT_ID(v, n)	((v)->index * EVENTS + (n))

extern const struct guest_perf_attr clock_attr, instructions_attr;

/* Where OPEN of event @n finds what it reads. */
void param_put(struct tiny_vcpu *v, int n, const struct guest_perf_attr *attr);
int64_t event_open(struct tiny_vcpu *v, int n, const struct guest_perf_attr *attr);

/* @n events of the kind, that count, and a page; and their end. */
void events_begin(struct tiny_vcpu *v, int n, const struct guest_perf_attr *attr);
void events_end(struct tiny_vcpu *v);

/* Fills the page's batch: READs of @events events in turn, or a DISABLE and an ENABLE of each. */
void batch_reads(struct tiny_vcpu *v, int n, int events);
void batch_toggles(struct tiny_vcpu *v, int n, int events);

/* What the first @n operations take; or one, where a DISABLE and an ENABLE differ. */
uint64_t batch_time(struct tiny_vcpu *v, int n);
uint64_t toggle_time(struct tiny_vcpu *v);

#endif /* BENCH_GUEST_EVENTS_H */
