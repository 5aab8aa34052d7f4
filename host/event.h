/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _PVPERF_HOST_EVENT_H
#define _PVPERF_HOST_EVENT_H

/*
 * Events: the guest's id and memory on one side, a host perf_event bound to the
 * vCPU's thread on the other. The caller holds pvperf_vcpu.lock, and is the vCPU's
 * thread unless a function says otherwise.
 */

#include <linux/kvm_pvperf.h>
#include <linux/types.h>
#include "state.h"

struct perf_event;

/* At load. Returns 0 or -ENOMEM. */
int pvperf_event_init(void);

/* At unload, when no VM is left. */
void pvperf_event_exit(void);

/*
 * Try an event of hardware, with a @stack of branches. At load, in process context, without a lock.
 * Returns 0 or perf's error. The event without a stack stays until pvperf_event_tried(): on Intel
 * perf allocates buffers for all CPUs, and interrupts each, when hardware gets its first event.
 */
int pvperf_event_try(bool stack);
void pvperf_event_tried(void);

/*
 * OPEN. @param, @attr: checked copies; @pin: the event's memory; the caller's reference becomes
 * the event's if this succeeds. Returns 0 or -KVM_E*.
 */
int pvperf_event_open(struct pvperf_vcpu *vcpu,
		      const struct guest_perf_event_param *param,
		      const struct guest_perf_attr *attr, struct pvperf_pin *pin);

/* Behind pvperf_event_open(), for an attr with branches: these become the event @id's. */
void pvperf_event_set_branches(struct pvperf_vcpu *vcpu, s32 id,
			       struct pvperf_branches *branches);

/* Close an event and free it; any process context. @end: why. */
void pvperf_event_close(struct pvperf_host_event *event, enum pvperf_end end);

/*
 * ENABLE. @left: how much is left of the first period; 0: all of it. Returns 0, or -KVM_EBUSY
 * if there is no host event.
 */
int pvperf_event_enable(struct pvperf_host_event *event, u64 left);

/* DISABLE. */
void pvperf_event_disable(struct pvperf_host_event *event);

/*
 * Move the host event to the current thread. @event: an event whose vCPU runs in another thread
 * than before; @before: that thread.
 */
void pvperf_event_rebind(struct pvperf_host_event *event, struct pvperf_thread *before);

/*
 * Recreate the host event; any process context. @event: stays with its thread; count and times go
 * on, and a hardware event's period; its memory is not written.
 */
void pvperf_event_reopen(struct pvperf_host_event *event);

/*
 * From now on no hardware event is created; any context. Nests: each pvperf_event_unblock()
 * undoes one. An event that somebody wants meanwhile gets -EOPNOTSUPP, as while the PMU is lent
 * out.
 */
void pvperf_event_block(void);

/* Undo one pvperf_event_block(); any context. */
void pvperf_event_unblock(void);

/*
 * May the host event need a counter of the CPU? Returns true for hardware, cache and raw events
 * that have a host event.
 */
bool pvperf_event_has_counter(const struct pvperf_host_event *event);

/* Is it created anew when the VM's priority changes? Also if it could not be created before. */
bool pvperf_event_has_priority(const struct pvperf_host_event *event);

/* Could the host event not be recreated? */
bool pvperf_event_has_no_perf(const struct pvperf_host_event *event);

#endif /* _PVPERF_HOST_EVENT_H */
