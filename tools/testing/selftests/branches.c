// SPDX-License-Identifier: GPL-2.0
/*
 * The last branches before an overflow. The guest takes the same four branches again and again, and
 * leaves to this VMM now and then: each stack is an exact run of these four, and nothing of the
 * VMM's is in one. The vCPUs run in the test's own thread, so that all branches are one thread's.
 */

#include "tiny_test.h"
#include "chance.h"
#include "late.h"
#include <cpuid.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <sched.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#define PERIOD		1009
#define LONG		20000		/* turns in which there is an overflow, and none is too many */
#define ODD_PERIOD	61007		/* of which none ends with these turns for long */
#define AT_BRANCHES(n)	(TINY_DATA + (40 + (n)) * TINY_PAGE)

FIXTURE(branches) {
	struct tiny_vm vm;
	struct tiny_vcpu *v;
	struct guest_perf_event *e;
	struct guest_perf_branches *b;
	struct guest_perf_branch way[TINY_BRANCHES];
	struct tiny_totals before;
};

FIXTURE_SETUP(branches)
{
	uint32_t r[4];

	ASSERT_EQ(0, tiny_param_write("branches", "addresses"));
	ASSERT_EQ(0, tiny_totals_read(&self->before));
	ASSERT_EQ(0, tiny_vm_create(&self->vm, 2));
	self->v = &self->vm.vcpu[0];
	self->e = event_at(&self->vm, 0);
	self->b = tiny_ptr(&self->vm, AT_BRANCHES(0));
	tiny_branches(self->way);
	ASSERT_EQ(0, tiny_cpuid(self->v, KVM_PERF_CPUID_FEATURES, r));
	if (!(r[1] & KVM_PERF_FEATURE_BRANCHES))
		SKIP(return, "the host's CPU has no stack of branches that guests can have");
}

FIXTURE_TEARDOWN(branches)
{
	tiny_vm_destroy(&self->vm);
	EXPECT_TRUE(tiny_totals_wait(&self->before));
	EXPECT_EQ(0, tiny_param_write("branches", "off"));
	EXPECT_EQ(0, tiny_param_write("priority", "flexible"));
	EXPECT_EQ(0, tiny_param_write("access", "local"));
}

static int64_t call(struct tiny_vcpu *v, uint32_t op, uint64_t a, uint64_t b)
{
	struct kvm_regs r = { .rax = KVM_PERF_OP, .rbx = op, .rcx = a, .rdx = b };
	int64_t broken = tiny_vcpu_exec_here(v, TINY_CODE_CALL, &r);

	return broken ?: (int64_t)r.rax;
}

static int64_t run(struct tiny_vcpu *v, uint64_t turns)
{
	struct kvm_regs r = { .rcx = turns };

	return tiny_vcpu_exec_here(v, TINY_CODE_BRANCHES_USER, &r);
}

static struct guest_perf_attr attr_branches(uint64_t period)
{
	struct guest_perf_attr attr = attr_instructions(period);

	attr.sample_type = KVM_PERF_SAMPLE_BRANCHES;
	attr.flags = KVM_PERF_FLAG_EXCLUDE_KERNEL;
	return attr;
}

static int64_t open_at(struct tiny_vcpu *v, int id, const struct guest_perf_attr *attr,
		       uint64_t param_addr, uint64_t branches_addr)
{
	struct guest_perf_event_param param = {
		.attr_addr = AT_ATTR, .guest_event_addr = AT_EVENT(id), .id = id,
		.event_size = KVM_PERF_EVENT_SIZE, .branches_addr = branches_addr,
	};

	int64_t err = -KVM_EBUSY;
	int tries;

	memcpy(tiny_ptr(v->vm, AT_ATTR), attr, sizeof(*attr));
	memcpy(tiny_ptr(v->vm, param_addr), &param, sizeof(param));
	/* A work installs the hook; an OPEN waits 0.1 s for it. */
	for (tries = 0; tries < 50 && err == -KVM_EBUSY; tries++)
		err = call(v, KVM_PERF_OP_OPEN, param_addr, 0);
	return err;
}

static int64_t open_branches(struct tiny_vcpu *v, int id, uint64_t period)
{
	struct guest_perf_attr attr = attr_branches(period);

	return open_at(v, id, &attr, AT_PARAM, AT_BRANCHES(id));
}

static int64_t begin(struct tiny_vcpu *v, int id, uint64_t period)
{
	return open_branches(v, id, period) ?: call(v, KVM_PERF_OP_ENABLE, id, 0);
}

