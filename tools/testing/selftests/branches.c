// SPDX-License-Identifier: GPL-2.0
/* The last branches before an overflow: whose they are, where they are written, when they end. */

#include "tiny_test.h"
#include "branches.h"
#include "chance.h"
#include "late.h"
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>

/* Short visits: the guest has taken fewer branches since the last one than the stack has room for. */
TEST_F(branches, short_visits)
{
	struct seen seen;

	ASSERT_CALL(0, begin(self->v, 0, PERIOD));
	seen = look(self->v, 0, self->way, 3000, 3, false);
	EXPECT_LT(30, seen.overflows);
	EXPECT_EQ(seen.overflows, seen.exact);
	/* at least one branch in a visit of twelve, on average */
	EXPECT_LT(seen.overflows, seen.branches);
}

/* Another event of the vCPU's had branches, too, and ends. */
TEST_F(branches, one_closed)
{
	struct seen seen;

	ASSERT_CALL(0, open_branches(self->v, 1, PERIOD));
	ASSERT_CALL(0, begin(self->v, 0, PERIOD));
	ASSERT_CALL(0, tiny_call_here(self->v, KVM_PERF_OP_ENABLE, 1, 0));
	seen = look(self->v, 0, self->way, 500, 3, false);
	EXPECT_EQ(seen.overflows, seen.exact);
	ASSERT_CALL(0, tiny_call_here(self->v, KVM_PERF_OP_CLOSE, 1, 0));
	seen = look(self->v, 0, self->way, 3000, 3, false);
	EXPECT_LT(30, seen.overflows);
	EXPECT_EQ(seen.overflows, seen.exact);
	EXPECT_LT(seen.overflows, seen.branches);
}

/* Long ones: the stack is full. */
TEST_F(branches, long_visits)
{
	struct seen seen;
	uint32_t r[4];

	ASSERT_EQ(0, tiny_cpuid(self->v, KVM_PERF_CPUID_BRANCHES, r));
	EXPECT_EQ(0, r[1]);
	EXPECT_EQ(0, r[2] | r[3]);
	ASSERT_CALL(0, begin(self->v, 0, LONG * TINY_BRANCH_INSNS * 3 / 4));
	seen = look(self->v, 0, self->way, 50, LONG, false);
	EXPECT_LT(10, seen.overflows);
	EXPECT_EQ(seen.overflows, seen.exact);
	/* an interrupt of the host's may cut one */
	EXPECT_LE(seen.overflows * r[0] * 9 / 10, seen.branches);
	EXPECT_EQ(0, self->b->sequence % 2);
}

/* Pinned events of the host take the counters for a moment: what stands in the stack is older. */
TEST_F(branches, without_counter)
{
	int i, fd[32];

	ASSERT_CALL(0, begin(self->v, 0, PERIOD));
	ASSERT_CALL(0, run(self->v, LONG));
	ASSERT_EQ(KVM_PERF_BRANCHES_OK, self->b->status);
	for (i = 0; i < 32; i++)
		fd[i] = open_host(PERF_SAMPLE_BRANCH_ANY | PERF_SAMPLE_BRANCH_USER, -1, true);
	ASSERT_CALL(0, run(self->v, LONG));
	for (i = 0; i < 32; i++)
		close(fd[i]);
	self->e->overflows = 0;
	while (!self->e->overflows)
		ASSERT_CALL(0, run(self->v, 10));
	EXPECT_EQ(KVM_PERF_BRANCHES_OFF, self->b->status);
	EXPECT_EQ(0, self->b->number);
	ASSERT_CALL(0, run(self->v, LONG));
	EXPECT_EQ(KVM_PERF_BRANCHES_OK, self->b->status);
}

/* What the CPU had predicted is for branches=full. */
TEST_F(branches, full)
{
	struct seen seen;
	uint32_t r[4];

	ASSERT_EQ(0, tiny_param_write("branches", "full"));
	ASSERT_EQ(0, tiny_cpuid(self->v, KVM_PERF_CPUID_BRANCHES, r));
	EXPECT_EQ(KVM_PERF_BRANCH_MISPREDICTED | KVM_PERF_BRANCH_CORRECT |
		  (is_intel() ? 0 : KVM_PERF_BRANCH_SPECULATIVE), r[1]);
	ASSERT_CALL(0, begin(self->v, 0, LONG * TINY_BRANCH_INSNS * 3 / 4));
	seen = look(self->v, 0, self->way, 50, LONG, true);
	EXPECT_LT(10, seen.overflows);
	EXPECT_LT(seen.overflows, seen.branches);
	EXPECT_EQ(seen.overflows, seen.exact);
}

