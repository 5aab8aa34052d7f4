/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _PVPERF_HOST_VCPU_H
#define _PVPERF_HOST_VCPU_H

/* What a vCPU has: its thread, its events, its page; how they begin and end. */

#include <linux/types.h>
#include "state.h"

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

#endif /* _PVPERF_HOST_VCPU_H */