static int way_of(const struct guest_perf_branch *way, const struct guest_perf_branch *b)
{
	int i;

	for (i = 0; i < TINY_BRANCHES; i++)
		if (way[i].from == b->from && way[i].to == b->to)
			return i;
	return -1;
}

/*
 * Are all branches the guest's, each one after the next in the list? The oldest may be the guest's
 * own way into its user code.
 */
static bool exact(const struct guest_perf_branches *b, const struct guest_perf_branch *way,
		  bool full)
{
	const uint64_t told = KVM_PERF_BRANCH_CORRECT | KVM_PERF_BRANCH_SPECULATIVE;

	int i, at, last = -1;

	if (b->status != KVM_PERF_BRANCHES_OK || b->number > KVM_PERF_BRANCHES_MAX || b->reserved)
		return false;
	for (i = 0; i < b->number; i++) {
		at = way_of(way, &b->branch[i]);
		if (at < 0)
			return i == b->number - 1 && b->branch[i].to == way[0].from &&
			       b->branch[i].from >> 12 == way[0].from >> 12;
		if (last >= 0 && (at + 1) % TINY_BRANCHES != last)
			return false;
		if (full ? !(b->branch[i].flags & told) : b->branch[i].flags)
			return false;
		last = at;
	}
	return true;
}

static bool is_intel(void)
{
	uint32_t a, b, c, d;

	__cpuid(0, a, b, c, d);
	return b == signature_INTEL_ebx;
}

/* What the VMM does between two runs of the guest's. */
static __attribute__((noinline)) int vmm_branches(int n)
{
	return n ? vmm_branches(n - 1) + 1 : 0;
}

struct seen {
	int overflows, exact, branches, contended, others;
};

/* Run the guest @runs times, for @turns each, and look at the stack of each overflow. */
static struct seen look(struct tiny_vcpu *v, int id, const struct guest_perf_branch *way,
			int runs, int turns, bool full)
{
	const struct guest_perf_branches *b = tiny_ptr(v->vm, AT_BRANCHES(id));
	struct guest_perf_event *e = event_at(v->vm, id);
	struct seen seen = { 0 };

	while (runs--) {
		if (vmm_branches(40) != 40 || run(v, turns))
			break;
		if (!e->overflows)
			continue;
		e->overflows = 0;
		seen.overflows++;
		seen.branches += b->number;
		seen.contended += b->status == KVM_PERF_BRANCHES_CONTENDED;
		if (exact(b, way, full))
			seen.exact++;
		else
			seen.others++;
	}
	return seen;
}

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
	ASSERT_CALL(0, call(self->v, KVM_PERF_OP_ENABLE, 1, 0));
	seen = look(self->v, 0, self->way, 500, 3, false);
	EXPECT_EQ(seen.overflows, seen.exact);
	ASSERT_CALL(0, call(self->v, KVM_PERF_OP_CLOSE, 1, 0));
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

	ASSERT_CALL(0, call(self->v, KVM_PERF_OP_ATTACH, AT_HEAD(0), 0));
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
	struct guest_perf_event_param param = {
		.attr_addr = AT_ATTR, .guest_event_addr = AT_EVENT(0),
		.event_size = KVM_PERF_EVENT_SIZE, .branches_addr = AT_LATE,
	};
	struct kvm_regs r = { .rax = KVM_PERF_OP, .rbx = KVM_PERF_OP_OPEN, .rcx = AT_PARAM };
	struct guest_perf_attr attr = attr_branches(PERIOD);
	int late = late_page(&self->vm);

	if (late == -EPERM || late == -ENOSYS)
		SKIP(return, "no userfaultfd");
	ASSERT_LE(0, late);
	memcpy(tiny_ptr(&self->vm, AT_ATTR), &attr, sizeof(attr));
	memcpy(tiny_ptr(&self->vm, AT_PARAM), &param, sizeof(param));
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
	EXPECT_CALL(0, call(self->v, KVM_PERF_OP_CLOSE, 0, 0));
	attr.sample_type = 0;
	EXPECT_CALL(0, open_at(self->v, 0, &attr, AT_BATCH + end, AT_BRANCHES(0)));
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
	ASSERT_CALL(0, call(self->v, KVM_PERF_OP_ENABLE, 0, 0));
	ASSERT_EQ(0, run(self->v, LONG));
	ASSERT_CALL(0, call(self->v, KVM_PERF_OP_CLOSE, 0, 0));
	EXPECT_LT(0, ((struct guest_perf_branches *)(page + at))->number);
	for (i = 0; i < TINY_PAGE; i++)
		if (i < at || i >= at + size)
			ASSERT_EQ(CANARY, page[i]);
	memset(page, CANARY, TINY_PAGE);
	ASSERT_EQ(0, run(self->v, LONG));
	for (i = 0; i < TINY_PAGE; i++)
		ASSERT_EQ(CANARY, page[i]);
}

