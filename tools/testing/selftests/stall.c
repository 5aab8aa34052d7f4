// SPDX-License-Identifier: GPL-2.0
/*
 * A VMM backs a page of its guest by memory that never arrives (userfaultfd), and a call
 * touches that page. Only that vCPU's thread may wait: not the VM's other vCPUs, not
 * another VM, not the admin, not rmmod.
 */

#include "admin.h"
#include "late.h"
#include "tiny_test.h"
#include <errno.h>
#include <fcntl.h>
#include <linux/kvm.h>
#include <sys/ioctl.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>

/* Seconds in which a bystander ends, who would otherwise wait for the page. */
#define SOON		5

/* The vCPU waits for the page. Or its call has ended, or neither within some seconds. */
static bool stalled(struct tiny_vcpu *v, int fd)
{
	int tries;

	for (tries = 0; tries < SOON * 100 && !tiny_vcpu_ended(v); tries++)
		if (late_wanted(fd, 10))
			return true;
	return false;
}

static bool ends_soon(struct runner *r, void (*run)(struct runner *r), void *arg)
{
	runner_start(r, run, arg);
	return runner_ends(r, SOON);
}

static void opens(struct runner *r)
{
	struct tiny_vm *vm = r->arg;

	r->result = open_event(&vm->vcpu[1], 1, 0);
}

static void resets(struct runner *r)
{
	struct tiny_vm *vm = r->arg;

	r->result = tiny_call(&vm->vcpu[1], KVM_PERF_OP_RESET, 0, 0, 0);
}

static void second_vm(struct runner *r)
{
	struct tiny_vm second;

	r->result = tiny_vm_create(&second, 1);
	if (r->result)
		return;
	r->result = open_event(&second.vcpu[0], 0, 0);
	tiny_vm_destroy(&second);
}

FIXTURE(stall) {
	struct tiny_vm vm;
	struct tiny_totals before;
	struct kvm_regs regs;
	struct runner bystander, again;
	bool switched;		/* give access back */
	int64_t result;		/* of the call, once the page has arrived */
	int fd;
};

/* Which call touches the page. */
FIXTURE_VARIANT(stall) {
	uint32_t op;
	uint64_t address, attr, event;
	int64_t result;
	bool takes;		/* a page or an event, if it may */
};

FIXTURE_VARIANT_ADD(stall, open_param) {
	/* zeroes name the attr and the event's memory at address 0 */
	.op = KVM_PERF_OP_OPEN, .address = AT_LATE, .result = 0, .takes = true,
};

FIXTURE_VARIANT_ADD(stall, open_attr) {
	.op = KVM_PERF_OP_OPEN, .address = AT_PARAM, .attr = AT_LATE,
	/* zeroes are cycles */
	.event = AT_EVENT(0), .result = 0, .takes = true,
};

FIXTURE_VARIANT_ADD(stall, open_event) {
	.op = KVM_PERF_OP_OPEN, .address = AT_PARAM, .attr = AT_ATTR,
	.event = AT_LATE, .result = 0, .takes = true,
};

FIXTURE_VARIANT_ADD(stall, attach) {
	.op = KVM_PERF_OP_ATTACH, .address = AT_LATE, .result = 0,
	.takes = true,
};

FIXTURE_VARIANT_ADD(stall, batch) {
	.op = KVM_PERF_OP_BATCH, .address = AT_LATE, .result = 1,
};

FIXTURE_SETUP(stall)
{
	struct guest_perf_attr attr;

	ASSERT_EQ(0, tiny_totals_read(&self->before));
	ASSERT_EQ(0, tiny_vm_create(&self->vm, 3));
	measured_choose(&self->vm.vcpu[1]);
	/* the third vCPU has an event before the page is gone */
	ASSERT_CALL(0, open_event(&self->vm.vcpu[2], 2, 0));
	self->fd = late_page(&self->vm);
	if (self->fd == -EPERM || self->fd == -ENOSYS)
		SKIP(return, "no userfaultfd");
	ASSERT_LE(0, self->fd);
	self->result = variant->result;
	attr = attr_measured(0);
	open_put(&self->vm, 0, variant->event, &attr)->attr_addr = variant->attr;
	self->regs = (struct kvm_regs){
		.rax = KVM_PERF_OP, .rbx = variant->op, .rcx = variant->address,
		.rsi = variant->op == KVM_PERF_OP_BATCH,
	};
	tiny_vcpu_start(&self->vm.vcpu[0], TINY_CODE_CALL, &self->regs);
	ASSERT_TRUE(stalled(&self->vm.vcpu[0], self->fd));
}

