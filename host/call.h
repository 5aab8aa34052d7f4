/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _PVPERF_HOST_CALL_H
#define _PVPERF_HOST_CALL_H

/* KVM_PERF_OP: a guest's call, from its registers to a result. */

#include <linux/types.h>

struct kvm_vcpu;
struct pvperf_policy;

/* A guest's call, 32 bits of each register in any CPU mode. */
struct pvperf_call {
	u32 op;		/* KVM_PERF_OP_*, from RBX */
	u32 arg[3];	/* from RCX, RDX, RSI */
};

/* Do a call, in the vCPU's thread; may sleep. Returns what goes to RAX. */
long pvperf_call_do(struct kvm_vcpu *kvcpu, const struct pvperf_call *call);

/*
 * Is there a host side for this VM? May sleep. @kvcpu: the vCPU whose thread this is. Returns
 * what the VM may have, or NULL if there is none.
 */
const struct pvperf_policy *pvperf_call_offered(const struct kvm_vcpu *kvcpu);

#endif /* _PVPERF_HOST_CALL_H */
