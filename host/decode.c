// SPDX-License-Identifier: GPL-2.0
/*
 * The form of a guest's arguments. Nothing here reads guest memory: the caller has
 * copied it once, so what was checked is what is used.
 */
#include "decode.h"

#define PAGE_BYTES	4096u

/* A structure lies within one page, so that one translation covers it. */
int pvperf_decode_range(__u64 addr, __u32 size, __u32 align)
{
	if (addr & (align - 1))
		return -KVM_EINVAL;
	if ((addr & (PAGE_BYTES - 1)) + size > PAGE_BYTES)
		return -KVM_EINVAL;
	return 0;
}

static int decode_event_addr(const struct guest_perf_event_param *param)
{
	switch (param->event_size) {
	case 0:
	case KVM_PERF_EVENT_SIZE_VER0:
		return pvperf_decode_range(param->guest_event_addr,
					   KVM_PERF_EVENT_SIZE_VER0, 4);
	case KVM_PERF_EVENT_SIZE:
		return pvperf_decode_range(param->guest_event_addr,
					   KVM_PERF_EVENT_SIZE,
					   KVM_PERF_EVENT_SIZE);
	default:
		return -KVM_EINVAL;
	}
}

int pvperf_decode_param(const struct guest_perf_event_param *param)
{
	int err;

	if (param->id < 0)
		return -KVM_EINVAL;
	err = decode_event_addr(param);
	if (err)
		return err;
	return pvperf_decode_range(param->attr_addr,
				   sizeof(struct guest_perf_attr), 8);
}

/* A whole CPU is counted as a whole, and is of one kind. */
static int decode_flags(const struct guest_perf_attr *attr)
{
	const __u64 flags = KVM_PERF_FLAG_DISABLED |
			    KVM_PERF_FLAG_EXCLUDE_USER |
			    KVM_PERF_FLAG_EXCLUDE_KERNEL |
			    KVM_PERF_FLAG_HOST | KVM_PERF_FLAG_KINDS;
	const __u64 whole = KVM_PERF_FLAG_DISABLED | KVM_PERF_FLAG_CPU;

	if (!(attr->flags & ~flags) && !attr->cpu)
		return 0;
	return attr->flags & ~whole || !(attr->flags & KVM_PERF_FLAG_CPU) ? -KVM_EINVAL : 0;
}

/* They come with overflows. */
static int decode_is_branches(const struct guest_perf_attr *attr)
{
	return attr->sample_type == KVM_PERF_SAMPLE_BRANCHES && attr->sample_period &&
	       !attr->read_format;
}

int pvperf_decode_attr(const struct guest_perf_attr *attr)
{
	if (attr->size && attr->size != KVM_PERF_ATTR_SIZE_VER0)
		return -KVM_E2BIG;
	if (decode_flags(attr))
		return -KVM_EINVAL;
	if ((attr->sample_type | attr->read_format) && !decode_is_branches(attr))
		return -KVM_EINVAL;
	if (attr->bp_type || attr->bp_addr || attr->bp_len)
		return -KVM_EINVAL;
	/* perf takes periods of 63 bits. */
	if (attr->sample_period >> 63)
		return -KVM_EINVAL;
	return 0;
}

/* Only these operations may stand in a batch. */
int pvperf_decode_op(const struct guest_perf_op *op)
{
	if (op->reserved || op->reserved2)
		return -KVM_EINVAL;
	switch (op->op) {
	case KVM_PERF_OP_OPEN:
	case KVM_PERF_OP_ENABLE:
	case KVM_PERF_OP_READ:
		return 0;
	case KVM_PERF_OP_CLOSE:
	case KVM_PERF_OP_DISABLE:
		return op->arg ? -KVM_EINVAL : 0;
	default:
		return -KVM_ENOSYS;
	}
}

int pvperf_decode_batch(__u64 addr, __u32 n, __u32 max)
{
	if (!n || n > max)
		return -KVM_E2BIG;
	return pvperf_decode_range(addr, n * sizeof(struct guest_perf_op), 8);
}
