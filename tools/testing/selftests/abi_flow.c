// SPDX-License-Identifier: GPL-2.0
/*
 * The ABI as a guest uses it: the five calls of 2010 one by one, what events count,
 * pages. A guest without a kernel makes the calls, so only the host's side is tested.
 */

#include "tiny_test.h"

#define TURNS		1000000ull

FIXTURE(flow) {
	struct tiny_vm vm;
	struct tiny_vcpu *v, *other;
	struct tiny_totals before;
};

FIXTURE_SETUP(flow)
{
	VM_BEGIN(2);
	self->other = &self->vm.vcpu[1];
}

VM_END(flow)

/* --------------------------------------------------- the flow of 2010 */

FIXTURE(seed) {
	struct tiny_vm vm;
	struct tiny_vcpu *v;
};

FIXTURE_VARIANT(seed) {
	uint32_t event_size;	/* what the guest says */
	uint32_t event_bytes;	/* what that means */
	uint64_t align;		/* the smallest that is allowed */
};

FIXTURE_VARIANT_ADD(seed, bytes_0) { 0, 12, 4 };
FIXTURE_VARIANT_ADD(seed, bytes_16) { KVM_PERF_EVENT_SIZE_VER0, 12, 4 };
FIXTURE_VARIANT_ADD(seed, bytes_64) { KVM_PERF_EVENT_SIZE, 64, 64 };

FIXTURE_SETUP(seed)
{
	ASSERT_EQ(0, tiny_vm_create(&self->vm, 1));
	self->v = &self->vm.vcpu[0];
	measured_choose(self->v);
}

FIXTURE_TEARDOWN(seed)
{
	tiny_vm_destroy(&self->vm);
}

/* Only the event's bytes differ from the canary. */
static bool only_event(const uint8_t *page, uint64_t at, uint32_t bytes)
{
	uint64_t i;

	for (i = 0; i < TINY_PAGE; i++)
		if ((i < at || i >= at + bytes) && page[i] != CANARY)
			return false;
	return true;
}

TEST_F(seed, flow)
{
	const uint64_t at = AT_EVENT(9) + variant->align;
	struct guest_perf_attr attr = attr_measured(0);
	uint8_t *page = tiny_ptr(&self->vm, AT_EVENT(9));
	struct guest_perf_event *event = tiny_ptr(&self->vm, at);
	uint64_t period, count, nmis, overflows;
	struct tiny_vcpu *v = self->v;

	/* twenty overflows in one loop */
	period = TURNS * TINY_SPIN_INSNS / 20;
	ASSERT_LE(limits_read(v).min_period, period);
	attr.sample_period = period;
	memset(page, CANARY, TINY_PAGE);
	memset(event, 0, variant->event_bytes);
	open_put(&self->vm, 9, at, &attr)->event_size = variant->event_size;

	/* open: it does not count yet */
	ASSERT_CALL(0, tiny_call_gpa(v, KVM_PERF_OP_OPEN, AT_PARAM, 0));
	ASSERT_EQ(0, tiny_spin(v, TURNS));
	ASSERT_CALL(0, id_call(v, KVM_PERF_OP_READ, 9));
	EXPECT_EQ(0, event->count);
	EXPECT_EQ(0, event->overflows);
	EXPECT_EQ(0, v->cpu->nmis);

	/* enable, count, overflow, NMI, disable */
	ASSERT_CALL(0, id_call(v, KVM_PERF_OP_ENABLE, 9));
	ASSERT_EQ(0, tiny_spin(v, TURNS));
	ASSERT_CALL(0, id_call(v, KVM_PERF_OP_DISABLE, 9));
	count = event->count;
	nmis = v->cpu->nmis;
	EXPECT_LE(measured_least(TURNS), count);
	EXPECT_TRUE(overflowed(event->overflows, count, period));
	overflows = event->overflows;
	EXPECT_LT(0, nmis);
	EXPECT_GE(event->overflows, nmis);

	/* read: a stopped counter does not move */
	ASSERT_EQ(0, tiny_spin(v, TURNS));
	ASSERT_CALL(0, id_call(v, KVM_PERF_OP_READ, 9));
	EXPECT_EQ(count, event->count);
	EXPECT_EQ(overflows, event->overflows);
	EXPECT_EQ(nmis, v->cpu->nmis);

	/* again, and read while it counts */
	ASSERT_CALL(0, id_call(v, KVM_PERF_OP_ENABLE, 9));
	ASSERT_EQ(0, tiny_spin(v, TURNS));
	ASSERT_CALL(0, id_call(v, KVM_PERF_OP_READ, 9));
	EXPECT_LE(count + measured_least(TURNS), event->count);
	EXPECT_GT(count + (by_clock ? 10 : 1) * TURNS * TINY_SPIN_INSNS + period,
		  event->count);

	/* close: the host does not write to the memory any more */
	ASSERT_CALL(0, id_call(v, KVM_PERF_OP_CLOSE, 9));
	EXPECT_TRUE(only_event(page, variant->align, variant->event_bytes));
	memset(page, CANARY, TINY_PAGE);
	ASSERT_EQ(0, tiny_spin(v, TURNS));
	EXPECT_CALL(-KVM_ENOENT, id_call(v, KVM_PERF_OP_READ, 9));
	EXPECT_CALL(-KVM_ENOENT, id_call(v, KVM_PERF_OP_CLOSE, 9));
	EXPECT_TRUE(only_event(page, 0, 0));
}

