/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _PVPERF_HOST_OPEN_H
#define _PVPERF_HOST_OPEN_H

#include <linux/types.h>

struct pvperf_vcpu;

/*
 * OPEN, in the vCPU's thread; may take long, so the vCPU is not locked. @addr: of the parameter,
 * in the guest; @id: what a batch says is its id, or NULL. Returns 0 or -KVM_E*.
 */
int pvperf_open(struct pvperf_vcpu *vcpu, u64 addr, const s32 *id);

#endif /* _PVPERF_HOST_OPEN_H */
