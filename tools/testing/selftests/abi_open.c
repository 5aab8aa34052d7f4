// SPDX-License-Identifier: GPL-2.0
/*
 * Bad arguments of OPEN, one at a time: the call returns the exact error, changes nothing in the
 * guest's memory, leaves nothing at the host, and another event goes on counting. The unit tests
 * (test_decode.c, test_policy.c) have each bit, size and type.
 */

#include "tiny_test.h"

#define NEIGHBOUR	60
#define TURNS		1000ull
#define END		(TINY_PAGE - 0)

/* A bad value of one field of the attr or the param. */
struct poke {
	enum { POKE_NONE, POKE_ATTR, POKE_PARAM } where;
	uint32_t offset, size;
	uint64_t value;
};

#define ATTR(field, v) { POKE_ATTR, offsetof(struct guest_perf_attr, field), \
	sizeof(((struct guest_perf_attr *)0)->field), (uint64_t)(v) }
#define PARAM(field, v) { POKE_PARAM, \
	offsetof(struct guest_perf_event_param, field), \
	sizeof(((struct guest_perf_event_param *)0)->field), (uint64_t)(v) }

FIXTURE(open) {
	struct tiny_vm vm;
	struct tiny_vcpu *v, *other;
	struct tiny_totals before, opened;
	struct limits limits;
};

/*
 * Where the structures lie (0: where they should), and what is wrong in them. Only one
 * thing is wrong, so that only one error is right.
 */
FIXTURE_VARIANT(open) {
	uint64_t param_at, attr_at, event_at;
	struct poke poke;
	int error;
};

#define BAD(name, ...) \
	FIXTURE_VARIANT_ADD(open, name) { __VA_ARGS__ }
#define BAD_POKE(name, poked, err) \
	FIXTURE_VARIANT_ADD(open, name) { .poke = poked, .error = err }

/* The param itself. */
BAD(param_odd, .param_at = AT_PARAM + 1, .error = -KVM_EINVAL);
BAD(param_crosses, .param_at = AT_PARAM + END - 16, .error = -KVM_EINVAL);
BAD(param_hole, .param_at = TINY_HOLE, .error = -KVM_EFAULT);
BAD(param_past_memory, .param_at = 1ull << 40, .error = -KVM_EFAULT);
BAD(param_past_any_cpu, .param_at = ~0ull & ~4095ull, .error = -KVM_EFAULT);
BAD(param_high_half, .param_at = AT_PARAM | 1ull << 32, .error = -KVM_EFAULT);
BAD(param_rom_edge, .param_at = TINY_ROM + TINY_ROM_SIZE, .error = -KVM_EFAULT);

/* The address of the attr. */
BAD(attr_odd, .attr_at = AT_ATTR + 1, .error = -KVM_EINVAL);
BAD(attr_crosses, .attr_at = AT_ATTR + END - 64, .error = -KVM_EINVAL);
BAD(attr_hole, .attr_at = TINY_HOLE, .error = -KVM_EFAULT);
BAD(attr_past_memory, .attr_at = 1ull << 40, .error = -KVM_EFAULT);

/* The address of the event. */
BAD(event_odd, .event_at = AT_EVENT(1) + 1, .error = -KVM_EINVAL);
BAD(event_misaligned_16, .event_at = AT_EVENT(1) + 2,
    .poke = PARAM(event_size, KVM_PERF_EVENT_SIZE_VER0), .error = -KVM_EINVAL);
BAD(event_crosses, .event_at = AT_EVENT(1) + END - 12,
    .poke = PARAM(event_size, KVM_PERF_EVENT_SIZE_VER0), .error = -KVM_EINVAL);
BAD(event_hole, .event_at = TINY_HOLE, .error = -KVM_EFAULT);
BAD(event_rom, .event_at = TINY_ROM, .error = -KVM_EFAULT);
BAD(event_past_memory, .event_at = 1ull << 40, .error = -KVM_EFAULT);

/* The param's other fields. */
BAD_POKE(id_negative, PARAM(id, -1), -KVM_EINVAL);
BAD_POKE(id_in_use, PARAM(id, NEIGHBOUR), -KVM_EEXIST);
BAD_POKE(event_size_32, PARAM(event_size, 32), -KVM_EINVAL);

