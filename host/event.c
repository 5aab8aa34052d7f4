// SPDX-License-Identifier: GPL-2.0
/*
 * Events. perf's room: may know struct perf_event, not KVM.
 *
 * The one invariant: .perf's overflow handler may write to .shared, so .perf is
 * released (which waits for the handler) before .page is given back.
 */
#include <linux/err.h>
#include <linux/perf_event.h>
#include <linux/sched/clock.h>
#include <linux/slab.h>
#include "caps.h"
#include "event.h"
#include "overflow.h"
#include "page.h"
#include "vm.h"

static int event_error(long err)
{
	switch (err) {
	case -ENOENT:
	case -ENODEV:
		return -KVM_ENOENT;
	case -EINVAL:
		return -KVM_EINVAL;
	case -EOPNOTSUPP:	/* the PMU is lent to a VM (mediated vPMU) */
		return -KVM_EOPNOTSUPP;
	case -ENOMEM:
		return -KVM_ENOMEM;
	default:
		return -KVM_EBUSY;
	}
}

/*
 * Not pinned, unless the admin wants it so: the host's own pinned events come
 * first, and the guest is told. exclude_host counts what the vCPU does inside the
 * guest only; a software event is about the thread, and happens in the host.
 */
static struct perf_event *event_create(struct pvperf_event *event)
{
	const struct guest_perf_attr *from = &event->attr;
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.type = from->type,
		.config = from->config,
		.sample_period = from->sample_period,
		.disabled = 1,
	};

	if (from->type != PERF_TYPE_SOFTWARE) {
		attr.pinned = READ_ONCE(event->vcpu->vm->priority) ==
			      PVPERF_PRIORITY_PINNED;
		attr.exclude_host = 1;
		attr.exclude_user = !!(from->flags & KVM_PERF_FLAG_EXCLUDE_USER);
		attr.exclude_kernel = !!(from->flags & KVM_PERF_FLAG_EXCLUDE_KERNEL);
	}
	return perf_event_create_kernel_counter(&attr, -1, event->vcpu->task,
						pvperf_overflow_nmi, event);
}

static u32 event_state(const struct pvperf_event *event)
{
	if (!event->enabled)
		return KVM_PERF_STATE_OFF;
	if (!event->perf)
		return KVM_PERF_STATE_ERROR;
	switch (READ_ONCE(event->perf->state)) {
	case PERF_EVENT_STATE_ACTIVE:
		return KVM_PERF_STATE_COUNTING;
	case PERF_EVENT_STATE_INACTIVE:
		return KVM_PERF_STATE_STARVED;
	default:
		return KVM_PERF_STATE_ERROR;
	}
}

static bool event_failed(const struct pvperf_event *event)
{
	return event->enabled && event->perf &&
	       READ_ONCE(event->perf->state) == PERF_EVENT_STATE_ERROR;
}

/* The time of the call that is under way, which is good enough for all of it. */
static u64 event_now(const struct pvperf_event *event)
{
	struct pvperf_vcpu *vcpu = event->vcpu;

	if (!vcpu->clock)
		vcpu->clock = local_clock();
	return vcpu->clock;
}

/* How long the vCPU's thread has run; of another's, up to its last tick. */
static u64 event_clock(const struct pvperf_event *event)
{
	const struct task_struct *task = event->vcpu->task;
	unsigned long flags;
	u64 ran;

	local_irq_save(flags);
	ran = task->se.sum_exec_runtime;
	if (task == current)
		ran += local_clock() - task->se.exec_start;
	local_irq_restore(flags);
	return ran;
}

/*
 * perf stops the clocks of a pinned event that has found no counter, so that it
 * would look as if it had been there all the time. The thread's clock goes on.
 */
static void event_book_failed(struct pvperf_event *event, u64 enabled)
{
	s64 passed, counted;

	if (!event->perf || !event->perf->attr.pinned)
		return;
	passed = event_clock(event) - event->ran;
	counted = event->base.time_enabled + enabled - event->sync.time_enabled;
	event->ran += passed;
	if (event_failed(event) && passed > counted)
		event->base.time_enabled += passed - counted;
}

/*
 * A software event's overflow may come between the reading and the writing,
 * and have written more: a count never goes back.
 */