/* Off: refused, and an event that is open ends. */
TEST_F(branches, off)
{
	uint32_t r[4];

	ASSERT_CALL(0, tiny_call_here(self->v, KVM_PERF_OP_ATTACH, AT_HEAD(0), 0));
	ASSERT_CALL(0, open_branches(self->v, 0, LONG * TINY_BRANCH_INSNS * 3 / 4));
	ASSERT_EQ(0, tiny_param_write("branches", "off"));
	EXPECT_EQ(KVM_PERF_STATE_GONE, self->e->state);
	ASSERT_EQ(0, tiny_cpuid(self->v, KVM_PERF_CPUID_FEATURES, r));
	EXPECT_EQ(0, r[1] & KVM_PERF_FEATURE_BRANCHES);
	ASSERT_EQ(0, tiny_cpuid(self->v, KVM_PERF_CPUID_BRANCHES, r));
	EXPECT_EQ(0, r[0] | r[1] | r[2] | r[3]);
	EXPECT_CALL(-KVM_EPERM, open_branches(self->v, 0, LONG * TINY_BRANCH_INSNS * 3 / 4));
}

/* The policy changes while OPEN waits for the memory: the event ends before the guest has it. */
TEST_F(branches, off_meanwhile)
{
	struct kvm_regs r = { .rax = KVM_PERF_OP, .rbx = KVM_PERF_OP_OPEN, .rcx = AT_PARAM };
	struct guest_perf_attr attr = attr_branches(PERIOD);
	int late = late_page(&self->vm);

	if (late == -EPERM || late == -ENOSYS)
		SKIP(return, "no userfaultfd");
	ASSERT_LE(0, late);
	open_put(&self->vm, 0, AT_EVENT(0), &attr)->branches_addr = AT_LATE;
	tiny_vcpu_start(self->v, TINY_CODE_CALL, &r);
	ASSERT_TRUE(late_wanted(late, 5000));
	EXPECT_EQ(0, tiny_param_write("branches", "off"));
	late_arrive(&self->vm, late);
	EXPECT_EQ(0, tiny_vcpu_wait(self->v, &r));
	EXPECT_EQ(-KVM_EPERM, (int64_t)r.rax);
	close(late);
	EXPECT_EQ(0, tiny_param_write("branches", "addresses"));
	EXPECT_CALL(0, open_branches(self->v, 0, PERIOD));
}

/* Only for overflows, only by hardware, in memory that is the guest's and within a page. */
TEST_F(branches, form)
{
	struct guest_perf_attr attr = attr_branches(PERIOD);
	const uint64_t end = TINY_PAGE - KVM_PERF_PARAM_SIZE_VER0;
	const uint64_t room = TINY_PAGE - sizeof(struct guest_perf_branches);

	attr.sample_type |= 1;
	EXPECT_CALL(-KVM_EINVAL, open_at(self->v, 0, &attr, AT_PARAM, AT_BRANCHES(0)));
	attr = attr_branches(PERIOD);
	attr.sample_period = 0;
	EXPECT_CALL(-KVM_EINVAL, open_at(self->v, 0, &attr, AT_PARAM, AT_BRANCHES(0)));
	attr = attr_branches(PERIOD);
	attr.type = KVM_PERF_TYPE_SOFTWARE;
	attr.config = 0;
	EXPECT_CALL(-KVM_EINVAL, open_at(self->v, 0, &attr, AT_PARAM, AT_BRANCHES(0)));
	attr = attr_branches(PERIOD);
	EXPECT_CALL(-KVM_EINVAL, open_at(self->v, 0, &attr, AT_PARAM, AT_BRANCHES(0) + 4));
	EXPECT_CALL(-KVM_EINVAL, open_at(self->v, 0, &attr, AT_PARAM, AT_BRANCHES(0) + room + 8));
	EXPECT_CALL(-KVM_EFAULT, open_at(self->v, 0, &attr, AT_PARAM, 1ull << 40));
	/* the param's last member would be on the next page */
	EXPECT_CALL(-KVM_EINVAL, open_at(self->v, 0, &attr, AT_BATCH + end, AT_BRANCHES(0)));
	ASSERT_CALL(0, open_at(self->v, 0, &attr, AT_PARAM, AT_BRANCHES(0) + room));
	EXPECT_CALL(0, tiny_call_here(self->v, KVM_PERF_OP_CLOSE, 0, 0));
	attr.sample_type = 0;
	EXPECT_CALL(0, open_at(self->v, 0, &attr, AT_BATCH + end, AT_BRANCHES(0)));
	EXPECT_CALL(-KVM_EEXIST, open_branches(self->v, 0, PERIOD));
}

