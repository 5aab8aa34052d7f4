// SPDX-License-Identifier: GPL-2.0
/*
 * host/decode.c: the form of a guest's arguments. Each case has one thing wrong in valid
 * arguments; each reserved bit is tried.
 */

#include <stdint.h>
#include <string.h>
#include "decode.h"
#include "tap.h"

#define PAGE	4096u

static const struct guest_perf_event_param good_param = {
	.attr_addr = 0x10000, .guest_event_addr = 0x20000, .id = 5,
	.event_size = KVM_PERF_EVENT_SIZE,
};

static const struct guest_perf_attr good_attr = {
	.type = KVM_PERF_TYPE_HARDWARE, .size = KVM_PERF_ATTR_SIZE_VER0,
	.config = 1, .sample_period = 100000,
	.flags = KVM_PERF_FLAG_DISABLED | KVM_PERF_FLAG_EXCLUDE_USER |
		 KVM_PERF_FLAG_EXCLUDE_KERNEL,
};

/* For any alignment: a range is valid exactly if it is aligned and within a page. */
static void test_range(void)
{
	static const uint32_t aligns[] = { 1, 4, 8, 64, PAGE };
	static const uint32_t sizes[] = { 1, 16, 24, 64, 72, 2048, PAGE };
	unsigned int a, s, wrong = 0;
	uint32_t at;

	for (a = 0; a < sizeof(aligns) / sizeof(aligns[0]); a++)
		for (s = 0; s < sizeof(sizes) / sizeof(sizes[0]); s++)
			for (at = 0; at < PAGE; at++) {
				uint64_t addr = 0xfffffffffffff000ull + at;
				int good = at % aligns[a] == 0 &&
					   at + sizes[s] <= PAGE;
				int ret = pvperf_decode_range(addr, sizes[s],
							      aligns[a]);

				wrong += ret != (good ? 0 : -KVM_EINVAL);
			}
	tap(!wrong, "range: every offset, size and alignment (%u wrong)", wrong);
}

static void param_is(int want, const char *what, struct guest_perf_event_param p)
{
	int ret = pvperf_decode_param(&p);

	tap(ret == want, "param: %s: %d", what, ret);
}

#define PARAM(want, what, change) do { \
	struct guest_perf_event_param p = good_param; \
	p.change; \
	param_is(want, what, p); \
} while (0)

static void test_param(void)
{
	static const uint32_t sizes[] = {
		1, 8, 12, 15, 17, 32, 63, 65, 72, 128, 4096, 0x80000000, ~0u,
	};
	struct guest_perf_event_param p = good_param;
	unsigned int i;

	PARAM(0, "right", id = 5);
	PARAM(0, "id 0", id = 0);
	PARAM(0, "the largest id", id = INT32_MAX);
	PARAM(-KVM_EINVAL, "id -1", id = -1);
	PARAM(-KVM_EINVAL, "the smallest id", id = INT32_MIN);
	PARAM(0, "attr at a page's end", attr_addr = PAGE - 72);
	PARAM(-KVM_EINVAL, "attr across it", attr_addr = PAGE - 64);
	PARAM(-KVM_EINVAL, "attr at 4", attr_addr = 4);
	PARAM(-KVM_EINVAL, "attr at 1", attr_addr = 1);
	PARAM(-KVM_EINVAL, "64 bytes at 32", guest_event_addr = 32);
	PARAM(-KVM_EINVAL, "64 bytes at 4", guest_event_addr = 4);
	PARAM(0, "64 bytes at 64", guest_event_addr = 64);

	p.event_size = KVM_PERF_EVENT_SIZE_VER0;
	p.guest_event_addr = 4;
	param_is(0, "16 bytes at 4", p);
	p.guest_event_addr = 2;
	param_is(-KVM_EINVAL, "16 bytes at 2", p);
	p.guest_event_addr = PAGE - 16;
	param_is(0, "16 bytes at a page's end", p);
	p.guest_event_addr = PAGE - 12;
	param_is(-KVM_EINVAL, "16 bytes across it", p);
	p.event_size = 0;
	param_is(-KVM_EINVAL, "0, that is 16, across it", p);
	p.guest_event_addr = PAGE - 16;
	param_is(0, "0, that is 16, at it", p);

	for (i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		p = good_param;
		p.event_size = sizes[i];
		tap(pvperf_decode_param(&p) == -KVM_EINVAL,
		    "param: %u bytes for an event", sizes[i]);
	}
}

