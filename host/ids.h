/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _PVPERF_HOST_IDS_H
#define _PVPERF_HOST_IDS_H

/* Ids of events: the guest chooses them, each is unique within its VM. */

#include <linux/types.h>
#include "state.h"

/* Enter an event, with pvperf_vcpu.lock held. Returns 0, -KVM_EEXIST or -KVM_ENOMEM. */
int pvperf_ids_add(struct pvperf_host_event *event);

/*
 * Remove an event, with pvperf_vcpu.lock held. @event: the event; others may look at it until
 * an RCU grace period is over.
 */
void pvperf_ids_remove(struct pvperf_host_event *event);

/* Has any vCPU of the VM an event of this id? Any context. Returns true if the id is in use. */
static inline bool pvperf_ids_taken(struct pvperf_vm *vm, s32 id)
{
	return xa_load(&vm->ids, id);
}

/*
 * Look up an event; any context. @vcpu: the vCPU that has to own it. Returns the event, or
 * ERR_PTR(-KVM_E*).
 */
struct pvperf_host_event *pvperf_ids_search(struct pvperf_vcpu *vcpu, s32 id);

/*
 * Look up an event; with pvperf_vcpu.lock held. @vcpu: the vCPU that has to own it. Returns the
 * event; NULL: only pvperf_ids_search() can tell.
 */
static inline struct pvperf_host_event *
pvperf_ids_recent(struct pvperf_vcpu *vcpu, s32 id)
{
	struct pvperf_host_event *event = vcpu->recent[(u32)id % PVPERF_VCPU_RECENT];

	return event && event->id == id ? event : NULL;
}

/*
 * pvperf_ids_search(), faster for a recent event. @vcpu: the vCPU that has to own it; its lock
 * is held. Returns the event, or ERR_PTR(-KVM_E*).
 */
static inline struct pvperf_host_event *
pvperf_ids_find(struct pvperf_vcpu *vcpu, s32 id)
{
	return pvperf_ids_recent(vcpu, id) ?: pvperf_ids_search(vcpu, id);
}

#endif /* _PVPERF_HOST_IDS_H */