/* The attr's fields. */
BAD_POKE(attr_size_73, ATTR(size, KVM_PERF_ATTR_SIZE_VER0 + 1), -KVM_E2BIG);
BAD_POKE(type_tracepoint, ATTR(type, 2), -KVM_EPERM);
BAD_POKE(config_no_such, ATTR(config, 10), -KVM_ENOENT);
BAD_POKE(period_1, ATTR(sample_period, 1), -KVM_EINVAL);
BAD_POKE(sample_type, ATTR(sample_type, 1), -KVM_EINVAL);
BAD_POKE(flag_pinned, ATTR(flags, 1 << 2), -KVM_EINVAL);
BAD_POKE(flag_host, ATTR(flags, KVM_PERF_FLAG_HOST), -KVM_EPERM);
BAD_POKE(flag_cpu, ATTR(flags, KVM_PERF_FLAG_CPU), -KVM_EPERM);
BAD_POKE(flag_kind, ATTR(flags, KVM_PERF_FLAG_KIND(3)), -KVM_ENOENT);
BAD_POKE(cpu, ATTR(cpu, 1), -KVM_EINVAL);

FIXTURE_SETUP(open)
{
	VM_BEGIN(2);
	self->other = &self->vm.vcpu[1];
	self->limits = limits_read(self->v);
	memset(tiny_ptr(&self->vm, TINY_DATA), CANARY, TINY_DATA_SIZE);
	ASSERT_CALL(0, open_event(self->v, NEIGHBOUR, 0));
	ASSERT_CALL(0, id_call(self->v, KVM_PERF_OP_ENABLE, NEIGHBOUR));
	ASSERT_EQ(0, tiny_totals_read(&self->opened));
}

VM_END(open)

static void poke(const struct poke *poke, void *attr, void *param)
{
	uint8_t *to = poke->where == POKE_ATTR ? attr : param;

	if (poke->where != POKE_NONE)
		memcpy(to + poke->offset, &poke->value, poke->size);
}

/* Puts @from at @gpa, if the guest has memory there. */
static void put(struct tiny_vm *vm, uint64_t gpa, const void *from, size_t size)
{
	if (gpa < TINY_MEM || (gpa >= TINY_ROM && gpa < TINY_ROM + TINY_ROM_SIZE))
		memcpy(tiny_ptr(vm, gpa), from, size);
}

TEST_F(open, refused)
{
	struct guest_perf_attr attr = attr_instructions(0);
	struct guest_perf_event_param param = {
		.attr_addr = variant->attr_at ?: AT_ATTR,
		.guest_event_addr = variant->event_at ?: AT_EVENT(1),
		.id = 1, .event_size = KVM_PERF_EVENT_SIZE,
	};
	uint64_t at = variant->param_at ?: AT_PARAM;
	struct tiny_totals after;

	poke(&variant->poke, &attr, &param);
	put(&self->vm, param.attr_addr, &attr, sizeof(attr));
	put(&self->vm, at, &param, sizeof(param));
	data_keep(&self->vm);

	EXPECT_CALL(variant->error,
		    tiny_call_gpa(self->v, KVM_PERF_OP_OPEN, at, 0));
	EXPECT_TRUE(data_is_kept(&self->vm));
	ASSERT_EQ(0, tiny_totals_read(&after));
	EXPECT_EQ(0, memcmp(&self->opened, &after, sizeof(after)));
	EXPECT_CALL(-KVM_ENOENT, id_call(self->v, KVM_PERF_OP_READ, 1));
	EXPECT_TRUE(still_counts(self->v, NEIGHBOUR, TURNS));

	/* the same OPEN without the bad value succeeds, so nothing else was wrong */
	EXPECT_CALL(0, open_event(self->v, 1, 0));
}

/* ---------------------------------------- limits, which take more than one call */

FIXTURE(limit) {
	struct tiny_vm vm;
	struct tiny_vcpu *v, *other;
	struct tiny_totals before;
	struct limits limits;
};

FIXTURE_SETUP(limit)
{
	VM_BEGIN(2);
	self->other = &self->vm.vcpu[1];
	self->limits = limits_read(self->v);
}

VM_END(limit)

