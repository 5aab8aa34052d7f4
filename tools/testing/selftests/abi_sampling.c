// SPDX-License-Identifier: GPL-2.0
/*
 * Overflows and NMIs of the ABI: how many there are, in which order they are announced,
 * and that none is lost. The guest has nothing but an NMI handler.
 */

#include "tiny_test.h"
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/time.h>
#include <time.h>

#define TURNS		1000000ull
#define SW_CONTEXT_SWITCHES	3
#define OWN		(TURNS * TINY_SPIN_INSNS)
#define OVERFLOWS	20
#define PERIOD		(OWN / OVERFLOWS)

FIXTURE(sampling) {
	struct tiny_vm vm;
	struct tiny_vcpu *v, *other;
	struct guest_perf_event *e;
	struct guest_perf_page *head;
	struct tiny_totals before;
};

FIXTURE_SETUP(sampling)
{
	VM_BEGIN(2);
	self->other = &self->vm.vcpu[1];
	self->e = event_at(&self->vm, 0);
	self->head = head_at(&self->vm, 0);
	ASSERT_LE(limits_read(self->v).min_period, PERIOD);
}

VM_END(sampling)

/* enable, run the loop, disable */
static int64_t measure(struct tiny_vcpu *v, int id, uint64_t turns)
{
	int64_t ret = id_call(v, KVM_PERF_OP_ENABLE, id);

	if (!ret)
		ret = tiny_spin(v, turns);
	if (!ret)
		ret = id_call(v, KVM_PERF_OP_DISABLE, id);
	return ret;
}

/* The NMI handler takes each overflow once. */
TEST_F(sampling, taken)
{
	uint64_t taken;

	ASSERT_CALL(0, open_event(self->v, 0, PERIOD));
	self->v->cpu->take = AT_EVENT(0);
	ASSERT_CALL(0, measure(self->v, 0, TURNS));
	/* an NMI may still be on its way at the disable */
	ASSERT_EQ(0, tiny_spin(self->v, 1));
	taken = self->v->cpu->taken + self->e->overflows;
	EXPECT_TRUE(overflowed(taken, self->e->count, PERIOD));
	EXPECT_LT(0, self->v->cpu->nmis);
	EXPECT_GE(taken, self->v->cpu->nmis);
}

/* Overflows that the guest does not take add up. */
TEST_F(sampling, add_up)
{
	ASSERT_CALL(0, open_event(self->v, 0, PERIOD));
	ASSERT_CALL(0, measure(self->v, 0, TURNS));
	EXPECT_TRUE(overflowed(self->e->overflows, self->e->count, PERIOD));
	/* the guest may reset them */
	self->e->overflows = 0;
	ASSERT_CALL(0, id_call(self->v, KVM_PERF_OP_READ, 0));
	EXPECT_EQ(0, self->e->overflows);
}

TEST_F(sampling, page)
{
	ASSERT_CALL(0, tiny_call_gpa(self->v, KVM_PERF_OP_ATTACH, AT_HEAD(0), 0));
	ASSERT_CALL(0, open_event(self->v, 0, PERIOD));
	ASSERT_CALL(0, open_event(self->v, 1, 0));
	ASSERT_CALL(0, measure(self->v, 0, TURNS));
	EXPECT_EQ(1ull << 0, self->head->pending);
	EXPECT_LE(self->v->cpu->nmis, self->head->nmis);
	EXPECT_LT(0, self->v->cpu->nmis);
	/* the last overflow came after OVERFLOWS whole periods */
	EXPECT_LE((by_clock ? 1 : OVERFLOWS) * PERIOD,
		  self->e->count_at_overflow);
	EXPECT_GE(self->e->count, self->e->count_at_overflow);
	if (!by_clock) {
		EXPECT_GT(self->e->overflows * PERIOD + PERIOD,
			  self->e->count_at_overflow);
	}
}

/* The pending bit is the id modulo 64. */
TEST_F(sampling, pending_bit)
{
	struct guest_perf_attr attr = attr_measured(PERIOD);
	const int id = 64 * 1000 + 37;

	open_put(&self->vm, id, AT_EVENT(0), &attr);
	ASSERT_CALL(0, tiny_call_gpa(self->v, KVM_PERF_OP_ATTACH, AT_HEAD(0), 0));
	ASSERT_CALL(0, tiny_call_gpa(self->v, KVM_PERF_OP_OPEN, AT_PARAM, 0));
	ASSERT_CALL(0, measure(self->v, id, TURNS));
	EXPECT_EQ(1ull << 37, self->head->pending);
}