FIXTURE_TEARDOWN(stall)
{
	EXPECT_FALSE(tiny_vcpu_ended(&self->vm.vcpu[0]));
	late_arrive(&self->vm, self->fd);
	EXPECT_EQ(0, tiny_vcpu_wait(&self->vm.vcpu[0], &self->regs));
	EXPECT_EQ(self->result, (int64_t)self->regs.rax);
	if (self->bystander.thread)
		pthread_join(self->bystander.thread, NULL);
	if (self->again.thread)
		pthread_join(self->again.thread, NULL);
	if (self->switched)
		EXPECT_EQ(0, tiny_param_write("access", "local"));
	close(self->fd);
	tiny_vm_destroy(&self->vm);
	EXPECT_TRUE(tiny_totals_wait(&self->before));
}

TEST_F(stall, other_vcpu_opens)
{
	ASSERT_TRUE(ends_soon(&self->bystander, opens, &self->vm));
	EXPECT_EQ(0, self->bystander.result);
}

TEST_F(stall, other_vcpu_resets)
{
	ASSERT_TRUE(ends_soon(&self->bystander, resets, &self->vm));
	EXPECT_EQ(0, self->bystander.result);
}

/* A vCPU's reset closes its events, by a work that waits for no page. */
TEST_F(stall, third_vcpu_is_reset)
{
	struct tiny_totals want;

	ASSERT_EQ(0, tiny_totals_read(&want));
	tiny_vcpu_reset(&self->vm.vcpu[2]);
	want.events--;
	want.pages--;
	EXPECT_TRUE(tiny_totals_wait(&want));
}

TEST_F(stall, another_vm)
{
	ASSERT_TRUE(ends_soon(&self->bystander, second_vm, NULL));
	EXPECT_EQ(0, self->bystander.result);
}

TEST_F(stall, debugfs)
{
	ASSERT_TRUE(ends_soon(&self->bystander, admin_shows_vms, NULL));
	EXPECT_EQ(0, self->bystander.result);
}

TEST_F(stall, priority)
{
	ASSERT_TRUE(ends_soon(&self->bystander, admin_sets_priority, NULL));
	EXPECT_EQ(0, self->bystander.result);
}

/* It would have to wait for the page, so it says at once that it can't. */
TEST_F(stall, rmmod)
{
	ASSERT_TRUE(ends_soon(&self->bystander, admin_unloads, NULL));
	EXPECT_EQ(-EAGAIN, self->bystander.result);
}

/* The guests lose all at once; only the write itself waits for the call to leave, for 10 s. */
TEST_F(stall, switched_off)
{
	struct tiny_totals want;

	ASSERT_EQ(0, tiny_totals_read(&want));
	if (variant->takes)
		self->result = -KVM_ENOSYS;
	EXPECT_FALSE(ends_soon(&self->bystander, admin_writes, "access=unavailable"));
	want.events--;
	want.pages--;
	EXPECT_TRUE(tiny_totals_wait(&want));
	self->switched = true;
	/* Then nobody hangs who reads a parameter, and guests may come back before the call does. */
	if (variant->op != KVM_PERF_OP_ATTACH)
		return;
	ASSERT_TRUE(runner_ends(&self->bystander, 2 * SOON));
	EXPECT_EQ(-EBUSY, self->bystander.result);
	ASSERT_EQ(0, tiny_param_write("access", "local"));
	ASSERT_TRUE(ends_soon(&self->again, second_vm, NULL));
	EXPECT_EQ(0, self->again.result);
	self->result = variant->result;
}

