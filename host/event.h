/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _PVPERF_HOST_EVENT_H
#define _PVPERF_HOST_EVENT_H

/*
 * An event: the guest's id and memory on one side, a host perf_event bound to
 * the vCPU's thread on the other. All functions want pvperf_vcpu.lock, and run
 * in the vCPU's thread unless they say otherwise; they return 0 or -KVM_E*.
 */

#include <linux/kvm_pvperf.h>
#include <linux/types.h>
#include "state.h"

/* At load, process context: has perf a driver for this CPU's counters? */
bool pvperf_event_hardware(void);

/* @param and @attr are copies that were checked. */
int pvperf_event_open(struct pvperf_vcpu *vcpu,
		      const struct guest_perf_event_param *param,
		      const struct guest_perf_attr *attr);
/* Any process context. Frees @event. */
void pvperf_event_close(struct pvperf_host_event *event, enum pvperf_end end);
int pvperf_event_enable(struct pvperf_host_event *event, u64 left);
void pvperf_event_disable(struct pvperf_host_event *event);
/* The vCPU's thread is another one now: the caller. */
void pvperf_event_rebind(struct pvperf_host_event *event);
/* Any process context: the perf_event anew, for the same thread. */
void pvperf_event_reopen(struct pvperf_host_event *event);

#endif /* _PVPERF_HOST_EVENT_H */