/* The NMI goes to the vCPU that owns the event, and to no other. */
TEST_F(sampling, own_vcpu)
{
	ASSERT_CALL(0, tiny_call_gpa(self->v, KVM_PERF_OP_ATTACH, AT_HEAD(0), 0));
	ASSERT_CALL(0, tiny_call_gpa(self->other, KVM_PERF_OP_ATTACH,
				     AT_HEAD(1), 0));
	ASSERT_CALL(0, open_event(self->other, 1, PERIOD));
	ASSERT_CALL(0, measure(self->other, 1, TURNS));
	ASSERT_EQ(0, tiny_spin(self->v, TURNS));
	EXPECT_EQ(0, self->v->cpu->nmis);
	EXPECT_EQ(0, self->head->nmis);
	EXPECT_EQ(0, self->head->pending);
	EXPECT_LT(0, self->other->cpu->nmis);
	EXPECT_EQ(1ull << 1, head_at(&self->vm, 1)->pending);
}

/* A disabled event does not overflow, and has a whole period before it when it is enabled again. */
TEST_F(sampling, stop)
{
	uint32_t overflows;
	uint64_t nmis;

	ASSERT_CALL(0, open_event(self->v, 0, PERIOD));
	ASSERT_CALL(0, measure(self->v, 0, TURNS + TURNS / OVERFLOWS / 2));
	ASSERT_EQ(0, tiny_spin(self->v, 1));
	overflows = self->e->overflows;
	nmis = self->v->cpu->nmis;
	ASSERT_EQ(0, tiny_spin(self->v, TURNS));
	ASSERT_CALL(0, id_call(self->v, KVM_PERF_OP_READ, 0));
	EXPECT_EQ(overflows, self->e->overflows);
	EXPECT_EQ(nmis, self->v->cpu->nmis);
	/* Half a period was left. */
	ASSERT_CALL(0, measure(self->v, 0, 3 * TURNS / OVERFLOWS / 4));
	EXPECT_EQ(overflows, self->e->overflows);
}

/* In a batch, ENABLE has an argument: what is left of the first period. */
TEST_F(sampling, left)
{
	struct guest_perf_op *op = batch_at(&self->vm);
	const uint64_t left = PERIOD / 4;

	NEED_PMU();
	*op = (struct guest_perf_op){
		.op = KVM_PERF_OP_ENABLE, .id = 0, .arg = left,
	};
	ASSERT_CALL(0, open_event(self->v, 0, PERIOD));
	ASSERT_CALL(1, tiny_call_gpa(self->v, KVM_PERF_OP_BATCH, AT_BATCH, 1));
	ASSERT_EQ(0, op->result);
	/* half a period: enough for what is left, too little for a whole period */
	ASSERT_EQ(0, tiny_spin(self->v, PERIOD / 2 / TINY_SPIN_INSNS));
	ASSERT_CALL(0, id_call(self->v, KVM_PERF_OP_READ, 0));
	EXPECT_EQ(1, self->e->overflows);
	EXPECT_LE(left, self->e->count_at_overflow);
	EXPECT_GT(PERIOD / 2 + TINY_AROUND, self->e->count_at_overflow);
	/* the next periods are whole */
	ASSERT_EQ(0, tiny_spin(self->v, TURNS));
	ASSERT_CALL(0, id_call(self->v, KVM_PERF_OP_DISABLE, 0));
	EXPECT_EQ(1 + (self->e->count - left) / PERIOD, self->e->overflows);
}

