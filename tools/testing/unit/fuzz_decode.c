// SPDX-License-Identifier: GPL-2.0
/* libFuzzer's mutations of what a guest's calls lead to: what is accepted lies within one page. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "decode.h"

#define PAGE	4096

static void want(int good, const char *what)
{
	if (good)
		return;
	fprintf(stderr, "%s\n", what);
	abort();
}

static int fits(uint64_t addr, uint64_t size, uint64_t align)
{
	return !(addr % align) && addr / PAGE == (addr + size - 1) / PAGE;
}

/* perf gets nothing that this version of the ABI has no word for. */
static int attr_is_known(const struct guest_perf_attr *attr)
{
	const uint64_t known = KVM_PERF_FLAG_DISABLED | KVM_PERF_FLAG_EXCLUDE_USER | KVM_PERF_FLAG_EXCLUDE_KERNEL |
			       KVM_PERF_FLAG_HOST | KVM_PERF_FLAG_CPU | KVM_PERF_FLAG_KINDS;

	return (!attr->size || attr->size == sizeof(*attr)) && !(attr->flags & ~known) &&
	       (!attr->sample_type || (attr->sample_type == KVM_PERF_SAMPLE_BRANCHES && attr->sample_period)) &&
	       !attr->read_format && !attr->bp_type && !attr->bp_addr && !attr->bp_len &&
	       attr->sample_period <= INT64_MAX && (!attr->cpu || attr->flags & KVM_PERF_FLAG_CPU);
}

struct input {
	uint64_t addr;
	uint32_t size, n;
	struct guest_perf_event_param param;
	struct guest_perf_attr attr;
	struct guest_perf_op op;
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input in = { };
	uint32_t align;

	memcpy(&in, data, size < sizeof(in) ? size : sizeof(in));
	align = 1 << (in.n % 13);
	in.size = 1 + in.size % PAGE;
	want((pvperf_decode_range(in.addr, in.size, align) == 0) == fits(in.addr, in.size, align),
	     "range");
	if (!pvperf_decode_batch(in.addr, in.n, 64))
		want(in.n && in.n <= 64 && fits(in.addr, in.n * sizeof(in.op), 8), "batch");
	if (!pvperf_decode_param(&in.param))
		want(fits(in.param.guest_event_addr, in.param.event_size ?: KVM_PERF_EVENT_SIZE_VER0, 4) &&
		     fits(in.param.attr_addr, sizeof(in.attr), 8) && in.param.id >= 0, "parameter");
	if (!pvperf_decode_attr(&in.attr))
		want(attr_is_known(&in.attr), "attributes");
	if (!pvperf_decode_op(&in.op))
		want(!in.op.reserved && !in.op.reserved2 && in.op.op >= KVM_PERF_OP_OPEN &&
		     in.op.op <= KVM_PERF_OP_READ, "operation");
	return 0;
}
