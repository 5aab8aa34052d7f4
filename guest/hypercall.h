/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _PVPERF_GUEST_HYPERCALL_H
#define _PVPERF_GUEST_HYPERCALL_H

/*
 * The calls to the host, one inline for each. No other file makes a call. Each returns
 * the host's answer, which is a -KVM_E* value if negative, and concerns the vCPU that
 * makes it; callers that depend on the vCPU disable IRQs. A call may take long, as the
 * host may sleep in it; the guest sees that as steal time.
 */

#include <linux/kvm_para.h>
#include <linux/kvm_pvperf.h>
#include <linux/types.h>

/* Returns what the host answers, cut to 32 bits: a host may or may not have extended it. */
static inline int pvperf_call(u32 op, unsigned long a, unsigned long b,
			      unsigned long c)
{
	return (int)kvm_hypercall4(KVM_PERF_OP, op, a, b, c);
}

/* Is there a host side? Any context but NMI. Returns the host's ABI version, or -KVM_ENOSYS. */
static inline int pvperf_call_probe(void)
{
	return pvperf_call(KVM_PERF_OP_PROBE, 0, 0, 0);
}

/* Gives the host this vCPU's page, @page, instead of the one it has. Interrupts off. */
static inline int pvperf_call_attach(u64 page)
{
	return pvperf_call(KVM_PERF_OP_ATTACH, lower_32_bits(page),
			   upper_32_bits(page), 0);
}

/* Closes all events of this vCPU, and takes its page back. Interrupts off. */
static inline int pvperf_call_detach(void)
{
	return pvperf_call(KVM_PERF_OP_DETACH, 0, 0, 0);
}

/*
 * Has the host do @n operations, from @ops on, in order. Each gets a result of its own, and one
 * that fails does not end the batch. A signal for the vCPU's thread does: the rest wants another
 * call. Interrupts off. Returns how many were done, at least 1, or -KVM_E*.
 */
static inline int pvperf_call_batch(u64 ops, u32 n)
{
	return pvperf_call(KVM_PERF_OP_BATCH, lower_32_bits(ops),
			   upper_32_bits(ops), n);
}

/* Brings the memory of event @id up to date. Any context: it needs no memory of its own. */
static inline int pvperf_call_read_nmi(s32 id)
{
	return pvperf_call(KVM_PERF_OP_READ, id, 0, 0);
}

/* Detaches all vCPUs of the VM: for kexec, a crash, or when the memory becomes someone else's. */
static inline int pvperf_call_reset(void)
{
	return pvperf_call(KVM_PERF_OP_RESET, 0, 0, 0);
}

#endif /* _PVPERF_GUEST_HYPERCALL_H */