/* The host's own use of the stack: of this CPU, or of this thread if @cpu is -1. */
static int open_host(uint64_t branches, int cpu, bool pinned)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_HARDWARE, .size = sizeof(attr), .config = COUNT_INSTRUCTIONS,
		.sample_period = 1000000000, .sample_type = PERF_SAMPLE_BRANCH_STACK,
		.branch_sample_type = branches, .pinned = pinned,
	};

	return syscall(SYS_perf_event_open, &attr, cpu < 0 ? 0 : -1, cpu, -1, 0);
}

/* The event that comes last has the filter: no stack, and the guest is told; then stacks again. */
TEST_F(branches, contended)
{
	struct seen seen;
	int fd;

	if (is_intel())
		SKIP(return, "Intel's driver has events with other filters wait");
	ASSERT_CALL(0, begin(self->v, 0, LONG * TINY_BRANCH_INSNS * 3 / 4));
	fd = open_host(PERF_SAMPLE_BRANCH_ANY | PERF_SAMPLE_BRANCH_KERNEL, -1, false);
	ASSERT_LE(0, fd);
	seen = look(self->v, 0, self->way, 50, LONG, false);
	EXPECT_LT(10, seen.overflows);
	EXPECT_EQ(seen.overflows, seen.contended);
	EXPECT_EQ(0, seen.branches);
	close(fd);
	ASSERT_CALL(0, call(self->v, KVM_PERF_OP_DISABLE, 0, 0));
	ASSERT_CALL(0, call(self->v, KVM_PERF_OP_ENABLE, 0, 0));
	seen = look(self->v, 0, self->way, 50, LONG, false);
	EXPECT_LT(10, seen.overflows);
	EXPECT_EQ(seen.overflows, seen.exact);
}

/* Does the guest's event count when it is enabled now? Then each overflow has a stack. */
static bool owns(struct tiny_vcpu *v, const struct guest_perf_branch *way)
{
	struct seen seen;

	if (call(v, KVM_PERF_OP_DISABLE, 0, 0) || call(v, KVM_PERF_OP_ENABLE, 0, 0))
		return false;
	seen = look(v, 0, way, 50, LONG, false);
	return seen.overflows > 10 && seen.overflows == seen.exact && seen.branches > seen.overflows;
}

static bool loses(struct tiny_vcpu *v, const struct guest_perf_branch *way)
{
	return !look(v, 0, way, 50, LONG, false).overflows && !call(v, KVM_PERF_OP_READ, 0, 0) &&
	       event_at(v->vm, 0)->state == KVM_PERF_STATE_ERROR;
}

/*
 * Intel's driver gives the stack to events of one filter: to those of the CPU that are pinned, then
 * to the pinned ones of threads, as the guest's may be, then to the others.
 */
TEST_F(branches, owner)
{
	const uint64_t kernel = PERF_SAMPLE_BRANCH_ANY | PERF_SAMPLE_BRANCH_KERNEL;
	const int period = LONG * TINY_BRANCH_INSNS * 3 / 4;
	int fd;

	if (!is_intel())
		SKIP(return, "AMD's driver gives the stack to the event that comes last");
	ASSERT_EQ(0, tiny_param_write("priority", "pinned"));
	fd = open_host(kernel, sched_getcpu(), true);
	ASSERT_CALL(0, begin(self->v, 0, period));
	EXPECT_TRUE(loses(self->v, self->way));
	close(fd);
	EXPECT_TRUE(owns(self->v, self->way));
	fd = open_host(kernel, sched_getcpu(), true);
	EXPECT_TRUE(loses(self->v, self->way));
	close(fd);
	EXPECT_TRUE(owns(self->v, self->way));
	fd = open_host(kernel, sched_getcpu(), false);
	EXPECT_TRUE(owns(self->v, self->way));
	ASSERT_CALL(0, call(self->v, KVM_PERF_OP_CLOSE, 0, 0));
	ASSERT_CALL(0, begin(self->v, 0, period));
	EXPECT_TRUE(owns(self->v, self->way));
	close(fd);
}

