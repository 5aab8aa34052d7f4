// SPDX-License-Identifier: GPL-2.0
/* Events of a guest without a kernel, and batches of operations on them. */
#include "guest_events.h"

#include <linux/perf_event.h>
#include <string.h>

const struct guest_perf_attr clock_attr = {
	.type = KVM_PERF_TYPE_SOFTWARE, .config = PERF_COUNT_SW_CPU_CLOCK,
};
const struct guest_perf_attr instructions_attr = {
	.type = KVM_PERF_TYPE_HARDWARE, .config = PERF_COUNT_HW_INSTRUCTIONS,
};

static void attach(struct tiny_vcpu *v)
{
	need(!tiny_call_gpa(v, KVM_PERF_OP_ATTACH, AT_HEAD(v), 0), "ATTACH failed");
}

void param_put(struct tiny_vcpu *v, int n, const struct guest_perf_attr *attr)
{
	struct guest_perf_event_param *param = tiny_ptr(v->vm, AT_PARAM(v, n));

	memcpy(tiny_ptr(v->vm, AT_ATTR(v)), attr, sizeof(*attr));
	*param = (struct guest_perf_event_param){
		.attr_addr = AT_ATTR(v), .guest_event_addr = AT_EVENT(v, n),
		.id = EVENT_ID(v, n), .event_size = KVM_PERF_EVENT_SIZE,
	};
}

int64_t event_open(struct tiny_vcpu *v, int n, const struct guest_perf_attr *attr)
{
	param_put(v, n, attr);
	return tiny_call_gpa(v, KVM_PERF_OP_OPEN, AT_PARAM(v, n), 0);
}

void events_begin(struct tiny_vcpu *v, int n, const struct guest_perf_attr *attr)
{
	int i;

	attach(v);
	for (i = 0; i < n; i++) {
		need(!event_open(v, i, attr), "OPEN failed");
		need(!tiny_call(v, KVM_PERF_OP_ENABLE, EVENT_ID(v, i), 0, 0),
		     "ENABLE failed");
	}
}

void events_end(struct tiny_vcpu *v)
{
	need(!tiny_call(v, KVM_PERF_OP_DETACH, 0, 0, 0), "DETACH failed");
}

static struct guest_perf_op *batch_of(struct tiny_vcpu *v)
{
	struct guest_perf_page *head = tiny_ptr(v->vm, AT_HEAD(v));

	return head->batch;
}

void batch_reads(struct tiny_vcpu *v, int n, int events)
{
	int i;

	for (i = 0; i < n; i++)
		batch_of(v)[i] = (struct guest_perf_op){
			.op = KVM_PERF_OP_READ, .id = EVENT_ID(v, i % events),
		};
}

void batch_each(struct tiny_vcpu *v, int n, uint32_t op)
{
	int i;

	for (i = 0; i < n; i++)
		batch_of(v)[i] = (struct guest_perf_op){
			.op = op, .id = EVENT_ID(v, i),
			.arg = op == KVM_PERF_OP_OPEN ? AT_PARAM(v, i) : 0,
		};
}

static struct tiny_timed batch_call(struct tiny_vcpu *v, int from, int n)
{
	return call_of(KVM_PERF_OP_BATCH, AT_HEAD(v) + offsetof(struct guest_perf_page, batch) +
		       from * sizeof(struct guest_perf_op), n);
}

void batch_singles(struct tiny_vcpu *v, int events)
{
	const struct guest_perf_op op[] = {
		{ .op = KVM_PERF_OP_DISABLE, .id = EVENT_ID(v, 0) },
		{ .op = KVM_PERF_OP_ENABLE, .id = EVENT_ID(v, 0) },
		{ .op = KVM_PERF_OP_READ, .id = EVENT_ID(v, 0), .arg = ~0ULL >> (64 - events) },
	};

	memcpy(batch_of(v), op, sizeof(op));
}

uint64_t batch_time(struct tiny_vcpu *v, int n, int rounds)
{
	const struct tiny_timed call = batch_call(v, 0, n);
	uint64_t ticks;
	int i;

	timed(v, TINY_CODE_TIMED_CALL, &call, 1, rounds, &ticks);
	for (i = 0; i < n; i++)
		need(!batch_of(v)[i].result, "an operation of a batch failed");
	return ticks;
}

void single_times(struct tiny_vcpu *v, uint64_t ticks[3])
{
	const struct tiny_timed call[] = {
		batch_call(v, 0, 1), batch_call(v, 1, 1), batch_call(v, 2, 1),
	};
	int i;

	timed(v, TINY_CODE_TIMED_CALL, call, 3, ROUNDS_BATCH, ticks);
	for (i = 0; i < 3; i++)
		need(!batch_of(v)[i].result, "an operation of a batch failed");
}
