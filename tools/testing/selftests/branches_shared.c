// SPDX-License-Identifier: GPL-2.0
/*
 * The last branches before an overflow, and who else has the CPU's stack of branches: the host, by
 * other filters; perf's driver, which decodes what it finds in it.
 */

#include "tiny_test.h"
#include "branches.h"
#include <cpuid.h>
#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/mman.h>

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
	ASSERT_CALL(0, tiny_call_here(self->v, KVM_PERF_OP_DISABLE, 0, 0));
	ASSERT_CALL(0, tiny_call_here(self->v, KVM_PERF_OP_ENABLE, 0, 0));
	seen = look(self->v, 0, self->way, 50, LONG, false);
	EXPECT_LT(10, seen.overflows);
	EXPECT_EQ(seen.overflows, seen.exact);
}

/* Does the guest's event count when it is enabled now? Then each overflow has a stack. */
static bool owns(struct tiny_vcpu *v, const struct guest_perf_branch *way)
{
	struct seen seen;

	if (tiny_call_here(v, KVM_PERF_OP_DISABLE, 0, 0) || tiny_call_here(v, KVM_PERF_OP_ENABLE, 0, 0))
		return false;
	seen = look(v, 0, way, 50, LONG, false);
	return seen.overflows > 10 && seen.overflows == seen.exact && seen.branches > seen.overflows;
}

static bool loses(struct tiny_vcpu *v, const struct guest_perf_branch *way)
{
	return !look(v, 0, way, 50, LONG, false).overflows && !tiny_call_here(v, KVM_PERF_OP_READ, 0, 0) &&
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
	ASSERT_CALL(0, tiny_call_here(self->v, KVM_PERF_OP_CLOSE, 0, 0));
	ASSERT_CALL(0, begin(self->v, 0, period));
	EXPECT_TRUE(owns(self->v, self->way));
	close(fd);
}

/* How often no stack came with @status, of 50 times in which an MSR is 0 behind perf's back. */
static int told(const FIXTURE_DATA(branches) *self, int fd, off_t msr, uint32_t status)
{
	const uint64_t none = 0;
	int i, told = 0;

	for (i = 0; i < 50; i++) {
		if (pwrite(fd, &none, sizeof(none), msr) != sizeof(none))
			return -1;
		self->e->overflows = 0;
		if (run(self->v, LONG))
			return -1;
		/* perf sets it again when it switches tasks */
		told += self->e->overflows && self->b->status == status && !self->b->number;
	}
	return told;
}

/* The filter changes, or Intel's stack stands still: no stack, and the guest is told. */
TEST_F(branches, filter)
{
	int fd;

	if (access("/dev/cpu/0/msr", W_OK) && system("modprobe -q msr || insmod /lab/modules/msr.ko"))
		SKIP(return, "no module msr");
	fd = open("/dev/cpu/0/msr", O_WRONLY | O_CLOEXEC);
	if (fd < 0 && errno == EPERM)
		SKIP(return, "the kernel is locked down");
	ASSERT_LE(0, fd);
	ASSERT_EQ(0, tiny_stay_on(0));
	ASSERT_CALL(0, begin(self->v, 0, ODD_PERIOD));
	if (is_intel())
		EXPECT_LT(25, told(self, fd, 0x1d9, KVM_PERF_BRANCHES_OFF));
	EXPECT_LT(25, told(self, fd, is_intel() ? 0x1c8 : 0xc000010e, KVM_PERF_BRANCHES_CONTENDED));
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

TEST_HARNESS_MAIN
