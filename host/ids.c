// SPDX-License-Identifier: GPL-2.0
/*
 * The table of ids, and the list of each vCPU's events. Knows neither KVM nor perf.
 */
#include <linux/err.h>
#include "ids.h"

static struct pvperf_host_event **recent(struct pvperf_host_event *event)
{
	return &event->vcpu->recent[(u32)event->id % PVPERF_VCPU_RECENT];
}

int pvperf_ids_add(struct pvperf_host_event *event)
{
	struct pvperf_vcpu *vcpu = event->vcpu;

	lockdep_assert_held(&vcpu->lock);
	switch (xa_insert(&vcpu->vm->ids, event->id, event, GFP_KERNEL_ACCOUNT)) {
	case 0:
		list_add_tail(&event->node, &vcpu->events);
		vcpu->nr_events++;
		*recent(event) = event;
		return 0;
	case -EBUSY:
		return -KVM_EEXIST;
	default:
		return -KVM_ENOMEM;
	}
}

void pvperf_ids_remove(struct pvperf_host_event *event)
{
	struct pvperf_vcpu *vcpu = event->vcpu;

	lockdep_assert_held(&vcpu->lock);
	xa_erase(&vcpu->vm->ids, event->id);
	list_del(&event->node);
	vcpu->nr_events--;
	if (*recent(event) == event)
		*recent(event) = NULL;
}

struct pvperf_host_event *pvperf_ids_search(struct pvperf_vcpu *vcpu, s32 id)
{
	struct pvperf_host_event *event;

	if (id < 0)
		return ERR_PTR(-KVM_ENOENT);
	rcu_read_lock();
	event = xa_load(&vcpu->vm->ids, id);
	if (!event)
		event = ERR_PTR(-KVM_ENOENT);
	else if (event->vcpu != vcpu)
		event = ERR_PTR(-KVM_EPERM);
	rcu_read_unlock();
	/* Our own event stays: only a holder of our vCPU's lock can close it. */
	return event;
}