/* .period is the next sampling period, from the next ENABLE or overflow on. */
TEST_F(sampling, next_period)
{
	uint32_t overflows;
	uint64_t count;

	ASSERT_CALL(0, open_event(self->v, 0, PERIOD));
	ASSERT_CALL(0, measure(self->v, 0, TURNS));
	overflows = self->e->overflows;
	count = self->e->count;

	self->e->period = 2 * PERIOD;
	ASSERT_CALL(0, measure(self->v, 0, TURNS));
	EXPECT_TRUE(overflowed(self->e->overflows - overflows,
			       self->e->count - count, 2 * PERIOD));
	EXPECT_EQ(0, self->e->flags & KVM_PERF_EVENT_STRETCHED);

	/* while it counts */
	ASSERT_CALL(0, id_call(self->v, KVM_PERF_OP_ENABLE, 0));
	overflows = self->e->overflows;
	count = self->e->count;
	self->e->period = PERIOD;
	ASSERT_EQ(0, tiny_spin(self->v, TURNS));
	ASSERT_CALL(0, id_call(self->v, KVM_PERF_OP_DISABLE, 0));
	/* the first period was still the long one */
	overflows = self->e->overflows - overflows;
	EXPECT_TRUE(by_clock ?
		    overflowed(overflows, self->e->count - count, PERIOD) :
		    overflows >= OVERFLOWS - 2 && overflows <= OVERFLOWS);
}

/*
 * A guest can't get around the shortest period by writing a shorter one into the page:
 * the host uses a longer one, and says so. There are few overflows, so that the limit of
 * the period is met before the limit of the rate.
 */
TEST_F(sampling, period_below_limit)
{
	const uint32_t min = limits_read(self->v).min_period;

	NEED_PMU();
	ASSERT_CALL(0, open_event(self->v, 0, PERIOD));
	self->e->period = 1;
	ASSERT_CALL(0, measure(self->v, 0, 10 * min / TINY_SPIN_INSNS));
	EXPECT_GE(self->e->count / min, self->e->overflows);
	EXPECT_LT(0, self->e->overflows);
	EXPECT_EQ(KVM_PERF_EVENT_STRETCHED,
		  self->e->flags & KVM_PERF_EVENT_STRETCHED);
}

/*
 * At more overflows than the host allows in a second, it makes periods longer, says so,
 * and counts on. Periods shrink when there are fewer overflows again.
 */
TEST_F(sampling, stretched)
{
	const uint32_t min = limits_read(self->v).min_period;
	uint64_t count;
	int i;

	NEED_PMU();
	ASSERT_CALL(0, open_event(self->v, 0, min));
	ASSERT_CALL(0, measure(self->v, 0, 100 * TURNS));
	EXPECT_LE(100 * OWN, self->e->count);
	EXPECT_EQ(self->e->time_enabled, self->e->time_running);
	EXPECT_GT(self->e->count / min, self->e->overflows);
	EXPECT_EQ(KVM_PERF_EVENT_STRETCHED,
		  self->e->flags & KVM_PERF_EVENT_STRETCHED);

	self->e->period = OWN;
	for (i = 0; i < 20 && self->e->flags; i++)
		ASSERT_CALL(0, measure(self->v, 0, 100 * TURNS));
	EXPECT_EQ(0, self->e->flags);
	count = self->e->count;
	self->e->overflows = 0;
	ASSERT_CALL(0, measure(self->v, 0, 100 * TURNS));
	EXPECT_EQ((self->e->count - count) / OWN, self->e->overflows);
}

/* Garbage that the guest writes into the shared memory harms only the guest. */
TEST_F(sampling, scribble)
{
	uint64_t count;

	ASSERT_CALL(0, tiny_call_gpa(self->v, KVM_PERF_OP_ATTACH, AT_HEAD(0), 0));
	ASSERT_CALL(0, open_event(self->v, 0, PERIOD));
	ASSERT_CALL(0, measure(self->v, 0, TURNS));
	count = self->e->count;
	memset(self->e, 0xff, sizeof(*self->e));
	self->e->period = 0;
	memset(self->head, 0xff, TINY_PAGE);
	ASSERT_CALL(0, measure(self->v, 0, TURNS));
	EXPECT_LE(count + measured_least(TURNS), self->e->count);
	EXPECT_GT(count + OWN + (by_clock ? 10 * OWN : PERIOD), self->e->count);
	EXPECT_EQ(KVM_PERF_STATE_OFF, self->e->state);
	EXPECT_EQ(0, self->e->sequence & 1);
	EXPECT_EQ(self->e->time_enabled, self->e->time_running);
}