static void event_sync_as(struct pvperf_event *event, u32 state)
{
	u64 count = 0, enabled = 0, running = 0;
	struct perf_event *perf = event->perf;
	unsigned long flags;

	local_irq_save(flags);
	if (perf && pvperf_compat_count(perf, &event->vcpu->now, &count, &enabled,
					&running)) {
		local_irq_restore(flags);
		count = perf_event_read_value(perf, &enabled, &running);
		local_irq_save(flags);
	}
	event_book_failed(event, enabled);
	event->sync.count = max(event->sync.count, event->base.count + count);
	event->sync.time_enabled = event->base.time_enabled + enabled;
	event->sync.time_running = event->base.time_running + running;
	event->sync.state = state;
	event->synced = event_now(event);
	pvperf_event_tell(event);
	local_irq_restore(flags);
}

static void event_sync(struct pvperf_event *event)
{
	event_sync_as(event, event_state(event));
}

/* The event's memory, in a page that may be pinned already. */
static int event_map(struct pvperf_event *event, u64 addr)
{
	struct pvperf_vm *vm = event->vcpu->vm;
	struct pvperf_page *page;

	mutex_lock(&vm->lock);
	page = pvperf_page_get(vm, addr, pvperf_policy.max_pages);
	mutex_unlock(&vm->lock);
	if (IS_ERR(page))
		return PTR_ERR(page);
	event->page = page;
	event->shared = pvperf_page_at(page, addr);
	return 0;
}

static void event_unmap(struct pvperf_event *event)
{
	struct pvperf_vm *vm = event->vcpu->vm;

	mutex_lock(&vm->lock);
	pvperf_page_put(vm, event->page);
	mutex_unlock(&vm->lock);
}

static int event_publish(struct pvperf_event *event)
{
	struct pvperf_vcpu *vcpu = event->vcpu;

	switch (xa_insert(&vcpu->vm->ids, event->id, event, GFP_KERNEL_ACCOUNT)) {
	case 0:
		list_add_tail(&event->node, &vcpu->events);
		vcpu->nr_events++;
		vcpu->recent[(u32)event->id % PVPERF_VCPU_RECENT] = event;
		return 0;
	case -EBUSY:
		return -KVM_EEXIST;
	default:
		return -KVM_ENOMEM;
	}
}

static struct pvperf_event *event_alloc(struct pvperf_vcpu *vcpu,
					const struct guest_perf_event_param *param,
					const struct guest_perf_attr *attr)
{
	struct pvperf_event *event = kzalloc(sizeof(*event), GFP_KERNEL_ACCOUNT);

	if (!event)
		return NULL;
	event->vcpu = vcpu;
	event->id = param->id;
	event->full = param->event_size == KVM_PERF_EVENT_SIZE;
	event->attr = *attr;
	event->period = attr->sample_period;
	return event;
}

bool pvperf_event_hardware(void)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.type = PERF_TYPE_HARDWARE,
		.config = PERF_COUNT_HW_CPU_CYCLES,
		.disabled = 1,
	};
	struct perf_event *perf = perf_event_create_kernel_counter(&attr, -1,
							current, NULL, NULL);

	/* What is lent, or taken, is there. */
	if (IS_ERR(perf))
		return PTR_ERR(perf) != -ENOENT && PTR_ERR(perf) != -ENODEV;
	perf_event_release_kernel(perf);
	return true;
}

int pvperf_event_open(struct pvperf_vcpu *vcpu,
		      const struct guest_perf_event_param *param,
		      const struct guest_perf_attr *attr)
{
	struct pvperf_event *event;
	int ret;

	if (xa_load(&vcpu->vm->ids, param->id))
		return -KVM_EEXIST;
	if (vcpu->nr_events >= pvperf_policy.max_events)
		return -KVM_ENOSPC;
	event = event_alloc(vcpu, param, attr);
	if (!event)
		return -KVM_ENOMEM;
	ret = event_map(event, param->guest_event_addr);
	if (ret)
		goto err_free;
	event->perf = event_create(event);
	if (IS_ERR(event->perf)) {
		ret = event_error(PTR_ERR(event->perf));
		goto err_unmap;
	}
	ret = event_publish(event);
	if (ret)
		goto err_release;
	event_sync(event);
	return 0;

err_release:
	perf_event_release_kernel(event->perf);
err_unmap:
	event_unmap(event);
err_free:
	kfree(event);
	return ret;
}

/* Its last word is all that it counted. */
static void event_gone(struct pvperf_event *event)
{
	if (event->enabled && event->perf)
		perf_event_disable(event->perf);
	event_sync_as(event, KVM_PERF_STATE_GONE);
}

