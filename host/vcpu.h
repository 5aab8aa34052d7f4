/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _PVPERF_HOST_VCPU_H
#define _PVPERF_HOST_VCPU_H

/*
 * A vCPU that has asked for something: its thread, its events, its page.
 *
 * Everything is done in the vCPU's own thread, with .lock held; others (the
 * ends below, debugfs, another vCPU's RESET) take .lock, too. The overflow
 * handler runs in that thread's NMI or interrupt and takes no lock: what it
 * uses (.head, .nmis, .dead) changes only while no event of the vCPU can
 * overflow, or is a word.
 */

#include <linux/irq_work.h>
#include <linux/kvm_pvperf.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/types.h>
#include <linux/workqueue.h>
#include "../compat/count.h"

struct kvm_vcpu;
struct pvperf_event;
struct pvperf_page;
struct pvperf_vm;
struct task_struct;

/* Why something ends, and so what may still be written to the guest. */
enum pvperf_end {
	PVPERF_END_CLOSE,	/* the guest said so: a last update */
	PVPERF_END_GONE,	/* the module leaves: state GONE */
	PVPERF_END_SILENT,	/* the memory may be another's: nothing */
};

/* A guest that numbers its events one after the other has each found at once. */
#define PVPERF_VCPU_RECENT	64

struct pvperf_vcpu {
	struct pvperf_vm *vm;
	struct kvm_vcpu *kvcpu;
	u32 index;
	struct mutex lock;
	struct task_struct *task;	/* the events' thread, referenced */
	struct list_head events;
	u32 nr_events;
	struct pvperf_event *recent[PVPERF_VCPU_RECENT];	/* by id */
	struct pvperf_page *page;	/* attached, or NULL */
	struct guest_perf_page *head;	/* in .page */
	u64 page_addr;			/* guest-physical */
	struct pvperf_compat_now now;	/* of the call that is under way ... */
	u64 clock;			/* ... and local_clock() then; 0: not looked yet */
	u32 nmis;
	unsigned long tick;		/* the overflow handler's own */
	u32 in_tick;
	bool dead;			/* reset: write nothing any more */
	struct irq_work wake;
	struct work_struct reset;
	struct guest_perf_op batch[KVM_PERF_BATCH_MAX];
};

/* In the vCPU's thread: find or make. NULL: no memory. */
struct pvperf_vcpu *pvperf_vcpu_get(struct pvperf_vm *vm, struct kvm_vcpu *kvcpu);
/* Last of all: it was cleared, and makes no calls any more. */
void pvperf_vcpu_destroy(struct pvperf_vcpu *vcpu);

/* Take .lock for a call: deals with a reset, or a new thread, first. */
void pvperf_vcpu_enter(struct pvperf_vcpu *vcpu);
void pvperf_vcpu_leave(struct pvperf_vcpu *vcpu);

int pvperf_vcpu_attach(struct pvperf_vcpu *vcpu, u64 addr);
/* .lock held: all events and the page go. */
void pvperf_vcpu_clear(struct pvperf_vcpu *vcpu, enum pvperf_end end);
/* .lock not held: the same for all vCPUs. */
void pvperf_vcpu_clear_all(struct pvperf_vm *vm, enum pvperf_end end);

/* .lock not held, not the vCPU's thread: all events anew, as the VM now wants. */
void pvperf_vcpu_reopen_all(struct pvperf_vm *vm);

/* From a hook, under RCU: this vCPU was reset by guest or userspace. */
void pvperf_vcpu_reset_seen(struct kvm_vcpu *kvcpu);

#endif /* _PVPERF_HOST_VCPU_H */
