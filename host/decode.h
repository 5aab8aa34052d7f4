/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _PVPERF_HOST_DECODE_H
#define _PVPERF_HOST_DECODE_H

/*
 * Checks the form of a guest's arguments: sizes, alignment, reserved bits. Pure:
 * it looks at copies that the host made, knows neither KVM nor perf, and is tested
 * in userspace. Each check returns 0 or -KVM_E*.
 */

#include <linux/kvm_pvperf.h>

/*
 * Check that a structure is aligned, and within one page. @align: a power of 2. Returns 0 or
 * -KVM_EINVAL.
 */
int pvperf_decode_range(__u64 addr, __u32 size, __u32 align);

/* Check what describes an event. Returns 0 or -KVM_E*. */
int pvperf_decode_param(const struct guest_perf_event_param *param);

/* Check an event's attributes. Returns 0 or -KVM_E*. */
int pvperf_decode_attr(const struct guest_perf_attr *attr);

/* Check one operation of a batch. Returns 0 or -KVM_E*. */
int pvperf_decode_op(const struct guest_perf_op *op);

/*
 * Check where a batch lies, and its length. @n: how many operations; @max: how many there may
 * be. Returns 0 or -KVM_E*.
 */
int pvperf_decode_batch(__u64 addr, __u32 n, __u32 max);

#endif /* _PVPERF_HOST_DECODE_H */