/* The filter changes behind perf's back: no stack, and the guest is told. */
TEST_F(branches, filter)
{
	const off_t select = is_intel() ? 0x1c8 : 0xc000010e;
	const uint64_t all = 0;
	int i, fd, told = 0;
	cpu_set_t first;

	if (access("/dev/cpu/0/msr", W_OK) && system("modprobe -q msr || insmod /lab/modules/msr.ko"))
		SKIP(return, "no module msr");
	fd = open("/dev/cpu/0/msr", O_WRONLY | O_CLOEXEC);
	if (fd < 0 && errno == EPERM)
		SKIP(return, "the kernel is locked down");
	ASSERT_LE(0, fd);
	CPU_ZERO(&first);
	CPU_SET(0, &first);
	ASSERT_EQ(0, sched_setaffinity(0, sizeof(first), &first));
	ASSERT_CALL(0, begin(self->v, 0, ODD_PERIOD));
	for (i = 0; i < 50; i++) {
		ASSERT_EQ(sizeof(all), pwrite(fd, &all, sizeof(all), select));
		self->e->overflows = 0;
		ASSERT_EQ(0, run(self->v, LONG));
		/* perf sets its filter again when it switches tasks */
		told += self->e->overflows && self->b->status == KVM_PERF_BRANCHES_CONTENDED && !self->b->number;
	}
	EXPECT_LT(25, told);
	close(fd);
}

/* The host profiles all of user mode beside it: its VMM's branches stay its own. */
TEST_F(branches, beside_host)
{
	struct seen seen;
	int fd = open_host(PERF_SAMPLE_BRANCH_ANY | PERF_SAMPLE_BRANCH_USER, sched_getcpu(), false);

	ASSERT_LE(0, fd);
	ASSERT_CALL(0, begin(self->v, 0, PERIOD));
	seen = look(self->v, 0, self->way, 3000, 3, false);
	EXPECT_LT(30, seen.overflows);
	EXPECT_LT(seen.overflows, seen.branches);
	EXPECT_EQ(seen.overflows, seen.exact);
	close(fd);
}

/* Samples in an event's ring, and how many of their branches are in a page. */
struct ring {
	int samples, in_page;
};

static struct ring ring_read(const uint8_t *ring, uint64_t page)
{
	const struct perf_event_mmap_page *head = (const void *)ring;
	const uint8_t *at = ring + TINY_PAGE, *end = at + head->data_head;
	struct ring seen = { 0 };

	for (; at < end; at += ((const struct perf_event_header *)at)->size) {
		const uint64_t *data = (const uint64_t *)(at + sizeof(struct perf_event_header));
		uint64_t i;

		if (((const struct perf_event_header *)at)->type != PERF_RECORD_SAMPLE)
			continue;
		seen.samples++;
		for (i = 0; i < data[0]; i++)
			seen.in_page += data[1 + 3 * i] >> 12 == page >> 12;
	}
	return seen;
}

/* What the host's driver finds of a guest's branches where the VMM has code at the same address. */
static struct ring driver_finds(struct __test_metadata *_metadata, FIXTURE_DATA(branches) *self)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_HARDWARE, .size = sizeof(attr), .config = COUNT_INSTRUCTIONS,
		.sample_period = 100003, .sample_type = PERF_SAMPLE_BRANCH_STACK, .exclude_host = 1,
		.branch_sample_type = PERF_SAMPLE_BRANCH_USER | PERF_SAMPLE_BRANCH_ANY,
	};
	int i, fd = syscall(SYS_perf_event_open, &attr, 0, -1, -1, 0);
	struct ring seen = { 0 };
	void *ring;

	EXPECT_LE(0, fd);
	ring = mmap(NULL, 33 * TINY_PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	EXPECT_NE(MAP_FAILED, ring);
	for (i = 0; i < 20; i++)
		EXPECT_EQ(0, run(self->v, LONG));
	if (ring != MAP_FAILED) {
		seen = ring_read(ring, self->way[0].from);
		munmap(ring, 33 * TINY_PAGE);
	}
	close(fd);
	return seen;
}

/*
 * The driver decodes what the VMM has at the guest's addresses, and so tells the guest by the time
 * that takes. With an event of the guest's there is nothing to decode.
 */
