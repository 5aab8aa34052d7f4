// SPDX-License-Identifier: GPL-2.0
/*
 * How events end: by the guest's call, its reset, its death, or a vCPU's move to another
 * thread. In each case the host stops writing to the guest's memory, and frees everything.
 */

#include "tiny_test.h"
#include <pthread.h>
#include <sys/ioctl.h>

#define TURNS		1000000ull
#define PERIOD		(TURNS * TINY_SPIN_INSNS / 20)

FIXTURE(lifetime) {
	struct tiny_vm vm;
	struct tiny_vcpu *v, *other;
	struct tiny_totals before;
};

FIXTURE_SETUP(lifetime)
{
	VM_BEGIN(2);
	self->other = &self->vm.vcpu[1];
	ASSERT_CALL(0, tiny_call_gpa(self->v, KVM_PERF_OP_ATTACH, AT_HEAD(0), 0));
	ASSERT_CALL(0, open_event(self->v, 0, PERIOD));
	ASSERT_CALL(0, open_event(self->v, 1, 0));
	ASSERT_CALL(0, id_call(self->v, KVM_PERF_OP_ENABLE, 0));
	ASSERT_CALL(0, id_call(self->v, KVM_PERF_OP_ENABLE, 1));
	ASSERT_EQ(0, tiny_spin(self->v, TURNS));
	ASSERT_LT(0, head_at(&self->vm, 0)->nmis);
}

VM_END(lifetime)

/* The guest runs long enough for many overflows, and the host does not write. */
static bool untouched(struct tiny_vcpu *v)
{
	memset(tiny_ptr(v->vm, TINY_DATA), CANARY, TINY_DATA_SIZE);
	data_keep(v->vm);
	return !tiny_spin(v, 5 * TURNS) && data_is_kept(v->vm);
}

/* No NMI arrives within the next periods either. */
static bool silent(struct tiny_vcpu *v)
{
	uint64_t nmis;

	if (tiny_spin(v, 1))
		return false;
	nmis = v->cpu->nmis;
	return !tiny_spin(v, 5 * TURNS) && v->cpu->nmis == nmis;
}

TEST_F(lifetime, close)
{
	ASSERT_CALL(0, id_call(self->v, KVM_PERF_OP_CLOSE, 0));
	ASSERT_CALL(0, id_call(self->v, KVM_PERF_OP_CLOSE, 1));
	EXPECT_TRUE(untouched(self->v));
	EXPECT_TRUE(silent(self->v));
}

TEST_F(lifetime, detach)
{
	ASSERT_CALL(0, tiny_call(self->v, KVM_PERF_OP_DETACH, 0, 0, 0));
	EXPECT_TRUE(untouched(self->v));
	EXPECT_TRUE(silent(self->v));
}

/* RESET by one vCPU, while the other is running. */
TEST_F(lifetime, reset_running)
{
	struct kvm_regs regs = { 0 };
	struct tiny_totals totals;

	ASSERT_TRUE(starts(self->v, TINY_CODE_WAIT));
	EXPECT_CALL(0, tiny_call(self->other, KVM_PERF_OP_RESET, 0, 0, 0));
	ASSERT_EQ(0, tiny_totals_read(&totals));
	EXPECT_EQ(self->before.events, totals.events);
	EXPECT_EQ(self->before.pages, totals.pages);
	memset(tiny_ptr(&self->vm, TINY_DATA), CANARY, TINY_DATA_SIZE);
	data_keep(&self->vm);
	usleep(100000);
	EXPECT_TRUE(data_is_kept(&self->vm));
	*(volatile uint64_t *)&self->v->cpu->stop = 1;
	ASSERT_EQ(0, tiny_vcpu_wait(self->v, &regs));
	EXPECT_CALL(-KVM_ENOENT, id_call(self->v, KVM_PERF_OP_READ, 0));
}