/* The host writes its structure, no byte around it, and nothing once the event is closed. */
TEST_F(branches, memory)
{
	const uint64_t at = 1024, size = sizeof(struct guest_perf_branches);
	uint8_t *page = tiny_ptr(&self->vm, AT_BRANCHES(0));
	struct guest_perf_attr attr = attr_branches(PERIOD);
	int i;

	memset(page, CANARY, TINY_PAGE);
	ASSERT_CALL(0, open_at(self->v, 0, &attr, AT_PARAM, AT_BRANCHES(0) + at));
	ASSERT_CALL(0, tiny_call_here(self->v, KVM_PERF_OP_ENABLE, 0, 0));
	ASSERT_EQ(0, run(self->v, LONG));
	ASSERT_CALL(0, tiny_call_here(self->v, KVM_PERF_OP_CLOSE, 0, 0));
	EXPECT_LT(0, ((struct guest_perf_branches *)(page + at))->number);
	for (i = 0; i < TINY_PAGE; i++)
		if (i < at || i >= at + size)
			ASSERT_EQ(CANARY, page[i]);
	memset(page, CANARY, TINY_PAGE);
	ASSERT_EQ(0, run(self->v, LONG));
	for (i = 0; i < TINY_PAGE; i++)
		ASSERT_EQ(CANARY, page[i]);
}

#define AT_OTHER_SLOT	0x40000000ull

