/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _PVPERF_GUEST_HYPERCALL_H
#define _PVPERF_GUEST_HYPERCALL_H

/*
 * The calls to the host, one inline each; the only place that makes any. All
 * return what the host answers, a -KVM_E* value if negative, and concern the
 * vCPU they are made on: callers that care about that have IRQs off. A call may
 * take the host long (it may sleep there), which looks like steal from here.
 */

#include <linux/kvm_para.h>
#include <linux/kvm_pvperf.h>
#include <linux/types.h>

/* Results are 32 bits wide; the host may or may not have extended them. */
static inline int pvperf_call(u32 op, unsigned long a, unsigned long b,
			      unsigned long c)
{
	return (int)kvm_hypercall4(KVM_PERF_OP, op, a, b, c);
}

/* Process context, any vCPU; the host's ABI version. */
static inline int pvperf_call_probe(void)
{
	return pvperf_call(KVM_PERF_OP_PROBE, 0, 0, 0);
}

static inline int pvperf_call_attach(u64 page)
{
	return pvperf_call(KVM_PERF_OP_ATTACH, lower_32_bits(page),
			   upper_32_bits(page), 0);
}

static inline int pvperf_call_detach(void)
{
	return pvperf_call(KVM_PERF_OP_DETACH, 0, 0, 0);
}

/* @n operations at @ops; how many of them were done. */
static inline int pvperf_call_batch(u64 ops, u32 n)
{
	return pvperf_call(KVM_PERF_OP_BATCH, lower_32_bits(ops),
			   upper_32_bits(ops), n);
}

/* Alone, without memory: for NMIs, which may hit while a batch is written. */
static inline int pvperf_call_read_nmi(s32 id)
{
	return pvperf_call(KVM_PERF_OP_READ, id, 0, 0);
}

/* For all vCPUs of the VM, whatever state they are in. Any context. */
static inline int pvperf_call_reset(void)
{
	return pvperf_call(KVM_PERF_OP_RESET, 0, 0, 0);
}

#endif /* _PVPERF_GUEST_HYPERCALL_H */
