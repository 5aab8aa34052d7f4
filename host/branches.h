/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _PVPERF_HOST_BRANCHES_H
#define _PVPERF_HOST_BRANCHES_H

/*
 * The last branches before an event's overflow, for its guest. KVM's room.
 *
 * What a guest gets its vCPU has taken since KVM has last loaded it: nothing of the host runs in
 * user mode in between, and at the load the CPU's stack is cleared. For that kvm_arch_vcpu_load()
 * is hooked while there is such an event, on Intel VM entry and exit, too, and each NMI is looked
 * at before perf's driver does.
 */

#include <linux/types.h>
#include "state.h"

/* At load, if the CPU has a stack. Returns false if guests get no branches. */
bool pvperf_branches_init(void);

/* Remove the hook now. No vCPU with such events runs, and no call comes in. Process context. */
void pvperf_branches_unhook(void);

/* That, for good. */
void pvperf_branches_exit(void);

/*
 * OPEN, before the event: pin, and hook. @addr: was checked. In a vCPU's thread, which holds no
 * lock of ours. Returns the branches' memory, or ERR_PTR(-KVM_E*).
 */
struct pvperf_branches *pvperf_branches_get(struct pvperf_vm *vm, u64 addr);

/* Undo pvperf_branches_get(); any process context. */
void pvperf_branches_put(struct pvperf_vm *vm, struct pvperf_branches *branches);

/* An event has them from now on. @event: its vCPU is locked, and no perf_event is on. */
void pvperf_branches_begin(struct pvperf_host_event *event);

/* An event has them no more. @event: its perf_event is released, its vCPU locked. */
void pvperf_branches_end(struct pvperf_host_event *event);

/*
 * ENABLE, or a failed event is retried: what was before is no business of this event's. @waited: as
 * below. In the vCPU's thread; the event is not on.
 */
void pvperf_branches_clear(struct pvperf_branches *branches, u64 waited);

/*
 * The event has overflowed, and its memory is sound. @waited: the time so far in which perf had no
 * counter for it. In the vCPU's thread, in an NMI.
 */
void pvperf_branches_write_nmi(struct pvperf_host_event *event, u64 waited);

#endif /* _PVPERF_HOST_BRANCHES_H */