TEST_F(limit, events)
{
	int i, events = self->limits.events;
	struct tiny_totals full, after;

	ASSERT_GE(KVM_PERF_EVENTS_MAX, events);
	for (i = 0; i < events; i++)
		ASSERT_CALL(0, open_event(self->v, i, 0));
	ASSERT_EQ(0, tiny_totals_read(&full));
	EXPECT_EQ(self->before.events + events, full.events);
	EXPECT_CALL(-KVM_ENOSPC, open_event(self->v, events, 0));
	ASSERT_EQ(0, tiny_totals_read(&after));
	EXPECT_EQ(0, memcmp(&full, &after, sizeof(after)));
	/* each vCPU has a limit of its own */
	EXPECT_CALL(0, open_event(self->other, events, 0));
	/* a closed event does not count towards it */
	EXPECT_CALL(0, id_call(self->v, KVM_PERF_OP_CLOSE, 0));
	EXPECT_CALL(0, open_event(self->v, 0, 0));
	EXPECT_CALL(-KVM_ENOSPC, open_event(self->v, events + 1, 0));
}

/* Two events on a page pin it once, and the last CLOSE unpins it. */
TEST_F(limit, shared_page)
{
	struct guest_perf_attr attr = attr_measured(0);
	struct tiny_totals one, two;

	ASSERT_CALL(0, open_event(self->v, 1, 0));
	ASSERT_EQ(0, tiny_totals_read(&one));
	open_put(&self->vm, 2, AT_EVENT(1) + 64, &attr);
	ASSERT_CALL(0, tiny_call_gpa(self->v, KVM_PERF_OP_OPEN, AT_PARAM, 0));
	ASSERT_EQ(0, tiny_totals_read(&two));
	EXPECT_EQ(one.pages, two.pages);
	ASSERT_CALL(0, id_call(self->v, KVM_PERF_OP_CLOSE, 1));
	ASSERT_EQ(0, tiny_totals_read(&two));
	EXPECT_EQ(one.pages, two.pages);
	ASSERT_CALL(0, id_call(self->v, KVM_PERF_OP_CLOSE, 2));
	ASSERT_EQ(0, tiny_totals_read(&two));
	EXPECT_EQ(one.pages - 1, two.pages);
}

/* Ids belong to the VM: no two of its vCPUs can use the same. */
TEST_F(limit, id_of_other_vcpu)
{
	ASSERT_CALL(0, open_event(self->other, 1, 0));
	EXPECT_CALL(-KVM_EEXIST, open_event(self->v, 1, 0));
	ASSERT_CALL(0, id_call(self->other, KVM_PERF_OP_CLOSE, 1));
	EXPECT_CALL(0, open_event(self->v, 1, 0));
}

/* The shortest period that the host announces, and one less. */
TEST_F(limit, period)
{
	uint64_t min = self->limits.min_period;

	NEED_PMU();	/* software events have no limit of their own */
	ASSERT_LT(1, min);
	EXPECT_CALL(-KVM_EINVAL, open_event(self->v, 1, min - 1));
	EXPECT_CALL(0, open_event(self->v, 1, min));
	EXPECT_CALL(0, open_event(self->v, 2, INT64_MAX));
}

/* The largest and the smallest valid values. */
TEST_F(limit, extremes)
{
	struct guest_perf_event_param param = {
		.attr_addr = AT_ATTR + END - sizeof(struct guest_perf_attr),
		.guest_event_addr = AT_EVENT(1) + END - KVM_PERF_EVENT_SIZE,
		.id = INT32_MAX, .event_size = KVM_PERF_EVENT_SIZE,
	};
	uint64_t at = AT_PARAM + END - sizeof(param);
	struct guest_perf_attr attr = attr_measured(0);

	attr.size = 0;
	memcpy(tiny_ptr(&self->vm, param.attr_addr), &attr, sizeof(attr));
	memcpy(tiny_ptr(&self->vm, at), &param, sizeof(param));
	EXPECT_CALL(0, tiny_call_gpa(self->v, KVM_PERF_OP_OPEN, at, 0));
	EXPECT_CALL(0, id_call(self->v, KVM_PERF_OP_CLOSE, INT32_MAX));

	/* what the host only reads may lie in read-only memory */
	param.attr_addr = TINY_ROM;
	memcpy(tiny_ptr(&self->vm, TINY_ROM), &attr, sizeof(attr));
	memcpy(tiny_ptr(&self->vm, TINY_ROM + TINY_PAGE), &param, sizeof(param));
	EXPECT_CALL(0, tiny_call_gpa(self->v, KVM_PERF_OP_OPEN,
				     TINY_ROM + TINY_PAGE, 0));
	EXPECT_CALL(0, id_call(self->v, KVM_PERF_OP_CLOSE, INT32_MAX));
}