/* --------------------------------------------------------- what is counted */

TEST_F(flow, exact)
{
	struct guest_perf_event *e = event_at(&self->vm, 3);
	uint64_t turns, before = 0;

	NEED_PMU();
	ASSERT_CALL(0, open_event(self->v, 3, 0));
	for (turns = 1; turns <= TURNS; turns *= 10) {
		ASSERT_CALL(0, id_call(self->v, KVM_PERF_OP_ENABLE, 3));
		ASSERT_EQ(0, tiny_spin(self->v, turns));
		ASSERT_CALL(0, id_call(self->v, KVM_PERF_OP_DISABLE, 3));
		EXPECT_TRUE(counted(e->count - before, turns)) {
			TH_LOG("%llu turns: %llu", (unsigned long long)turns,
			       (unsigned long long)(e->count - before));
		}
		before = e->count;
	}
}

TEST_F(flow, exclude)
{
	const struct { uint64_t flags; bool user, kernel; } want[] = {
		{ 0, true, true },
		{ KVM_PERF_FLAG_EXCLUDE_USER, false, true },
		{ KVM_PERF_FLAG_EXCLUDE_KERNEL, true, false },
	};
	uint64_t user[ARRAY_SIZE(want)];
	int i;

	NEED_PMU();
	for (i = 0; i < ARRAY_SIZE(want); i++) {
		struct guest_perf_attr attr = attr_instructions(0);

		attr.flags = want[i].flags | KVM_PERF_FLAG_DISABLED;
		ASSERT_CALL(0, open_attr(self->v, i, KVM_PERF_EVENT_SIZE, &attr));
		ASSERT_CALL(0, id_call(self->v, KVM_PERF_OP_ENABLE, i));
	}
	ASSERT_EQ(0, tiny_spin_user(self->v, TURNS));
	for (i = 0; i < ARRAY_SIZE(want); i++) {
		ASSERT_CALL(0, id_call(self->v, KVM_PERF_OP_READ, i));
		user[i] = event_at(&self->vm, i)->count;
		EXPECT_TRUE(counted(user[i], want[i].user ? TURNS : 0)) {
			TH_LOG("flags %#llx: %llu of the user's",
			       (unsigned long long)want[i].flags,
			       (unsigned long long)user[i]);
		}
	}
	ASSERT_EQ(0, tiny_spin(self->v, TURNS));
	for (i = 0; i < ARRAY_SIZE(want); i++) {
		uint64_t kernel;

		ASSERT_CALL(0, id_call(self->v, KVM_PERF_OP_READ, i));
		kernel = event_at(&self->vm, i)->count - user[i];
		EXPECT_TRUE(counted(kernel, want[i].kernel ? TURNS : 0)) {
			TH_LOG("flags %#llx: %llu of the kernel's",
			       (unsigned long long)want[i].flags,
			       (unsigned long long)kernel);
		}
	}
}

/* An event counts its own vCPU, and no other. */
TEST_F(flow, own_vcpu)
{
	ASSERT_CALL(0, open_event(self->v, 0, 0));
	ASSERT_CALL(0, open_event(self->other, 1, 0));
	ASSERT_CALL(0, id_call(self->v, KVM_PERF_OP_ENABLE, 0));
	ASSERT_CALL(0, id_call(self->other, KVM_PERF_OP_ENABLE, 1));
	ASSERT_EQ(0, tiny_spin(self->v, TURNS));
	ASSERT_EQ(0, tiny_spin(self->other, 2 * TURNS));
	ASSERT_CALL(0, id_call(self->v, KVM_PERF_OP_DISABLE, 0));
	ASSERT_CALL(0, id_call(self->other, KVM_PERF_OP_DISABLE, 1));
	EXPECT_TRUE(counted(event_at(&self->vm, 0)->count, TURNS));
	EXPECT_TRUE(counted(event_at(&self->vm, 1)->count, 2 * TURNS));
	EXPECT_LT(event_at(&self->vm, 0)->count, event_at(&self->vm, 1)->count);
}

