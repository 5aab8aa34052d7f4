/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _PVPERF_HOST_DECODE_H
#define _PVPERF_HOST_DECODE_H

/*
 * Checks the form of a guest's arguments: sizes, alignment, reserved bits. Pure:
 * it looks at copies that the host made, knows neither KVM nor perf, and is tested
 * in userspace. Each check returns 0 or -KVM_E*.
 */

#include <linux/kvm_pvperf.h>

/**
 * pvperf_decode_range() - check that a structure is aligned, and within one page
 * @addr: guest-physical
 * @size: its size
 * @align: a power of 2
 *
 * Return: 0 or -KVM_EINVAL.
 */
int pvperf_decode_range(__u64 addr, __u32 size, __u32 align);

/**
 * pvperf_decode_param() - check what describes an event
 * @param: our copy
 *
 * Return: 0 or -KVM_E*.
 */
int pvperf_decode_param(const struct guest_perf_event_param *param);

/**
 * pvperf_decode_attr() - check an event's attributes
 * @attr: our copy
 *
 * Return: 0 or -KVM_E*.
 */
int pvperf_decode_attr(const struct guest_perf_attr *attr);

/**
 * pvperf_decode_op() - check one operation of a batch
 * @op: our copy
 *
 * Return: 0 or -KVM_E*.
 */
int pvperf_decode_op(const struct guest_perf_op *op);

/**
 * pvperf_decode_batch() - check where a batch lies, and its length
 * @addr: guest-physical
 * @n: how many operations
 * @max: how many there may be
 *
 * Return: 0 or -KVM_E*.
 */
int pvperf_decode_batch(__u64 addr, __u32 n, __u32 max);

/**
 * pvperf_decode_event_size() - how many bytes the guest gave for an event
 * @param: was decoded
 *
 * Return: KVM_PERF_EVENT_SIZE_VER0 or KVM_PERF_EVENT_SIZE.
 */
static inline __u32
pvperf_decode_event_size(const struct guest_perf_event_param *param)
{
	return param->event_size ? param->event_size : KVM_PERF_EVENT_SIZE_VER0;
}

#endif /* _PVPERF_HOST_DECODE_H */