/*
 * An OPEN with everything wrong, which is put right step by step: the errors come in the
 * order of abi.rst.
 */
TEST_F(limit, order_of_errors)
{
	struct guest_perf_event_param *param = tiny_ptr(&self->vm, AT_PARAM);
	struct guest_perf_attr *attr = tiny_ptr(&self->vm, AT_ATTR);
	uint64_t at = AT_PARAM + 1;

	ASSERT_CALL(0, open_event(self->v, 0, 0));
	*param = (struct guest_perf_event_param){ .attr_addr = TINY_HOLE, .id = -1 };
	*attr = (struct guest_perf_attr){ .type = 77, .size = 71, .sample_period = 1 };
#define OPENS(error) EXPECT_CALL(error, tiny_call_gpa(self->v, KVM_PERF_OP_OPEN, at, 0))
	OPENS(-KVM_EINVAL);		/* the param's address */
	at = AT_PARAM;
	OPENS(-KVM_EINVAL);		/* the param */
	param->id = 0;
	param->guest_event_addr = TINY_HOLE;
	OPENS(-KVM_EFAULT);		/* the attr's address */
	param->attr_addr = AT_ATTR;
	OPENS(-KVM_E2BIG);		/* the attr */
	attr->size = 0;
	OPENS(-KVM_EINVAL);		/* its period */
	attr->sample_period = 0;
	OPENS(-KVM_EPERM);		/* its type */
	*attr = attr_measured(0);
	OPENS(-KVM_EFAULT);		/* the event's memory */
	param->guest_event_addr = AT_EVENT(1);
	OPENS(-KVM_EEXIST);		/* the id */
	param->id = 1;
	OPENS(0);
#undef OPENS
}

TEST_F(limit, pages)
{
	char value[16];
	long max, most;

	/* each vCPU has 64 events, each on a page of its own, and a head */
	most = 2 * (self->limits.events + 1);
	ASSERT_EQ(0, tiny_param_read("max_pages", value, sizeof(value)));
	max = atol(value);
	if (max >= most)
		SKIP(return, "max_pages is %ld: more than two vCPUs can use",
		     max);
	for (most = 0; most < max; most++)
		ASSERT_CALL(0, open_event(self->v, most, 0));
	EXPECT_CALL(-KVM_ENOSPC, open_event(self->v, most, 0));
	EXPECT_CALL(-KVM_ENOSPC, tiny_call_gpa(self->v, KVM_PERF_OP_ATTACH,
					       AT_HEAD(0), 0));
}

TEST_F(limit, vm_events)
{
	char value[16];
	long max, n;

	ASSERT_EQ(0, tiny_param_read("max_vm_events", value, sizeof(value)));
	max = atol(value);
	if (max < 2 || max >= 2 * self->limits.events)
		SKIP(return, "max_vm_events is %ld: more than two vCPUs can use", max);
	for (n = 0; n < max; n++)
		ASSERT_CALL(0, open_event(n % 2 ? self->other : self->v, n, 0));
	EXPECT_CALL(-KVM_ENOSPC, open_event(self->v, n, 0));
	EXPECT_CALL(-KVM_ENOSPC, open_event(self->other, n, 0));
	/* one that fails for another reason takes no place */
	EXPECT_CALL(-KVM_EEXIST, open_event(self->v, 1, 0));
	EXPECT_CALL(0, id_call(self->other, KVM_PERF_OP_CLOSE, 1));
	EXPECT_CALL(0, open_event(self->v, n, 0));
	EXPECT_CALL(-KVM_ENOSPC, open_event(self->v, n + 1, 0));
}

TEST_HARNESS_MAIN