/* A single event always has a counter; its state says whether it counts. */
TEST_F(flow, times)
{
	struct guest_perf_event *e = event_at(&self->vm, 3);
	uint64_t enabled;

	ASSERT_CALL(0, open_event(self->v, 3, 0));
	ASSERT_CALL(0, id_call(self->v, KVM_PERF_OP_READ, 3));
	EXPECT_EQ(KVM_PERF_STATE_OFF, e->state);
	EXPECT_EQ(0, e->time_enabled);

	ASSERT_CALL(0, id_call(self->v, KVM_PERF_OP_ENABLE, 3));
	EXPECT_EQ(KVM_PERF_STATE_COUNTING, e->state);
	ASSERT_EQ(0, tiny_spin(self->v, TURNS));
	ASSERT_CALL(0, id_call(self->v, KVM_PERF_OP_READ, 3));
	EXPECT_EQ(KVM_PERF_STATE_COUNTING, e->state);
	EXPECT_LT(0, e->time_enabled);
	EXPECT_EQ(e->time_enabled, e->time_running);
	enabled = e->time_enabled;

	ASSERT_EQ(0, tiny_spin(self->v, TURNS));
	ASSERT_CALL(0, id_call(self->v, KVM_PERF_OP_DISABLE, 3));
	EXPECT_EQ(KVM_PERF_STATE_OFF, e->state);
	EXPECT_LT(enabled, e->time_enabled);
	EXPECT_EQ(e->time_enabled, e->time_running);
	enabled = e->time_enabled;

	/* the times stop with the event */
	ASSERT_EQ(0, tiny_spin(self->v, TURNS));
	ASSERT_CALL(0, id_call(self->v, KVM_PERF_OP_READ, 3));
	EXPECT_EQ(enabled, e->time_enabled);
	EXPECT_EQ(0, e->sequence & 1);
}

/*
 * An attr as the series of 2010 sent it: a copy of a program's perf_event_attr. It is
 * refused until the guest has taken out what it has to do itself, and the hole of 2010.
 */
TEST_F(flow, attr_of_2010)
{
	const struct guest_perf_attr fits = attr_measured(0);
	struct guest_perf_attr attr = fits;

	attr.size = 0xdeadbeef;
	attr.sample_type = 7;		/* IP, TID, TIME */
	attr.read_format = 3;
	attr.flags = 1 << 0 | 1 << 1 | 1 << 8;	/* disabled, inherit, mmap */
	EXPECT_CALL(-KVM_E2BIG, open_attr(self->v, 3, 0, &attr));
	attr.size = 0;
	EXPECT_CALL(-KVM_EINVAL, open_attr(self->v, 3, 0, &attr));
	attr.sample_type = attr.read_format = 0;
	EXPECT_CALL(-KVM_EINVAL, open_attr(self->v, 3, 0, &attr));
	attr.flags &= KVM_PERF_FLAG_DISABLED;
	EXPECT_CALL(0, open_attr(self->v, 3, 0, &attr));
}

/* Whatever is there before: OPEN begins all of it but the guest's .period. */
TEST_F(flow, open_begins)
{
	struct guest_perf_attr attr = attr_measured(0);
	struct guest_perf_event *e = event_at(&self->vm, 3);

	memset(e, CANARY, sizeof(*e));
	ASSERT_CALL(0, open_attr(self->v, 3, KVM_PERF_EVENT_SIZE, &attr));
	EXPECT_EQ(0, e->count);
	EXPECT_EQ(0, e->overflows);
	EXPECT_EQ(KVM_PERF_STATE_OFF, e->state);
	EXPECT_EQ(0, e->time_enabled);
	EXPECT_EQ(0, e->time_running);
	EXPECT_EQ(0x0101010101010101ull * CANARY, e->period);
	EXPECT_EQ(0, e->sequence & 1);
	EXPECT_EQ(0, e->flags);
	EXPECT_EQ(0, e->count_at_overflow);
	EXPECT_EQ(0, e->page);
}

