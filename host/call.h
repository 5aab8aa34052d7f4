/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _PVPERF_HOST_CALL_H
#define _PVPERF_HOST_CALL_H

/* KVM_PERF_OP: a guest's call, from its registers to a result. */

#include <linux/types.h>

struct kvm_vcpu;

/* RBX, RCX, RDX, RSI: 32 bits each, whatever mode the caller is in. */
struct pvperf_call {
	u32 op;
	u32 arg[3];
};

/* In the vCPU's thread; may sleep. What goes to RAX. */
long pvperf_call_do(struct kvm_vcpu *kvcpu, const struct pvperf_call *call);

/* Is there a host side for this VM at all? Any context. */
bool pvperf_call_offered(const struct kvm_vcpu *kvcpu);

#endif /* _PVPERF_HOST_CALL_H */