static void test_attr(void)
{
	const uint64_t allowed = KVM_PERF_FLAG_DISABLED |
				 KVM_PERF_FLAG_EXCLUDE_USER |
				 KVM_PERF_FLAG_EXCLUDE_KERNEL | KVM_PERF_FLAG_HOST |
				 KVM_PERF_FLAG_CPU | KVM_PERF_FLAG_KINDS;
	struct guest_perf_attr a = good_attr;
	unsigned int i, wrong;
	uint32_t size;

	tap(!pvperf_decode_attr(&a), "attr: right");
	a.size = 0;
	tap(!pvperf_decode_attr(&a), "attr: size 0 is the first size");
	for (wrong = 0, size = 1; size < 2 * PAGE; size++) {
		a.size = size;
		wrong += pvperf_decode_attr(&a) !=
			 (size == KVM_PERF_ATTR_SIZE_VER0 ? 0 : -KVM_E2BIG);
	}
	a.size = ~0u;
	wrong += pvperf_decode_attr(&a) != -KVM_E2BIG;
	tap(!wrong, "attr: every other size is -E2BIG (%u wrong)", wrong);

#define EACH_BIT(field, bits, good) do { \
	for (wrong = 0, i = 0; i < (bits); i++) { \
		uint64_t bit = 1ull << i; \
		a = good_attr; \
		a.field = bit; \
		wrong += pvperf_decode_attr(&a) != \
			 ((good) & bit ? 0 : -KVM_EINVAL); \
	} \
	tap(!wrong, "attr: each bit of " #field " (%u wrong)", wrong); \
} while (0)

	EACH_BIT(flags, 64, allowed);
	EACH_BIT(sample_type, 64, KVM_PERF_SAMPLE_BRANCHES);
	EACH_BIT(read_format, 64, 0ull);
	EACH_BIT(bp_type, 32, 0ull);
	EACH_BIT(cpu, 32, 0ull);
	EACH_BIT(bp_addr, 64, 0ull);
	EACH_BIT(bp_len, 64, 0ull);
	EACH_BIT(sample_period, 64, ~0ull >> 1);

#define ATTR(want, what, change) do { \
	a = good_attr; \
	a.change; \
	tap(pvperf_decode_attr(&a) == (want), "attr: " what); \
} while (0)

	ATTR(-KVM_EINVAL, "branches without overflows", sample_period = 0; a.sample_type = KVM_PERF_SAMPLE_BRANCHES);
	ATTR(0, "counts only", sample_period = 0);
	ATTR(0, "the longest period", sample_period = INT64_MAX);
	ATTR(0, "what the host does on one kind", flags = KVM_PERF_FLAG_HOST | KVM_PERF_FLAG_KIND(2));
	ATTR(-KVM_EINVAL, "a CPU of one kind", flags = KVM_PERF_FLAG_CPU | KVM_PERF_FLAG_KIND(2));
}

static void test_op(void)
{
	struct guest_perf_op op;
	unsigned int i, wrong = 0;

	for (i = 0; i < 64; i++) {
		int good = i >= KVM_PERF_OP_OPEN && i <= KVM_PERF_OP_READ;

		op = (struct guest_perf_op){ .op = i, .id = 3, .result = 77 };
		wrong += pvperf_decode_op(&op) != (good ? 0 : -KVM_ENOSYS);
	}
	op.op = ~0u;
	wrong += pvperf_decode_op(&op) != -KVM_ENOSYS;
	tap(!wrong, "op: five may stand in a batch (%u wrong)", wrong);

	for (wrong = 0, i = 0; i < 32; i++) {
		op = (struct guest_perf_op){
			.op = KVM_PERF_OP_READ, .reserved = 1u << i,
		};
		wrong += pvperf_decode_op(&op) != -KVM_EINVAL;
	}
	for (i = 0; i < 64; i++) {
		op = (struct guest_perf_op){
			.op = KVM_PERF_OP_READ, .reserved2 = 1ull << i,
		};
		wrong += pvperf_decode_op(&op) != -KVM_EINVAL;
	}
	tap(!wrong, "op: each reserved bit (%u wrong)", wrong);

	for (wrong = 0, i = KVM_PERF_OP_OPEN; i <= KVM_PERF_OP_READ; i++) {
		int takes_arg = i == KVM_PERF_OP_OPEN || i == KVM_PERF_OP_ENABLE ||
				i == KVM_PERF_OP_READ;

		op = (struct guest_perf_op){ .op = i, .arg = 4096 };
		wrong += pvperf_decode_op(&op) != (takes_arg ? 0 : -KVM_EINVAL);
	}
	tap(!wrong, "op: .arg of those that have none is 0 (%u wrong)", wrong);
}

static void test_batch(void)
{
	const uint32_t max = KVM_PERF_BATCH_MAX, size = sizeof(struct guest_perf_op);
	unsigned int n, wrong = 0;

	for (n = 0; n < 2 * max; n++)
		wrong += pvperf_decode_batch(0x3000, n, max) !=
			 (n && n <= max ? 0 : -KVM_E2BIG);
	tap(!wrong, "batch: 1 to %u operations (%u wrong)", max, wrong);
	tap(pvperf_decode_batch(0, ~0u, max) == -KVM_E2BIG, "batch: 2^32 - 1");
	/* the length in bytes is 0 in 32 bits */
	tap(pvperf_decode_batch(0, 1u << 27, max) == -KVM_E2BIG, "batch: 2^27");
	tap(!pvperf_decode_batch(PAGE - 2 * size, 2, max), "batch: at a page's end");
	tap(pvperf_decode_batch(PAGE - 2 * size + 8, 2, max) == -KVM_EINVAL,
	    "batch: 8 bytes across it");
	tap(pvperf_decode_batch(4, 1, max) == -KVM_EINVAL, "batch: at 4");
	tap(!pvperf_decode_batch(8, 1, max), "batch: at 8");
}

int main(void)
{
	test_range();
	test_param();
	test_attr();
	test_op();
	test_batch();
	return tap_end();
}