/* The vCPU is reset by userspace, as at a machine's reset. */
TEST_F(lifetime, vcpu_reset)
{
	struct tiny_totals want = self->before;

	ASSERT_CALL(0, open_event(self->other, 2, 0));
	tiny_vcpu_reset(self->v);
	tiny_vcpu_mode64(self->v);
	EXPECT_TRUE(untouched(self->v));
	EXPECT_TRUE(silent(self->v));
	EXPECT_CALL(-KVM_ENOENT, id_call(self->v, KVM_PERF_OP_READ, 0));
	EXPECT_CALL(-KVM_ENOENT, id_call(self->v, KVM_PERF_OP_READ, 1));
	/* the other vCPU's event stays */
	EXPECT_CALL(0, id_call(self->other, KVM_PERF_OP_READ, 2));
	EXPECT_CALL(0, id_call(self->other, KVM_PERF_OP_CLOSE, 2));
	want.vms++;
	want.vcpus += 2;
	EXPECT_TRUE(tiny_totals_wait(&want));
	/* the vCPU can open events again */
	EXPECT_CALL(0, open_event(self->v, 0, 0));
}

/*
 * Userspace loads a state that was saved, into the same process: the memory is of another
 * time, and its ids may mean other events.
 */
TEST_F(lifetime, state_loaded)
{
	struct kvm_mp_state state = { .mp_state = KVM_MP_STATE_RUNNABLE };
	struct tiny_totals want = self->before;

	ASSERT_EQ(0, ioctl(self->v->fd, KVM_SET_MP_STATE, &state));
	EXPECT_TRUE(untouched(self->v));
	EXPECT_TRUE(silent(self->v));
	EXPECT_CALL(-KVM_ENOENT, id_call(self->v, KVM_PERF_OP_READ, 0));
	want.vms++;
	want.vcpus++;
	EXPECT_TRUE(tiny_totals_wait(&want));
}

/* A reset frees everything even if the guest makes no call after it. */
TEST_F(lifetime, vcpu_reset_silent)
{
	struct tiny_totals want = self->before;

	tiny_vcpu_reset(self->v);
	want.vms++;
	want.vcpus++;
	EXPECT_TRUE(tiny_totals_wait(&want));
}

/* The VM ends with everything open; FIXTURE_TEARDOWN checks the totals. */
TEST_F(lifetime, vm_end)
{
	struct tiny_totals totals;

	ASSERT_EQ(0, tiny_totals_read(&totals));
	EXPECT_EQ(self->before.vms + 1, totals.vms);
	EXPECT_EQ(self->before.events + 2, totals.events);
	EXPECT_EQ(self->before.pages + 3, totals.pages);
}

/* Each VM has its own ids and its own counts. */
TEST_F(lifetime, two_vms)
{
	struct tiny_vm second;
	struct tiny_vcpu *w;
	uint64_t count;

	ASSERT_EQ(0, tiny_vm_create(&second, 1));
	w = &second.vcpu[0];
	EXPECT_CALL(-KVM_ENOENT, id_call(w, KVM_PERF_OP_READ, 0));
	EXPECT_CALL(-KVM_ENOENT, id_call(w, KVM_PERF_OP_CLOSE, 1));
	EXPECT_CALL(0, open_event(w, 1, 0));
	EXPECT_CALL(0, id_call(w, KVM_PERF_OP_ENABLE, 1));

	ASSERT_CALL(0, id_call(self->v, KVM_PERF_OP_READ, 1));
	count = event_at(&self->vm, 1)->count;
	EXPECT_EQ(0, tiny_spin(w, TURNS));
	EXPECT_CALL(0, id_call(w, KVM_PERF_OP_READ, 1));
	EXPECT_TRUE(counted(event_at(&second, 1)->count, TURNS));
	ASSERT_CALL(0, id_call(self->v, KVM_PERF_OP_READ, 1));
	/* what two calls take, if the event also counts the host's part of a call */
	EXPECT_GE(count + (by_clock ? TURNS : TINY_AROUND),
		  event_at(&self->vm, 1)->count);

	/* RESET or end of one VM does not affect the other */
	EXPECT_CALL(0, tiny_call(w, KVM_PERF_OP_RESET, 0, 0, 0));
	EXPECT_CALL(0, id_call(self->v, KVM_PERF_OP_READ, 1));
	tiny_vm_destroy(&second);
	EXPECT_CALL(0, id_call(self->v, KVM_PERF_OP_READ, 1));
}