/* A guest learns at OPEN whether the host has its page. */
TEST_F(flow, open_tells_page)
{
	struct guest_perf_event *e = event_at(&self->vm, 3);

	ASSERT_CALL(0, tiny_call_gpa(self->v, KVM_PERF_OP_ATTACH, AT_HEAD(0), 0));
	ASSERT_CALL(0, open_event(self->v, 3, 0));
	EXPECT_EQ(AT_HEAD(0), e->page);
	ASSERT_CALL(0, tiny_call_gpa(self->v, KVM_PERF_OP_ATTACH, AT_HEAD(1), 0));
	ASSERT_CALL(0, id_call(self->v, KVM_PERF_OP_CLOSE, 3));
	ASSERT_CALL(0, open_event(self->v, 3, 0));
	EXPECT_EQ(AT_HEAD(1), e->page);

	/* another vCPU's page is not this one's */
	ASSERT_CALL(0, open_event(self->other, 4, 0));
	EXPECT_EQ(0, event_at(&self->vm, 4)->page);
	ASSERT_CALL(0, tiny_call(self->v, KVM_PERF_OP_DETACH, 0, 0, 0));
	ASSERT_CALL(0, open_event(self->v, 3, 0));
	EXPECT_EQ(0, e->page);
}

/*
 * More events than counters: each count is right, or its times say how much is missing.
 * The host rotates events at its tick, so this takes many ticks.
 */
TEST_F(flow, more_than_counters)
{
	const uint64_t own = 100 * TURNS * TINY_SPIN_INSNS;
	struct limits limits = limits_read(self->v);
	/* A P core has up to two more than Intel's CPUID says. */
	int i, events = limits.counters + 4, short_ones = 0;

	NEED_PMU();
	if (!limits.counters)
		SKIP(return, "the host does not say how many counters it has");
	ASSERT_GE(limits.events, events);
	for (i = 0; i < events; i++)
		ASSERT_CALL(0, open_event(self->v, i, 0));
	for (i = 0; i < events; i++)
		ASSERT_CALL(0, id_call(self->v, KVM_PERF_OP_ENABLE, i));
	ASSERT_EQ(0, tiny_spin(self->v, 100 * TURNS));
	for (i = 0; i < events; i++)
		ASSERT_CALL(0, id_call(self->v, KVM_PERF_OP_DISABLE, i));
	for (i = 0; i < events; i++) {
		struct guest_perf_event *e = event_at(&self->vm, i);
		double scaled = 0;

		EXPECT_LE(e->time_running, e->time_enabled);
		if (e->time_running)
			scaled = (double)e->count * e->time_enabled /
				 e->time_running;
		short_ones += e->time_running < e->time_enabled;
		EXPECT_TRUE(!e->time_running ||
			    (scaled > own * 0.95 && scaled < own * 1.05)) {
			TH_LOG("event %d: %llu, %llu of %llu ns, scaled %.0f", i,
			       (unsigned long long)e->count,
			       (unsigned long long)e->time_running,
			       (unsigned long long)e->time_enabled, scaled);
		}
	}
	EXPECT_LE(2, short_ones);
}

/* The host announces counters exactly if its own perf can use some. */
TEST_F(flow, counters_told)
{
	struct guest_perf_attr attr = {
		.type = KVM_PERF_TYPE_HARDWARE,
		.config = 1,	/* PERF_COUNT_HW_INSTRUCTIONS */
	};
	int64_t ret = open_attr(self->v, 4, KVM_PERF_EVENT_SIZE, &attr);

	EXPECT_EQ(ret != -KVM_ENOENT, limits_read(self->v).counters > 0);
}

/* ------------------------------------------------------------------- pages */

TEST_F(flow, attach)
{
	struct guest_perf_page *head = head_at(&self->vm, 0);

	memset(head, CANARY, TINY_PAGE);
	ASSERT_CALL(0, tiny_call_gpa(self->v, KVM_PERF_OP_ATTACH, AT_HEAD(0), 0));
	EXPECT_EQ(tiny_call(self->v, KVM_PERF_OP_PROBE, 0, 0, 0), head->version);
	EXPECT_EQ(KVM_PERF_PAGE_LIVE, head->state);
	EXPECT_EQ(0, head->pending);
	EXPECT_EQ(0, head->nmis);
	EXPECT_EQ(0, head->reason);

	/* one host side, one epoch */
	ASSERT_CALL(0, tiny_call_gpa(self->other, KVM_PERF_OP_ATTACH,
				     AT_HEAD(1), 0));
	EXPECT_EQ(head->epoch, head_at(&self->vm, 1)->epoch);
}

