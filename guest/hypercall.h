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

/**
 * pvperf_call - make one call to the host
 * @op: KVM_PERF_OP_*
 * @a: first argument, of which the host takes 32 bits
 * @b: second argument
 * @c: third argument
 *
 * The result is cut to 32 bits: a host may or may not have extended it.
 *
 * Return: what the host answers; a -KVM_E* value if negative.
 */
static inline int pvperf_call(u32 op, unsigned long a, unsigned long b,
			      unsigned long c)
{
	return (int)kvm_hypercall4(KVM_PERF_OP, op, a, b, c);
}

/**
 * pvperf_call_probe - ask whether there is a host side
 *
 * Context: Process context, on any vCPU.
 * Return: the host's ABI version, or -KVM_ENOSYS.
 */
static inline int pvperf_call_probe(void)
{
	return pvperf_call(KVM_PERF_OP_PROBE, 0, 0, 0);
}

/**
 * pvperf_call_attach - give the host this vCPU's page
 * @page: guest-physical address of a struct guest_perf_page, page aligned
 *
 * Replaces the page that was attached before.
 *
 * Context: Interrupts off, on the vCPU that is meant.
 * Return: 0, or a -KVM_E* value.
 */
static inline int pvperf_call_attach(u64 page)
{
	return pvperf_call(KVM_PERF_OP_ATTACH, lower_32_bits(page),
			   upper_32_bits(page), 0);
}

/**
 * pvperf_call_detach - close all events of this vCPU and take its page back
 *
 * Context: Interrupts off, on the vCPU that is meant.
 * Return: 0, or a -KVM_E* value.
 */
static inline int pvperf_call_detach(void)
{
	return pvperf_call(KVM_PERF_OP_DETACH, 0, 0, 0);
}

/**
 * pvperf_call_batch - have the host do several operations, in order
 * @ops: guest-physical address of the first struct guest_perf_op
 * @n: number of operations
 *
 * Each operation gets a result of its own. One that fails does not end the
 * batch. A signal for the vCPU's thread does: the rest wants another call.
 *
 * Context: Interrupts off, on the vCPU that is meant.
 * Return: how many operations were done, at least 1, or a -KVM_E* value.
 */
static inline int pvperf_call_batch(u64 ops, u32 n)
{
	return pvperf_call(KVM_PERF_OP_BATCH, lower_32_bits(ops),
			   upper_32_bits(ops), n);
}

/**
 * pvperf_call_read_nmi - bring one event's memory up to date
 * @id: the event's id
 *
 * The call needs no memory of its own, because an NMI may hit while a batch is
 * written.
 *
 * Context: Any, NMI included, on the event's vCPU.
 * Return: 0, or a -KVM_E* value.
 */
static inline int pvperf_call_read_nmi(s32 id)
{
	return pvperf_call(KVM_PERF_OP_READ, id, 0, 0);
}

/**
 * pvperf_call_reset - detach all vCPUs of the VM, whatever state they are in
 *
 * For kexec, a crash, and whenever the memory becomes someone else's.
 *
 * Context: Any, on any vCPU.
 * Return: 0, or a -KVM_E* value.
 */
static inline int pvperf_call_reset(void)
{
	return pvperf_call(KVM_PERF_OP_RESET, 0, 0, 0);
}

#endif /* _PVPERF_GUEST_HYPERCALL_H */