static void stall_for_ever(void)
{
	struct kvm_regs regs = {
		.rax = KVM_PERF_OP, .rbx = KVM_PERF_OP_BATCH, .rcx = AT_LATE, .rsi = 1,
	};
	struct tiny_vm vm;

	if (tiny_vm_create(&vm, 1) || late_page(&vm) < 0)
		exit(1);
	tiny_vcpu_exec(&vm.vcpu[0], TINY_CODE_CALL, &regs);
	exit(2);
}

/* A VMM that waits for the page can be killed. */
TEST(stalled_vmm_is_killed)
{
	struct tiny_totals before, want;
	pid_t pid;
	int status, tries;

	ASSERT_EQ(0, tiny_totals_read(&before));
	pid = fork();
	if (!pid)
		stall_for_ever();
	want = before;
	want.vms++;
	want.vcpus++;
	EXPECT_TRUE(tiny_totals_wait(&want));
	usleep(100000);
	ASSERT_EQ(0, kill(pid, SIGKILL));
	for (tries = 0; tries < SOON * 100 && waitpid(pid, &status, WNOHANG) != pid; tries++)
		usleep(10000);
	EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
	EXPECT_TRUE(tiny_totals_wait(&before));
}

/*
 * A call of Hyper-V's that reads the page, with our number where such calls have none: KVM's
 * own function waits, and nothing of the module.
 */
TEST(hyperv_call_does_not_hold_the_module)
{
	struct kvm_regs regs = {
		.rax = KVM_PERF_OP, .rcx = 0x5d /* HvCallSignalEvent */, .rdx = AT_LATE,
	};
	struct runner admin;
	struct tiny_vm vm;
	int fd;

	ASSERT_EQ(0, tiny_vm_create(&vm, 1));
	if (tiny_vcpu_hyperv(&vm.vcpu[0], 1))
		SKIP(return, "no Hyper-V in this KVM");
	fd = late_page(&vm);
	ASSERT_LE(0, fd);
	tiny_vcpu_start(&vm.vcpu[0], TINY_CODE_CALL, &regs);
	EXPECT_TRUE(stalled(&vm.vcpu[0], fd));
	EXPECT_TRUE(ends_soon(&admin, admin_unloads, &vm));
	EXPECT_FALSE(tiny_vcpu_ended(&vm.vcpu[0]));
	late_arrive(&vm, fd);
	EXPECT_EQ(0, tiny_vcpu_wait(&vm.vcpu[0], &regs));
	pthread_join(admin.thread, NULL);
	EXPECT_EQ(0, admin.result);
	EXPECT_EQ(0, tiny_module_load(""));
	close(fd);
	tiny_vm_destroy(&vm);
}

#define TRACING		"/sys/kernel/tracing/"

/* Does the way to KVM's function take a reference on the module, so that rmmod fails? */
static int module_is_held(struct tiny_vcpu *v)
{
	char line[512];
	int held = 0;
	FILE *f;

	if (tiny_text_write(TRACING "trace", O_TRUNC, "\n") ||
	    tiny_text_write(TRACING "events/module/module_get/enable", 0, "1"))
		return -1;
	tiny_call(v, KVM_PERF_OP_PROBE, 0, 0, 0);
	tiny_text_write(TRACING "events/module/module_get/enable", 0, "0");
	f = fopen(TRACING "trace", "re");
	while (f && fgets(line, sizeof(line), f))
		held |= !!strstr(line, "module_get: pvperf_host");
	if (f)
		fclose(f);
	return f ? held : -1;
}

/* Another vCPU may set Hyper-V's id for all between the module's look at it and KVM's. */
TEST(hyperv_without_id_holds_the_module)
{
	struct tiny_vm vm, plain;

	ASSERT_EQ(0, tiny_vm_create(&vm, 1));
	ASSERT_EQ(0, tiny_vm_create(&plain, 1));
	if (tiny_vcpu_hyperv(&vm.vcpu[0], 0))
		SKIP(return, "no Hyper-V in this KVM");
	EXPECT_EQ(1, module_is_held(&vm.vcpu[0]));
	EXPECT_EQ(0, module_is_held(&plain.vcpu[0]));
	tiny_vm_destroy(&plain);
	tiny_vm_destroy(&vm);
}

TEST_HARNESS_MAIN
