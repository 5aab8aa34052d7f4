/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _PVPERF_HOST_DECODE_H
#define _PVPERF_HOST_DECODE_H

/*
 * What a guest hands in, checked for form: sizes, alignment, reserved bits.
 * Pure: it looks at copies that the host made, knows neither KVM nor perf, and
 * is tested in userspace. Each function returns 0 or a -KVM_E* value.
 */

#include <linux/kvm_pvperf.h>

int pvperf_decode_range(__u64 addr, __u32 size, __u32 align);
int pvperf_decode_param(const struct guest_perf_event_param *param);
int pvperf_decode_attr(const struct guest_perf_attr *attr);
int pvperf_decode_op(const struct guest_perf_op *op);
int pvperf_decode_batch(__u64 addr, __u32 n, __u32 max);

/* How many bytes of an event's memory the guest gave; @param was decoded. */
static inline __u32
pvperf_decode_event_size(const struct guest_perf_event_param *param)
{
	return param->event_size ? param->event_size : KVM_PERF_EVENT_SIZE_VER0;
}

#endif /* _PVPERF_HOST_DECODE_H */