/* An event that only counts never overflows. */
TEST_F(sampling, counts_only)
{
	ASSERT_CALL(0, tiny_call_gpa(self->v, KVM_PERF_OP_ATTACH, AT_HEAD(0), 0));
	ASSERT_CALL(0, open_event(self->v, 0, 0));
	ASSERT_CALL(0, measure(self->v, 0, 10 * TURNS));
	EXPECT_EQ(0, self->e->overflows);
	EXPECT_EQ(0, self->v->cpu->nmis);
	EXPECT_EQ(0, self->head->nmis);
}

/* Two events sample at once, and each has all of its overflows. */
TEST_F(sampling, two)
{
	struct guest_perf_event *e1 = event_at(&self->vm, 1);
	/* a timer must be slower instead, or the guest gets no time between its NMIs */
	const uint64_t other = by_clock ? 3 * PERIOD : PERIOD / 3;

	if (limits_read(self->v).counters == 1)
		SKIP(return, "one counter only");
	ASSERT_CALL(0, tiny_call_gpa(self->v, KVM_PERF_OP_ATTACH, AT_HEAD(0), 0));
	ASSERT_CALL(0, open_event(self->v, 0, PERIOD));
	ASSERT_CALL(0, open_event(self->v, 1, other));
	ASSERT_CALL(0, id_call(self->v, KVM_PERF_OP_ENABLE, 0));
	ASSERT_CALL(0, id_call(self->v, KVM_PERF_OP_ENABLE, 1));
	ASSERT_EQ(0, tiny_spin(self->v, TURNS));
	ASSERT_CALL(0, id_call(self->v, KVM_PERF_OP_DISABLE, 1));
	ASSERT_CALL(0, id_call(self->v, KVM_PERF_OP_DISABLE, 0));
	EXPECT_TRUE(overflowed(self->e->overflows, self->e->count, PERIOD));
	EXPECT_TRUE(overflowed(e1->overflows, e1->count, other));
	EXPECT_EQ(3, self->head->pending);
	EXPECT_GE(self->e->overflows + e1->overflows, self->v->cpu->nmis);
}

/* The host's CPU clock of the vCPU: a software event needs no PMU. */
TEST_F(sampling, software)
{
	struct guest_perf_attr attr = {
		.type = KVM_PERF_TYPE_SOFTWARE, .config = 0,
		.sample_period = 1000000,
	};

	memset(self->e, 0, sizeof(*self->e));
	ASSERT_CALL(0, open_attr(self->v, 0, KVM_PERF_EVENT_SIZE, &attr));
	self->v->cpu->take = AT_EVENT(0);
	ASSERT_CALL(0, measure(self->v, 0, 20 * TURNS));
	EXPECT_LT(0, self->e->count);
	EXPECT_LT(0, self->v->cpu->nmis);
	EXPECT_LE(self->v->cpu->nmis,
		  self->v->cpu->taken + self->e->overflows);
}

/* Nothing is written until @end. */
static bool nothing_until(int64_t end, const struct guest_perf_event *e,
			  const struct guest_perf_page *head)
{
	const struct guest_perf_event before = *e;
	const uint32_t nmis = head->nmis;

	while (now_ns() < end)
		;
	return !memcmp(&before, e, sizeof(before)) && nmis == head->nmis;
}

/*
 * While the VMM's own code runs in the vCPU's thread nothing is written to the guest, whose
 * memory the VMM may just be loading anew; the next call tells how often a clock has overflowed.
 */
TEST_F(sampling, in_userspace)
{
	const struct guest_perf_attr attr = {
		.type = KVM_PERF_TYPE_SOFTWARE, .size = KVM_PERF_ATTR_SIZE_VER0,
		.sample_period = 1000000,
	};
	int64_t from;
	uint32_t nmis;

	open_put(&self->vm, 0, AT_EVENT(0), &attr);
	ASSERT_CALL(0, tiny_call_here(self->v, KVM_PERF_OP_ATTACH, AT_HEAD(0), 0));
	ASSERT_CALL(0, tiny_call_here(self->v, KVM_PERF_OP_OPEN, AT_PARAM, 0));
	ASSERT_CALL(0, tiny_call_here(self->v, KVM_PERF_OP_ENABLE, 0, 0));
	from = now_ns();
	EXPECT_TRUE(nothing_until(from + 25500000, self->e, self->head));
	/* Nor in real mode, where these are not lost, either. */
	tiny_vcpu_real(self->v);
	nmis = self->head->nmis;
	EXPECT_TRUE(nothing_until(from + 50500000, self->e, self->head));
	tiny_vcpu_mode64(self->v);
	ASSERT_CALL(0, tiny_call_here(self->v, KVM_PERF_OP_DISABLE, 0, 0));
	EXPECT_LE(40, self->e->overflows);
	EXPECT_GE(60, self->e->overflows);
	EXPECT_LT(nmis, self->head->nmis);
	EXPECT_TRUE(self->head->pending & 1);
}