/* Userspace takes the memory of the branches alone: the event ends, and nothing more is written. */
TEST_F(branches, memory_goes)
{
	uint8_t *page = mmap(NULL, TINY_PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct guest_perf_attr attr = attr_branches(PERIOD);
	int i;

	ASSERT_NE(MAP_FAILED, page);
	ASSERT_EQ(0, tiny_slot_set(&self->vm, 9, AT_OTHER_SLOT, TINY_PAGE, page, 0));
	ASSERT_CALL(0, open_at(self->v, 0, &attr, AT_PARAM, AT_OTHER_SLOT));
	ASSERT_CALL(0, tiny_call_here(self->v, KVM_PERF_OP_ENABLE, 0, 0));
	ASSERT_EQ(0, run(self->v, LONG));
	EXPECT_LT(0, ((struct guest_perf_branches *)page)->number);
	ASSERT_EQ(0, tiny_slot_set(&self->vm, 9, AT_OTHER_SLOT, 0, page, 0));
	for (i = 0; i < 100 && self->e->state != KVM_PERF_STATE_GONE; i++)
		usleep(10000);
	EXPECT_EQ(KVM_PERF_STATE_GONE, self->e->state);
	memset(page, CANARY, TINY_PAGE);
	ASSERT_EQ(0, run(self->v, LONG));
	for (i = 0; i < TINY_PAGE; i++)
		ASSERT_EQ(CANARY, page[i]);
	munmap(page, TINY_PAGE);
}

/* KVM's log of dirty pages has the page of the branches, also if it begins after the last call. */
TEST_F(branches, logged)
{
	uint64_t pages[TINY_MEM / TINY_PAGE / 64] = { 0 }, gfn = AT_BRANCHES(0) / TINY_PAGE;
	struct kvm_dirty_log log = { .dirty_bitmap = pages };

	ASSERT_CALL(0, begin(self->v, 0, LONG * TINY_BRANCH_INSNS * 3 / 4));
	ASSERT_EQ(0, tiny_slot_set(&self->vm, 0, 0, TINY_MEM, self->vm.mem, KVM_MEM_LOG_DIRTY_PAGES));
	ASSERT_EQ(0, run(self->v, LONG));
	ASSERT_LT(0, self->e->overflows);
	ASSERT_EQ(0, ioctl(self->vm.fd, KVM_GET_DIRTY_LOG, &log));
	EXPECT_EQ(1, pages[gfn / 64] >> gfn % 64 & 1);
}

#define DEBUGCTL	0x1d9

/* In the guest's DEBUGCTL, as the guest and the VMM read it. */
static bool debugctl_is_0(struct tiny_vcpu *v)
{
	struct {
		struct kvm_msrs head;
		struct kvm_msr_entry entry;
	} msrs = { .head.nmsrs = 1, .entry.index = DEBUGCTL, .entry.data = ~0ull };
	struct tiny_timed *timed = tiny_ptr(v->vm, AT_BATCH);
	struct kvm_regs r = { .rcx = 1, .rdi = AT_BATCH };

	*timed = (struct tiny_timed){ .rcx = DEBUGCTL, .rax = 1, .rdx = 1 };
	return !tiny_vcpu_exec_here(v, TINY_CODE_TIMED_RDMSR, &r) && !timed->rax &&
	       ioctl(v->fd, KVM_GET_MSRS, &msrs) == 1 && !msrs.entry.data;
}

/* On Intel the guest's DEBUGCTL has a bit for as long as the guest runs: nobody sees it. */
TEST_F(branches, debugctl)
{
	int i, lent = 0;

	ASSERT_TRUE(debugctl_is_0(self->v));
	ASSERT_CALL(0, begin(self->v, 0, ODD_PERIOD));
	for (i = 0; i < 50; i++) {
		ASSERT_EQ(0, run(self->v, LONG));
		lent += !!self->b->number;
		ASSERT_TRUE(debugctl_is_0(self->v));
	}
	EXPECT_LT(25, lent);
	ASSERT_CALL(0, tiny_call_here(self->v, KVM_PERF_OP_CLOSE, 0, 0));
	ASSERT_TRUE(debugctl_is_0(self->v));
}

/* Two vCPUs in turn in one thread, whose event counts both: the other's overflows are not for it. */
TEST_F(branches, two_vcpus)
{
	struct tiny_vcpu *other = &self->vm.vcpu[1];
	int i, exact_ones = 0;
	uint64_t before;
	struct seen seen;

	ASSERT_CALL(0, begin(self->v, 0, LONG * TINY_BRANCH_INSNS * 3 / 4));
	for (i = 0; i < 20; i++) {
		ASSERT_CALL(0, tiny_call_here(self->v, KVM_PERF_OP_READ, 0, 0));
		before = self->e->count;
		self->e->overflows = 0;
		ASSERT_EQ(0, run(other, LONG));
		EXPECT_EQ(0, self->e->overflows);
		ASSERT_CALL(0, tiny_call_here(self->v, KVM_PERF_OP_READ, 0, 0));
		EXPECT_LE(before + LONG * TINY_BRANCH_INSNS, self->e->count);
		seen = look(self->v, 0, self->way, 1, LONG, false);
		EXPECT_LE(seen.overflows * 4, seen.branches);
		EXPECT_EQ(seen.overflows, seen.exact);
		exact_ones += seen.exact;
	}
	EXPECT_LT(0, exact_ones);
}

/* Its own thread and the test's run the vCPU in turn: the event comes along with its next call. */
TEST_F(branches, moved)
{
	int i, all = 0, good = 0;
	struct kvm_regs r;

	ASSERT_CALL(0, begin(self->v, 0, PERIOD));
	for (i = 0; i < 300; i++) {
		/* of the old thread until the call */
		ASSERT_EQ(0, run(self->v, 3));
		ASSERT_CALL(0, tiny_call_here(self->v, KVM_PERF_OP_READ, 0, 0));
		self->e->overflows = 0;
		ASSERT_EQ(0, run(self->v, LONG / 4));
		all += !!self->e->overflows;
		good += self->e->overflows && self->b->number > 4 && exact(self->b, self->way, false);
		ASSERT_CALL(0, id_call(self->v, KVM_PERF_OP_READ, 0));
		self->e->overflows = 0;
		r = (struct kvm_regs){ .rcx = LONG / 4 };
		ASSERT_EQ(0, tiny_vcpu_exec(self->v, TINY_CODE_BRANCHES_USER, &r));
		all += !!self->e->overflows;
		good += self->e->overflows && self->b->number > 4 && exact(self->b, self->way, false);
	}
	EXPECT_LT(20, all);
	EXPECT_EQ(all, good);
}

/* What a guest of the guest's runs is no branch of the guest's. */
TEST_F(branches, nested)
{
	int i, overflows = 0;

	ASSERT_CALL(0, begin(self->v, 0, LONG * TINY_BRANCH_INSNS * 3 / 4));
	if (tiny_vcpu_nested(self->v))
		SKIP(return, "this KVM takes no state of SVM's");
	for (i = 0; i < 20; i++) {
		self->e->overflows = 0;
		ASSERT_EQ(0, run(self->v, LONG));
		overflows += self->e->overflows;
		EXPECT_EQ(KVM_PERF_BRANCHES_NESTED, self->e->overflows ? self->b->status : KVM_PERF_BRANCHES_NESTED);
		EXPECT_EQ(0, self->b->number);
	}
	EXPECT_LT(10, overflows);
	tiny_vcpu_mode64(self->v);
}

/* Runs in a child: another VM, which takes other branches and gives the CPU back in each turn. */
static void other_vm(void)
{
	struct tiny_vm vm;
	struct kvm_regs r;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (tiny_vm_create(&vm, 1) || begin(&vm.vcpu[0], 0, PERIOD))
		exit(1);
	for (;;) {
		r = (struct kvm_regs){ .rcx = 100 };
		if (tiny_vcpu_exec_here(&vm.vcpu[0], TINY_CODE_SPIN_USER, &r))
			exit(1);
		sched_yield();
	}
}

/* Two VMs in turn on a CPU: each has its own branches. */
TEST_F(branches, two_vms)
{
	struct seen seen, all = { 0 };
	pid_t child = fork();
	int i, status;

	ASSERT_LE(0, child);
	if (!child)
		other_vm();
	ASSERT_CALL(0, begin(self->v, 0, PERIOD));
	for (i = 0; i < 3000; i++) {
		seen = look(self->v, 0, self->way, 1, 3, false);
		all.overflows += seen.overflows;
		all.exact += seen.exact;
		all.branches += seen.branches;
		sched_yield();
	}
	EXPECT_LT(30, all.overflows);
	EXPECT_EQ(all.overflows, all.exact);
	EXPECT_LT(all.overflows, all.branches);
	EXPECT_EQ(0, waitpid(child, &status, WNOHANG));
	kill(child, SIGKILL);
	waitpid(child, &status, 0);
}

/* The host's own use of the stack comes, or goes. */
static void host_uses(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = *fd >= 0 ? -1 : open_host(PERF_SAMPLE_BRANCH_ANY | ONE_OF(PERF_SAMPLE_BRANCH_USER, PERF_SAMPLE_BRANCH_KERNEL),
					below(2) ? -1 : sched_getcpu(), false);
}

/* One of the things that may happen between two stacks. */
static int64_t happens(struct tiny_vcpu *v, int *fd)
{
	switch (below(64)) {
	case 0:
		host_uses(fd);
		return 0;
	case 1:
		return tiny_call_here(v, KVM_PERF_OP_DISABLE, 0, 0) ?: tiny_call_here(v, KVM_PERF_OP_ENABLE, 0, 0);
	case 2:
		return tiny_call_here(v, KVM_PERF_OP_CLOSE, 0, 0) ?: begin(v, 0, PERIOD + below(2000));
	case 3:
		tiny_stay_on(below(4));	/* if the machine has it */
		return 0;
	case 4:
		return id_call(v, KVM_PERF_OP_READ, 0);	/* by the vCPU's own thread */
	default:
		return tiny_call_here(v, KVM_PERF_OP_READ, 0, 0);
	}
}

/* As many as STACKS says: all of the guest's, or empty and said to be so. */
TEST_F_TIMEOUT(branches, many, 900)
{
	const int want = atoi(getenv("STACKS") ?: "2000");
	int stacks = 0, full = 0, fd = -1;
	uint64_t left = 100ull * want;

	chance_seed(want);
	ASSERT_CALL(0, begin(self->v, 0, PERIOD));
	while (stacks < want && left--) {
		self->e->overflows = 0;
		vmm_branches(below(20));
		ASSERT_EQ(0, run(self->v, 1 + below(below(4) ? 40 : 800)));
		if (self->e->overflows) {
			stacks++;
			full += self->b->status == KVM_PERF_BRANCHES_OK && self->b->number;
			ASSERT_TRUE(exact(self->b, self->way, false) ||
				    (self->b->status != KVM_PERF_BRANCHES_OK && !self->b->number));
		}
		ASSERT_CALL(0, happens(self->v, &fd));
	}
	TH_LOG("%d stacks, %d with branches", stacks, full);
	EXPECT_EQ(want, stacks);
	EXPECT_LT(stacks / 4, full);
	if (fd >= 0)
		close(fd);
}

/* 1 or 0; -1: ftrace does not tell. */
static int is_hooked(void)
{
	FILE *f = fopen("/sys/kernel/tracing/enabled_functions", "r") ?:
		  fopen("/sys/kernel/debug/tracing/enabled_functions", "r");
	int hooked = 0;
	char line[256];

	if (!f)
		return -1;
	while (fgets(line, sizeof(line), f))
		hooked |= !strncmp(line, "kvm_arch_vcpu_load ", 19);
	fclose(f);
	return hooked;
}

/* The hook goes with the switch, and comes again with the next event. */
TEST_F(branches, switched_off)
{
	struct seen seen;

	if (is_hooked() < 0)
		SKIP(return, "ftrace does not tell what is hooked");
	ASSERT_CALL(0, begin(self->v, 0, PERIOD));
	ASSERT_EQ(1, is_hooked());
	ASSERT_EQ(0, tiny_param_write("access", "unavailable"));
	EXPECT_EQ(0, is_hooked());
	EXPECT_EQ(KVM_PERF_STATE_GONE, self->e->state);
	ASSERT_EQ(0, run(self->v, LONG));
	ASSERT_EQ(0, tiny_param_write("access", "local"));
	ASSERT_CALL(0, begin(self->v, 0, PERIOD));
	seen = look(self->v, 0, self->way, 3000, 3, false);
	EXPECT_LT(30, seen.overflows);
	EXPECT_EQ(seen.overflows, seen.exact);
	EXPECT_LT(seen.overflows, seen.branches);
}

/* The hook goes while the guest runs. */
TEST_F(branches, switched_off_meanwhile)
{
	const struct kvm_regs r = { .rcx = 200 * LONG };
	struct kvm_regs after;
	int i, tries;

	for (i = 0; i < 5; i++) {
		ASSERT_CALL(0, begin(self->v, 0, PERIOD * 10));
		ASSERT_CALL(0, id_call(self->v, KVM_PERF_OP_READ, 0));
		self->e->overflows = 0;
		tiny_vcpu_start(self->v, TINY_CODE_BRANCHES_USER, &r);
		for (tries = 0; tries < 1000 && !*(volatile uint32_t *)&self->e->overflows; tries++)
			usleep(1000);
		EXPECT_GT(1000, tries);
		ASSERT_EQ(0, tiny_param_write("access", "unavailable"));
		ASSERT_EQ(0, tiny_vcpu_wait(self->v, &after));
		EXPECT_TRUE(debugctl_is_0(self->v));
		ASSERT_EQ(0, tiny_param_write("access", "local"));
	}
}

/* The module goes, hook and all, and comes again. */
TEST_F(branches, unloaded)
{
	struct seen seen;

	if (access(tiny_module_path(), R_OK))
		SKIP(return, "no module to load again");
	ASSERT_CALL(0, begin(self->v, 0, LONG * TINY_BRANCH_INSNS * 3 / 4));
	ASSERT_EQ(0, tiny_module_unload(0));
	EXPECT_EQ(KVM_PERF_STATE_GONE, self->e->state);
	ASSERT_EQ(0, run(self->v, LONG));
	ASSERT_EQ(0, tiny_module_load("branches=full"));
	ASSERT_CALL(0, begin(self->v, 0, LONG * TINY_BRANCH_INSNS * 3 / 4));
	seen = look(self->v, 0, self->way, 50, LONG, true);
	EXPECT_LT(10, seen.overflows);
	EXPECT_LT(seen.overflows, seen.branches);
	EXPECT_EQ(seen.overflows, seen.exact);
}

TEST_HARNESS_MAIN