/* A second page replaces the first, to which the host does not write any more. */
TEST_F(flow, attach_replaces)
{
	struct guest_perf_page *first = head_at(&self->vm, 0);
	struct guest_perf_page *second = head_at(&self->vm, 1);
	struct tiny_totals before, after;

	ASSERT_CALL(0, tiny_call_gpa(self->v, KVM_PERF_OP_ATTACH, AT_HEAD(0), 0));
	ASSERT_EQ(0, tiny_totals_read(&before));
	ASSERT_CALL(0, tiny_call_gpa(self->v, KVM_PERF_OP_ATTACH, AT_HEAD(1), 0));
	ASSERT_EQ(0, tiny_totals_read(&after));
	EXPECT_EQ(before.pages, after.pages);
	memset(first, CANARY, TINY_PAGE);

	ASSERT_CALL(0, open_event(self->v, 0, TURNS));
	ASSERT_CALL(0, id_call(self->v, KVM_PERF_OP_ENABLE, 0));
	ASSERT_EQ(0, tiny_spin(self->v, 10 * TURNS));
	ASSERT_CALL(0, id_call(self->v, KVM_PERF_OP_DISABLE, 0));
	EXPECT_LT(0, second->nmis);
	EXPECT_TRUE(only_event((void *)first, 0, 0));
}

/* ------------------------------------------------------------ all at once */

TEST_F(flow, detach)
{
	struct tiny_totals totals, opened;
	int i;

	ASSERT_EQ(0, tiny_totals_read(&totals));
	ASSERT_CALL(0, open_event(self->other, 9, 0));
	ASSERT_CALL(0, tiny_call_gpa(self->v, KVM_PERF_OP_ATTACH, AT_HEAD(0), 0));
	for (i = 0; i < 4; i++) {
		ASSERT_CALL(0, open_event(self->v, i, 0));
		ASSERT_CALL(0, id_call(self->v, KVM_PERF_OP_ENABLE, i));
	}
	ASSERT_EQ(0, tiny_totals_read(&opened));
	EXPECT_EQ(totals.events + 5, opened.events);
	EXPECT_EQ(totals.pages + 6, opened.pages);

	EXPECT_CALL(0, tiny_call(self->v, KVM_PERF_OP_DETACH, 0, 0, 0));
	for (i = 0; i < 4; i++)
		EXPECT_CALL(-KVM_ENOENT, id_call(self->v, KVM_PERF_OP_READ, i));
	/* the other vCPU's event stays */
	EXPECT_CALL(0, id_call(self->other, KVM_PERF_OP_READ, 9));
	ASSERT_EQ(0, tiny_totals_read(&opened));
	EXPECT_EQ(totals.events + 1, opened.events);
	EXPECT_EQ(totals.pages + 1, opened.pages);

	/* nothing to undo */
	EXPECT_CALL(0, tiny_call(self->v, KVM_PERF_OP_DETACH, 0, 0, 0));
	/* the ids are free */
	EXPECT_CALL(0, open_event(self->v, 0, 0));
}

TEST_F(flow, reset)
{
	struct tiny_totals totals, after;

	ASSERT_EQ(0, tiny_totals_read(&totals));
	ASSERT_CALL(0, open_event(self->v, 0, 0));
	ASSERT_CALL(0, open_event(self->other, 1, 0));
	ASSERT_CALL(0, tiny_call_gpa(self->other, KVM_PERF_OP_ATTACH,
				     AT_HEAD(1), 0));
	ASSERT_CALL(0, id_call(self->other, KVM_PERF_OP_ENABLE, 1));
	EXPECT_CALL(0, tiny_call(self->v, KVM_PERF_OP_RESET, 0, 0, 0));
	EXPECT_CALL(-KVM_ENOENT, id_call(self->v, KVM_PERF_OP_READ, 0));
	EXPECT_CALL(-KVM_ENOENT, id_call(self->other, KVM_PERF_OP_READ, 1));
	ASSERT_EQ(0, tiny_totals_read(&after));
	EXPECT_EQ(totals.events, after.events);
	EXPECT_EQ(totals.pages, after.pages);
	EXPECT_CALL(0, tiny_call(self->v, KVM_PERF_OP_RESET, 0, 0, 0));
	EXPECT_CALL(0, open_event(self->other, 1, 0));
}

TEST_HARNESS_MAIN
