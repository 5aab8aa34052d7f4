/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _PVPERF_HOST_IDS_H
#define _PVPERF_HOST_IDS_H

/* Ids of events: the guest chooses them, each is unique within its VM. */

#include <linux/types.h>
#include "state.h"

/* pvperf_vcpu.lock held. 0, or -KVM_EEXIST or -KVM_ENOMEM. */
int pvperf_ids_add(struct pvperf_host_event *event);
void pvperf_ids_remove(struct pvperf_host_event *event);
/* Does the VM have an event of this id, whichever vCPU's? Any context. */
static inline bool pvperf_ids_taken(struct pvperf_vm *vm, s32 id)
{
	return xa_load(&vm->ids, id);
}

/* The vCPU's event of this id, or ERR_PTR(-KVM_E*). Any context. */
struct pvperf_host_event *pvperf_ids_search(struct pvperf_vcpu *vcpu, s32 id);

static inline struct pvperf_host_event *pvperf_ids_find(struct pvperf_vcpu *vcpu, s32 id)
{
	struct pvperf_host_event *event = vcpu->recent[(u32)id % PVPERF_VCPU_RECENT];

	return event && event->id == id ? event : pvperf_ids_search(vcpu, id);
}

#endif /* _PVPERF_HOST_IDS_H */