static void alarmed(int sig)
{
}

/* The vCPU jumps on the spot at 100h, in real mode, for 20 ms. */
static int real_mode_run(struct tiny_vcpu *v)
{
	const struct sigaction act = { .sa_handler = alarmed };
	const struct itimerval soon = { .it_value.tv_usec = 20000 };
	struct kvm_sregs sregs;
	struct kvm_regs regs = { .rip = 0x100, .rflags = 2 };

	memcpy(v->vm->mem + regs.rip, "\xeb\xfe", 2);
	/* In real mode this would be a reset. */
	if (ioctl(v->fd, KVM_SET_REGS, &regs))
		return -1;
	tiny_vcpu_real(v);
	ioctl(v->fd, KVM_GET_SREGS, &sregs);
	sregs.cs.base = sregs.cs.selector = 0;
	if (ioctl(v->fd, KVM_SET_SREGS, &sregs) || sigaction(SIGALRM, &act, NULL) ||
	    setitimer(ITIMER_REAL, &soon, NULL) || !ioctl(v->fd, KVM_RUN, 0) || errno != EINTR)
		return -1;
	tiny_vcpu_mode64(v);
	return 0;
}

/* An overflow of hardware in real mode is told when that is over. */
TEST_F(sampling, real_mode)
{
	const struct guest_perf_attr attr = attr_measured(PERIOD);
	uint64_t count;

	NEED_PMU();
	open_put(&self->vm, 0, AT_EVENT(0), &attr);
	ASSERT_CALL(0, tiny_call_here(self->v, KVM_PERF_OP_ATTACH, AT_HEAD(0), 0));
	ASSERT_CALL(0, tiny_call_here(self->v, KVM_PERF_OP_OPEN, AT_PARAM, 0));
	ASSERT_CALL(0, tiny_call_here(self->v, KVM_PERF_OP_ENABLE, 0, 0));
	ASSERT_EQ(0, real_mode_run(self->v));
	EXPECT_EQ(0, self->e->overflows);
	ASSERT_CALL(0, tiny_call_here(self->v, KVM_PERF_OP_DISABLE, 0, 0));
	count = self->e->count;
	EXPECT_LT(10 * PERIOD, count);
	EXPECT_TRUE(overflowed(self->e->overflows, count, PERIOD));
	EXPECT_LT(0, self->head->nmis);
}

/* The first period of a software event that counts up, not down, may be shorter, too. */
TEST_F(sampling, software_left)
{
	const struct guest_perf_attr attr = {
		.type = KVM_PERF_TYPE_SOFTWARE, .config = SW_CONTEXT_SWITCHES,
		.size = KVM_PERF_ATTR_SIZE_VER0, .sample_period = 100,
	};
	struct guest_perf_op *op = batch_at(&self->vm);
	int calls;

	*op = (struct guest_perf_op){ .op = KVM_PERF_OP_ENABLE, .id = 0, .arg = 20 };
	ASSERT_CALL(0, open_attr(self->v, 0, KVM_PERF_EVENT_SIZE, &attr));
	ASSERT_CALL(1, tiny_call_gpa(self->v, KVM_PERF_OP_BATCH, AT_BATCH, 1));
	ASSERT_EQ(0, op->result);
	/* each call switches to the vCPU's thread and from it */
	for (calls = 0; calls < 200 && !self->e->overflows; calls++)
		ASSERT_CALL(0, id_call(self->v, KVM_PERF_OP_READ, 0));
	EXPECT_EQ(20, self->e->count_at_overflow);
}

TEST_HARNESS_MAIN