static int64_t open_here(struct tiny_vcpu *v, int id)
{
	struct guest_perf_attr attr = attr_measured(0);

	open_put(v->vm, id, AT_EVENT(id % 2), &attr);
	return tiny_call_here(v, KVM_PERF_OP_OPEN, AT_PARAM, 0);
}

/* A thread that runs two vCPUs may have as many events as one vCPU. */
TEST_F(lifetime, one_thread)
{
	int max = limits_read(self->v).events, id;

	/* two are open already, and move to this thread */
	for (id = 2; id < max; id++)
		ASSERT_CALL(0, open_here(self->v, id));
	EXPECT_CALL(-KVM_ENOSPC, open_here(self->other, max));
	ASSERT_CALL(0, tiny_call_here(self->v, KVM_PERF_OP_CLOSE, 2, 0));
	EXPECT_CALL(0, open_here(self->other, max));
	EXPECT_CALL(-KVM_ENOSPC, open_here(self->other, max + 1));
	/* in a thread of its own it may have more */
	ASSERT_CALL(0, open_event(self->other, max + 1, 0));
	/* but not take it along: the event is in error, and says so */
	ASSERT_CALL(0, tiny_call_here(self->other, KVM_PERF_OP_READ, max, 0));
	ASSERT_CALL(0, tiny_call_here(self->other, KVM_PERF_OP_READ, max + 1, 0));
	EXPECT_CALL(-KVM_EBUSY, tiny_call_here(self->other, KVM_PERF_OP_ENABLE, max + 1, 0));
}

/* Another thread runs the vCPU: its next call moves the events to that thread. */
TEST_F(lifetime, other_thread)
{
	struct guest_perf_event *e = event_at(&self->vm, 1);
	struct kvm_regs spin = { .rcx = TURNS };
	uint64_t count;

	ASSERT_CALL(0, id_call(self->v, KVM_PERF_OP_DISABLE, 0));
	ASSERT_CALL(0, tiny_call_here(self->v, KVM_PERF_OP_READ, 1, 0));
	count = e->count;
	ASSERT_EQ(0, tiny_vcpu_exec_here(self->v, TINY_CODE_SPIN, &spin));
	ASSERT_CALL(0, tiny_call_here(self->v, KVM_PERF_OP_READ, 1, 0));
	EXPECT_TRUE(counted(e->count - count, TURNS)) {
		TH_LOG("%llu", (unsigned long long)(e->count - count));
	}
	EXPECT_EQ(KVM_PERF_STATE_COUNTING, e->state);
	/* and back */
	ASSERT_CALL(0, id_call(self->v, KVM_PERF_OP_READ, 1));
	count = e->count;
	ASSERT_EQ(0, tiny_spin(self->v, TURNS));
	ASSERT_CALL(0, id_call(self->v, KVM_PERF_OP_READ, 1));
	EXPECT_TRUE(counted(e->count - count, TURNS));
}

/* Without a call from the new thread the count may be short, but its times say so. */
TEST_F(lifetime, other_thread_unseen)
{
	struct guest_perf_event *e = event_at(&self->vm, 1), old;
	struct kvm_regs spin = { .rcx = TURNS };

	ASSERT_CALL(0, id_call(self->v, KVM_PERF_OP_DISABLE, 0));
	ASSERT_CALL(0, id_call(self->v, KVM_PERF_OP_READ, 1));
	old = *e;
	ASSERT_EQ(0, tiny_spin(self->v, TURNS));
	ASSERT_EQ(0, tiny_vcpu_exec_here(self->v, TINY_CODE_SPIN, &spin));
	ASSERT_CALL(0, tiny_call_here(self->v, KVM_PERF_OP_READ, 1, 0));
	EXPECT_TRUE(counted(e->count - old.count, 2 * TURNS) ||
		    e->time_running - old.time_running <
		    e->time_enabled - old.time_enabled) {
		TH_LOG("%llu of %llu, %llu of %llu ns",
		       (unsigned long long)(e->count - old.count),
		       2 * TURNS * TINY_SPIN_INSNS,
		       (unsigned long long)(e->time_running - old.time_running),
		       (unsigned long long)(e->time_enabled - old.time_enabled));
	}
}

TEST_HARNESS_MAIN