TEST_F(branches, driver)
{
	const uint64_t page = self->way[0].from & -TINY_PAGE;
	struct ring seen;
	void *code = mmap((void *)page, TINY_PAGE, PROT_READ | PROT_WRITE | PROT_EXEC,
			  MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);

	ASSERT_NE(MAP_FAILED, code);
	memcpy(code, tiny_ptr(&self->vm, page), TINY_PAGE);
	seen = driver_finds(_metadata, self);
	EXPECT_LT(5, seen.samples);
	/* Intel keeps none of a guest's by itself. */
	EXPECT_EQ(!is_intel(), seen.in_page > 5);
	ASSERT_CALL(0, begin(self->v, 0, 1ull << 40));
	seen = driver_finds(_metadata, self);
	EXPECT_LT(5, seen.samples);
	EXPECT_EQ(0, seen.in_page);
	munmap(code, TINY_PAGE);
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
	ASSERT_CALL(0, call(self->v, KVM_PERF_OP_CLOSE, 0, 0));
	ASSERT_TRUE(debugctl_is_0(self->v));
}

/* Two vCPUs in turn in one thread, whose event counts both: the other's stack is not for it. */
TEST_F(branches, two_vcpus)
{
	struct tiny_vcpu *other = &self->vm.vcpu[1];
	int i, others = 0, exact_ones = 0;
	struct seen seen;

	ASSERT_CALL(0, begin(self->v, 0, LONG * TINY_BRANCH_INSNS * 3 / 4));
	for (i = 0; i < 20; i++) {
		/* whose event counts: the stack is not the first vCPU's */
		self->e->overflows = 0;
		ASSERT_EQ(0, run(other, LONG));
		EXPECT_EQ(KVM_PERF_BRANCHES_OFF, self->e->overflows ? self->b->status : 0);
		others += self->e->overflows;
		self->e->overflows = 0;
		seen = look(self->v, 0, self->way, 1, LONG, false);
		EXPECT_LE(seen.overflows * 4, seen.branches);
		EXPECT_EQ(seen.overflows, seen.exact);
		exact_ones += seen.exact;
	}
	EXPECT_LT(0, others);
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
		ASSERT_CALL(0, call(self->v, KVM_PERF_OP_READ, 0, 0));
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

/* This thread goes on on any of the first four CPUs, if the machine has it. */
static void any_cpu(void)
{
	cpu_set_t one;

	CPU_ZERO(&one);
	CPU_SET(below(4), &one);
	sched_setaffinity(0, sizeof(one), &one);
}

/* One of the things that may happen between two stacks. */
static int64_t happens(struct tiny_vcpu *v, int *fd)
{
	switch (below(64)) {
	case 0:
		host_uses(fd);
		return 0;
	case 1:
		return call(v, KVM_PERF_OP_DISABLE, 0, 0) ?: call(v, KVM_PERF_OP_ENABLE, 0, 0);
	case 2:
		return call(v, KVM_PERF_OP_CLOSE, 0, 0) ?: begin(v, 0, PERIOD + below(2000));
	case 3:
		any_cpu();
		return 0;
	case 4:
		return id_call(v, KVM_PERF_OP_READ, 0);	/* by the vCPU's own thread */
	default:
		return call(v, KVM_PERF_OP_READ, 0, 0);
	}
}

/* As many as STACKS says: all of the guest's, or empty and said to be so. */
TEST_F(branches, many)
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

	ASSERT_CALL(0, begin(self->v, 0, PERIOD));
	ASSERT_NE(0, is_hooked());
	ASSERT_EQ(0, tiny_param_write("access", "unavailable"));
	EXPECT_NE(1, is_hooked());
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
	const char *path = getenv("PVPERF_HOST_KO") ?: "/lab/pvperf_host.ko";
	struct seen seen;
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		SKIP(return, "no module to load again");
	ASSERT_CALL(0, begin(self->v, 0, LONG * TINY_BRANCH_INSNS * 3 / 4));
	ASSERT_EQ(0, syscall(SYS_delete_module, "pvperf_host", 0));
	EXPECT_EQ(KVM_PERF_STATE_GONE, self->e->state);
	ASSERT_EQ(0, run(self->v, LONG));
	ASSERT_EQ(0, syscall(SYS_finit_module, fd, "branches=full", 0));
	close(fd);
	ASSERT_CALL(0, begin(self->v, 0, LONG * TINY_BRANCH_INSNS * 3 / 4));
	seen = look(self->v, 0, self->way, 50, LONG, true);
	EXPECT_LT(10, seen.overflows);
	EXPECT_LT(seen.overflows, seen.branches);
	EXPECT_EQ(seen.overflows, seen.exact);
}

TEST_HARNESS_MAIN