void pvperf_event_close(struct pvperf_event *event, enum pvperf_end end)
{
	struct pvperf_vcpu *vcpu = event->vcpu;

	if (end == PVPERF_END_CLOSE)
		pvperf_event_disable(event);
	else if (end == PVPERF_END_GONE)
		event_gone(event);
	if (event->perf)
		perf_event_release_kernel(event->perf);
	xa_erase(&vcpu->vm->ids, event->id);
	list_del(&event->node);
	vcpu->nr_events--;
	if (vcpu->recent[(u32)event->id % PVPERF_VCPU_RECENT] == event)
		vcpu->recent[(u32)event->id % PVPERF_VCPU_RECENT] = NULL;
	event_unmap(event);
	/* another vCPU may be looking at .vcpu under this id */
	kfree_rcu(event, rcu);
}

/* A pinned event that has failed stays so until it is enabled again. */
static void event_revive(struct pvperf_event *event)
{
	if (!event_failed(event))
		return;
	perf_event_enable(event->perf);
	if (!event_failed(event))
		event_sync(event);
}

int pvperf_event_enable(struct pvperf_event *event, u64 left)
{
	if (!event->perf)
		return -KVM_EBUSY;
	if (!event->enabled) {
		event->enabled = true;
		event->ran = event_clock(event);
		pvperf_overflow_arm(event, left);
		perf_event_enable(event->perf);
	}
	event_sync(event);
	event_revive(event);
	return 0;
}

void pvperf_event_disable(struct pvperf_event *event)
{
	if (event_failed(event))
		event_sync(event);
	if (event->enabled) {
		event->enabled = false;
		if (event->perf)
			perf_event_disable(event->perf);
	}
	event_sync(event);
}

void pvperf_event_read(struct pvperf_event *event)
{
	event_sync(event);
	event_revive(event);
}

/*
 * Since when the new thread has run the vCPU, nobody knows. So all the time
 * that the old one did not is taken for missed: the count may be short, and the
 * times say so.
 */
static void event_rebase(struct pvperf_event *event)
{
	u64 then = event->synced, before = event->sync.time_enabled;
	u64 passed, enabled;

	event_sync_as(event, event->sync.state);
	event->base = event->sync;
	passed = event->synced - then;
	enabled = event->sync.time_enabled - before;
	if (event->enabled && passed > enabled)
		event->base.time_enabled += passed - enabled;
}

/* Stops the perf_event that is to go. What is left of its period; 0: all. */
static u64 event_stop(struct pvperf_event *event)
{
	s64 left;

	/* To make the one before anew took long, and this one counted meanwhile. */
	event->vcpu->clock = 0;
	if (!event->perf)
		return 0;
	perf_event_disable(event->perf);
	if (event->attr.type == PERF_TYPE_SOFTWARE)
		return 0;
	left = local64_read(&event->perf->hw.period_left);
	return left > 0 && left < event->period ? left : 0;
}

/* From .synced until it counts again, its time is taken for missed. */
static void event_renew(struct pvperf_event *event, u64 left)
{
	if (event->perf)
		perf_event_release_kernel(event->perf);
	event->perf = event_create(event);
	if (IS_ERR(event->perf)) {
		event->perf = NULL;
	} else if (event->enabled) {
		pvperf_overflow_arm(event, left);
		event->ran = event_clock(event);
		perf_event_enable(event->perf);
		event->base.time_enabled += local_clock() - event->synced;
	}
	event->vcpu->clock = 0;
	event_sync(event);
}

void pvperf_event_rebind(struct pvperf_event *event)
{
	u64 left = event_stop(event);

	event_rebase(event);
	event_renew(event, left);
}

void pvperf_event_reopen(struct pvperf_event *event)
{
	u64 left = event_stop(event);

	event_sync_as(event, event->sync.state);
	event->base = event->sync;
	event_renew(event, left);
}

struct pvperf_event *pvperf_event_find(struct pvperf_vcpu *vcpu, s32 id)
{
	struct pvperf_event *event;

	if (id < 0)
		return ERR_PTR(-KVM_ENOENT);
	event = vcpu->recent[(u32)id % PVPERF_VCPU_RECENT];
	if (event && event->id == id)
		return event;
	rcu_read_lock();
	event = xa_load(&vcpu->vm->ids, id);
	if (!event)
		event = ERR_PTR(-KVM_ENOENT);
	else if (event->vcpu != vcpu)
		event = ERR_PTR(-KVM_EPERM);
	rcu_read_unlock();
	/* ours stays: only holders of our vCPU's lock can close it */
	return event;
}
