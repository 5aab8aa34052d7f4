// SPDX-License-Identifier: GPL-2.0
/*
 * The host's module is unloaded while a VM runs on: it says so in the events and in the
 * page, and writes nothing after that. Once it is loaded again it has another epoch.
 */

#include "tiny_test.h"
#include <fcntl.h>
#include <pthread.h>
#include <sys/syscall.h>

#define TURNS		1000000ull
#define PERIOD		(TURNS * TINY_SPIN_INSNS / 2)
enum { SAMPLING, COUNTING, OLD, OFF, EVENTS };	/* also the ids */

FIXTURE(gone) {
	struct tiny_vm vm;
	struct tiny_vcpu *v, *other;
	struct guest_perf_page *head;
	uint64_t epoch;
};

FIXTURE_SETUP(gone)
{
	struct guest_perf_attr attr;
	int id;

	if (access(tiny_module_path(), R_OK))
		SKIP(return, "no module to load again");
	ASSERT_EQ(0, tiny_vm_create(&self->vm, 2));
	self->v = &self->vm.vcpu[0];
	self->other = &self->vm.vcpu[1];
	self->head = head_at(&self->vm, 0);
	measured_choose(self->v);
	memset(tiny_ptr(&self->vm, TINY_DATA), CANARY, TINY_DATA_SIZE);
	ASSERT_CALL(0, tiny_call_gpa(self->v, KVM_PERF_OP_ATTACH, AT_HEAD(0), 0));
	ASSERT_CALL(0, open_event(self->v, SAMPLING, PERIOD));
	ASSERT_CALL(0, open_event(self->v, COUNTING, 0));
	attr = attr_measured(0);
	ASSERT_CALL(0, open_attr(self->v, OLD, KVM_PERF_EVENT_SIZE_VER0, &attr));
	ASSERT_CALL(0, open_event(self->v, OFF, 0));
	for (id = 0; id < OFF; id++)
		ASSERT_CALL(0, id_call(self->v, KVM_PERF_OP_ENABLE, id));
	ASSERT_EQ(0, tiny_spin(self->v, TURNS));
	for (id = 0; id < EVENTS; id++)
		ASSERT_CALL(0, id_call(self->v, KVM_PERF_OP_READ, id));
	self->epoch = self->head->epoch;
}

FIXTURE_TEARDOWN(gone)
{
	const struct tiny_totals none = { 0 };

	tiny_vm_destroy(&self->vm);
	EXPECT_TRUE(tiny_totals_wait(&none));
}

static bool untouched(struct tiny_vcpu *v)
{
	data_keep(v->vm);
	return !tiny_spin(v, 5 * TURNS) && data_is_kept(v->vm);
}

static void check_told(struct __test_metadata *_metadata,
		       FIXTURE_DATA(gone) *self)
{
	struct guest_perf_event *old = event_at(&self->vm, OLD);
	int id;

	EXPECT_EQ(KVM_PERF_PAGE_GONE, self->head->state);
	for (id = 0; id < EVENTS; id++) {
		struct guest_perf_event *e = event_at(&self->vm, id);

		if (id == OLD)
			continue;
		EXPECT_EQ(KVM_PERF_STATE_GONE, e->state);
		EXPECT_EQ(0, e->sequence & 1);
		EXPECT_LE(id == OFF ? 0 : measured_least(TURNS), e->count);
	}
	/* in the old layout the host writes only count and overflows */
	EXPECT_EQ(0x5a5a5a5a, old->state);
	EXPECT_EQ(0x5a5a5a5a5a5a5a5aull, old->time_enabled);
}

static void check_unloaded(struct __test_metadata *_metadata,
			   FIXTURE_DATA(gone) *self)
{
	uint64_t nmis;
	uint32_t r[4];
	int id;

	ASSERT_EQ(0, tiny_spin(self->v, 1));
	nmis = self->v->cpu->nmis;
	EXPECT_TRUE(untouched(self->v));
	EXPECT_EQ(nmis, self->v->cpu->nmis);
	for (id = 0; id < EVENTS; id++)
		EXPECT_CALL(-KVM_ENOSYS, id_call(self->v, KVM_PERF_OP_READ, id));
	EXPECT_CALL(-KVM_ENOSYS, tiny_call(self->v, KVM_PERF_OP_PROBE, 0, 0, 0));
	EXPECT_CALL(-KVM_ENOSYS, tiny_call(self->v, KVM_PERF_OP_RESET, 0, 0, 0));
	ASSERT_EQ(0, tiny_cpuid(self->v, KVM_PERF_CPUID_BASE, r));
	EXPECT_NE(0, memcmp(&r[1], KVM_PERF_SIGNATURE, 12));
	EXPECT_TRUE(untouched(self->v));
}

static void check_another(struct __test_metadata *_metadata,
			  FIXTURE_DATA(gone) *self)
{
	int id;

	EXPECT_TRUE(untouched(self->v));
	for (id = 0; id < EVENTS; id++)
		EXPECT_CALL(-KVM_ENOENT, id_call(self->v, KVM_PERF_OP_READ, id));
	EXPECT_CALL(0, tiny_call(self->v, KVM_PERF_OP_DETACH, 0, 0, 0));
	EXPECT_TRUE(untouched(self->v));
	EXPECT_CALL(0, tiny_call_gpa(self->v, KVM_PERF_OP_ATTACH, AT_HEAD(0), 0));
	EXPECT_EQ(KVM_PERF_PAGE_LIVE, self->head->state);
	EXPECT_NE(self->epoch, self->head->epoch);
	/* the guest can open events again */
	EXPECT_CALL(0, open_event(self->v, SAMPLING, PERIOD));
	EXPECT_CALL(0, id_call(self->v, KVM_PERF_OP_ENABLE, SAMPLING));
	EXPECT_EQ(0, tiny_spin(self->v, TURNS));
	EXPECT_CALL(0, id_call(self->v, KVM_PERF_OP_DISABLE, SAMPLING));
	EXPECT_TRUE(counted(event_at(&self->vm, SAMPLING)->count, TURNS));
	EXPECT_LT(0, event_at(&self->vm, SAMPLING)->overflows);
	EXPECT_LT(0, self->head->nmis);
}

TEST_F(gone, outside)
{
	ASSERT_EQ(0, tiny_module_unload(0));
	check_told(_metadata, self);
	check_unloaded(_metadata, self);
	ASSERT_EQ(0, tiny_module_load(""));
	check_another(_metadata, self);
}

/* The vCPU is in its guest, counting and overflowing. */
TEST_F(gone, running)
{
	uint64_t before = event_at(&self->vm, COUNTING)->count;
	struct kvm_regs regs = { 0 };

	ASSERT_TRUE(starts(self->v, TINY_CODE_WAIT));
	ASSERT_EQ(0, tiny_module_unload(0));
	check_told(_metadata, self);
	/* the final count has what was counted since the guest's last call */
	EXPECT_LT(before, event_at(&self->vm, COUNTING)->count);
	data_keep(&self->vm);
	usleep(20000);
	EXPECT_TRUE(data_is_kept(&self->vm));
	*(volatile uint64_t *)&self->v->cpu->stop = 1;
	ASSERT_EQ(0, tiny_vcpu_wait(self->v, &regs));
	check_unloaded(_metadata, self);
	ASSERT_EQ(0, tiny_module_load(""));
	check_another(_metadata, self);
}

static volatile bool enough;

static void *calls(void *v)
{
	while (!enough)
		tiny_call(v, KVM_PERF_OP_READ, SAMPLING, 0, 0);
	return NULL;
}

/* While all vCPUs call and call. */
TEST_F_TIMEOUT(gone, called, 60)
{
	pthread_t thread[2];
	int i;

	for (i = 0; i < 2; i++)
		ASSERT_EQ(0, pthread_create(&thread[i], NULL, calls, &self->vm.vcpu[i]));
	usleep(20000);
	ASSERT_EQ(0, tiny_module_unload(0));
	usleep(20000);
	enough = true;
	for (i = 0; i < 2; i++)
		pthread_join(thread[i], NULL);
	check_told(_metadata, self);
	check_unloaded(_metadata, self);
	ASSERT_EQ(0, tiny_module_load(""));
	check_another(_metadata, self);
}

/* The VM ends while the module is not loaded; loading it again works. */
TEST_F(gone, vm_end)
{
	ASSERT_EQ(0, tiny_module_unload(0));
	tiny_vm_destroy(&self->vm);
	ASSERT_EQ(0, tiny_module_load(""));
	ASSERT_EQ(0, tiny_vm_create(&self->vm, 2));
}

TEST_HARNESS_MAIN
