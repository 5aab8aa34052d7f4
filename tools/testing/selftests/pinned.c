// SPDX-License-Identifier: GPL-2.0
/*
 * Which memory of a VMM may be pinned: anonymous memory, shmem and hugetlb, but no pages
 * of a file system; and a page whose slot has changed is not taken for the new memory. How much
 * memory the pins may hold. What becomes of a page that the hardware reports as broken.
 */

#include "tiny_test.h"
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#define AT_PAGE	AT_EVENT(0)

/* A slot of its own, of transparent huge pages, that the guest's code never touches. */
#define AT_HUGE		0x40000000ull
#define HUGE		0x200000ull
#define HUGE_N		6
#define HUGE_PAGES	(HUGE / TINY_PAGE)

FIXTURE(pinned) {
	struct tiny_vm vm;
	struct tiny_vcpu *v;
	struct tiny_totals before;
};

FIXTURE_SETUP(pinned)
{
	VM_BEGIN(1);
}

VM_END(pinned)

/* The guest's page AT_PAGE becomes the file's first. */
static bool back_by(struct tiny_vm *vm, int fd)
{
	void *at = tiny_ptr(vm, AT_PAGE);

	if (fd < 0 || ftruncate(fd, TINY_PAGE))
		return false;
	return mmap(at, TINY_PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd, 0) == at;
}

static int file_of(const char *type, const char *dir)
{
	char path[64];

	mkdir(dir, 0700);
	if (mount(type, dir, type, 0, NULL))
		return -errno;
	snprintf(path, sizeof(path), "%s/memory", dir);
	return open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
}

TEST_F(pinned, file)
{
	int fd = file_of("ramfs", "/run/pinned-ramfs");

	ASSERT_TRUE(back_by(&self->vm, fd));
	EXPECT_CALL(-KVM_EFAULT, open_event(self->v, 0, 0));
	EXPECT_CALL(-KVM_EFAULT, tiny_call_gpa(self->v, KVM_PERF_OP_ATTACH, AT_PAGE, 0));
	close(fd);
	EXPECT_EQ(0, umount2("/run/pinned-ramfs", MNT_DETACH));
}

TEST_F(pinned, tmpfs)
{
	int fd = file_of("tmpfs", "/run/pinned-tmpfs");

	ASSERT_TRUE(back_by(&self->vm, fd));
	EXPECT_CALL(0, open_event(self->v, 0, 0));
	EXPECT_CALL(0, id_call(self->v, KVM_PERF_OP_ENABLE, 0));
	EXPECT_TRUE(still_counts(self->v, 0, 100000));
	close(fd);
	EXPECT_EQ(0, umount2("/run/pinned-tmpfs", MNT_DETACH));
}

TEST_F(pinned, memfd)
{
	int fd = memfd_create("pinned", MFD_CLOEXEC);

	ASSERT_TRUE(back_by(&self->vm, fd));
	EXPECT_CALL(0, open_event(self->v, 0, 0));
	close(fd);
}

/* Opens event @id with its memory at @gpa. */
static int64_t open_at(struct tiny_vcpu *v, int id, uint64_t gpa)
{
	struct guest_perf_attr attr = attr_measured(0);

	open_put(v->vm, id, gpa, &attr);
	return tiny_call_gpa(v, KVM_PERF_OP_OPEN, AT_PARAM, 0);
}

/* Opens a second event on a page that is pinned for the first. */
static int64_t open_beside(struct tiny_vcpu *v)
{
	return open_at(v, 1, AT_PAGE + 64);
}

TEST_F(pinned, slot_stays)
{
	ASSERT_CALL(0, open_event(self->v, 0, 0));
	EXPECT_CALL(0, open_beside(self->v));
}

/* The host stops writing to memory that the guest has no access to any more. */
TEST_F(pinned, slot_is_removed)
{
	struct tiny_totals want = self->before;

	ASSERT_CALL(0, open_event(self->v, 0, 0));
	ASSERT_EQ(0, tiny_slot_set(&self->vm, 0, 0, 0, NULL, 0));
	want.vms++;
	want.vcpus++;
	EXPECT_TRUE(tiny_totals_wait(&want));
}

/* So it does if other slots change all the time. */
TEST_F(pinned, slot_is_removed_meanwhile)
{
	struct tiny_totals now;
	int tries = 150;

	ASSERT_CALL(0, open_event(self->v, 0, 0));
	ASSERT_EQ(0, tiny_slot_set(&self->vm, 0, 0, 0, NULL, 0));
	do {
		EXPECT_EQ(0, tiny_slot_set(&self->vm, 9, AT_HUGE, tries % 2 ? 0 : TINY_PAGE, self->vm.mem, 0));
		usleep(20000);
		EXPECT_EQ(0, tiny_totals_read(&now));
	} while (now.events != self->before.events && --tries);
	EXPECT_LT(0, tries);
}

/* A vCPU whose page goes has no events any more, wherever theirs lie: overflows write to both. */
TEST_F(pinned, page_is_removed)
{
	struct tiny_totals want = self->before;
	void *page = mmap(NULL, TINY_PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	ASSERT_NE(MAP_FAILED, page);
	ASSERT_EQ(0, tiny_slot_set(&self->vm, 9, AT_HUGE, TINY_PAGE, page, 0));
	ASSERT_CALL(0, tiny_call_gpa(self->v, KVM_PERF_OP_ATTACH, AT_HUGE, 0));
	ASSERT_CALL(0, open_event(self->v, 0, 100000));
	ASSERT_CALL(0, id_call(self->v, KVM_PERF_OP_ENABLE, 0));
	ASSERT_EQ(0, tiny_slot_set(&self->vm, 9, AT_HUGE, 0, page, 0));
	want.vms++;
	want.vcpus++;
	EXPECT_TRUE(tiny_totals_wait(&want));
	EXPECT_EQ(KVM_PERF_STATE_GONE, event_at(&self->vm, 0)->state);
	munmap(page, TINY_PAGE);
}

/*
 * Userspace makes another slot of the same memory, as QEMU does: nothing ends, not even if the VM's
 * work has to do something else in between.
 */
TEST_F(pinned, slot_comes_back)
{
	ASSERT_CALL(0, open_event(self->v, 0, 0));
	ASSERT_EQ(0, tiny_slot_set(&self->vm, 0, 0, 0, NULL, 0));
	EXPECT_EQ(0, tiny_param_write("priority", "pinned"));
	EXPECT_EQ(0, tiny_slot_set(&self->vm, 0, 0, TINY_MEM, self->vm.mem, 0));
	EXPECT_EQ(0, tiny_param_write("priority", "flexible"));
	usleep(500000);
	EXPECT_CALL(0, id_call(self->v, KVM_PERF_OP_ENABLE, 0));
	EXPECT_TRUE(still_counts(self->v, 0, 100000));
}

/* The guest would wait for counts in memory that it no longer has. */
TEST_F(pinned, slot_is_replaced)
{
	struct tiny_totals want = self->before;
	uint8_t *old = self->vm.mem, *new;

	ASSERT_CALL(0, open_event(self->v, 0, 0));
	new = mmap(NULL, TINY_MEM, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	ASSERT_NE(MAP_FAILED, new);
	memcpy(new, old, TINY_MEM);
	ASSERT_EQ(0, tiny_slot_set(&self->vm, 0, 0, 0, NULL, 0));
	ASSERT_EQ(0, tiny_slot_set(&self->vm, 0, 0, TINY_MEM, new, 0));
	self->vm.mem = new;
	self->v->cpu = (void *)(new + ((uint8_t *)self->v->cpu - old));
	EXPECT_CALL(-KVM_EFAULT, open_beside(self->v));
	/* the old page goes with its event, and the new one can be had */
	want.vms++;
	want.vcpus++;
	EXPECT_TRUE(tiny_totals_wait(&want));
	EXPECT_CALL(0, open_beside(self->v));
	EXPECT_CALL(0, id_call(self->v, KVM_PERF_OP_ENABLE, 1));
	EXPECT_CALL(0, id_call(self->v, KVM_PERF_OP_READ, 1));
	EXPECT_EQ(KVM_PERF_STATE_COUNTING,
		  ((struct guest_perf_event *)tiny_ptr(&self->vm, AT_PAGE + 64))->state);
	munmap(old, TINY_MEM);
}

/* HUGE_N huge pages at AT_HUGE; false if the host has none to give. */
static bool huge_add(struct tiny_vm *vm)
{
	uint8_t *at = mmap(NULL, (HUGE_N + 1) * HUGE, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	at = (uint8_t *)(((uintptr_t)at + HUGE - 1) & ~(HUGE - 1));
	if (madvise(at, HUGE_N * HUGE, MADV_HUGEPAGE))
		return false;
	memset(at, 0, HUGE_N * HUGE);
	return !tiny_slot_set(vm, 9, AT_HUGE, HUGE_N * HUGE, at, 0);
}

/* The number after @key in the line of this process's VM in debugfs; -1: none. */
static long shown(const char *key)
{
	FILE *f = fopen("/sys/kernel/debug/pvperf/vms", "re");
	char line[512], vm[32], *at;
	long value = -1;

	snprintf(vm, sizeof(vm), "vm pid=%d ", getpid());
	while (f && fgets(line, sizeof(line), f)) {
		at = strncmp(line, vm, strlen(vm)) ? NULL : strstr(line, key);
		if (at)
			value = atol(at + strlen(key));
	}
	if (f)
		fclose(f);
	return value;
}

/* A pin holds a whole huge page, whose other pages are then free to pin. */
TEST_F(pinned, huge)
{
	long max, most;
	char value[16];
	int n;

	ASSERT_EQ(0, tiny_param_read("max_pages", value, sizeof(value)));
	max = atol(value);
	most = max / HUGE_PAGES;
	if (most < 1 || most >= HUGE_N)
		SKIP(return, "max_pages is %ld", max);
	if (access("/sys/kernel/mm/transparent_hugepage", F_OK))
		SKIP(return, "no transparent huge pages");
	ASSERT_TRUE(huge_add(&self->vm));
	ASSERT_CALL(0, open_at(self->v, 0, AT_HUGE));
	if (shown(" held=") == 1)
		SKIP(return, "no transparent huge pages");
	EXPECT_EQ(HUGE_PAGES, shown(" held="));
	EXPECT_CALL(0, open_at(self->v, 20, AT_HUGE + 3 * TINY_PAGE));
	EXPECT_EQ(HUGE_PAGES, shown(" held="));
	EXPECT_EQ(2, shown(" pages="));
	for (n = 1; n < most; n++)
		EXPECT_CALL(0, open_at(self->v, n, AT_HUGE + n * HUGE));
	EXPECT_EQ(most * HUGE_PAGES, shown(" held="));
	EXPECT_CALL(-KVM_ENOSPC, open_at(self->v, n, AT_HUGE + n * HUGE));
	EXPECT_CALL(-KVM_ENOSPC, tiny_call_gpa(self->v, KVM_PERF_OP_ATTACH,
					       AT_HUGE + n * HUGE, 0));
	/* the last pin in a huge page lets it go */
	EXPECT_CALL(0, id_call(self->v, KVM_PERF_OP_CLOSE, 0));
	EXPECT_EQ(most * HUGE_PAGES, shown(" held="));
	EXPECT_CALL(0, id_call(self->v, KVM_PERF_OP_CLOSE, 20));
	EXPECT_EQ((most - 1) * HUGE_PAGES, shown(" held="));
	EXPECT_CALL(0, open_at(self->v, n, AT_HUGE + n * HUGE));
}

/* The caller may no longer exceed its limit of locked memory, which is @bytes now. */
static bool memlock(uint64_t bytes)
{
	const struct rlimit limit = { bytes, bytes };
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[2];

	if (setrlimit(RLIMIT_MEMLOCK, &limit) || syscall(SYS_capget, &header, data))
		return false;
	data[CAP_TO_INDEX(CAP_IPC_LOCK)].effective &= ~CAP_TO_MASK(CAP_IPC_LOCK);
	return !syscall(SYS_capset, &header, data);
}

/* Opens event @id as open_at() does, but in the caller's thread. */
static int64_t open_here(struct tiny_vcpu *v, int id, uint64_t gpa)
{
	struct guest_perf_attr attr = attr_measured(0);

	open_put(v->vm, id, gpa, &attr);
	return tiny_call_here(v, KVM_PERF_OP_OPEN, AT_PARAM, 0);
}

/* What the pins hold counts as the process's locked memory. */
TEST_F(pinned, memlock)
{
	ASSERT_TRUE(memlock(3 * TINY_PAGE));
	EXPECT_CALL(0, open_here(self->v, 0, AT_EVENT(0)));
	EXPECT_CALL(0, open_here(self->v, 1, AT_EVENT(1)));
	EXPECT_CALL(0, open_here(self->v, 2, AT_EVENT(2)));
	EXPECT_CALL(-KVM_ENOSPC, open_here(self->v, 3, AT_EVENT(3)));
	EXPECT_EQ(3, shown(" held="));
	EXPECT_CALL(0, open_here(self->v, 3, AT_EVENT(2) + 64));
	EXPECT_CALL(0, id_call(self->v, KVM_PERF_OP_CLOSE, 0));
	EXPECT_CALL(0, open_here(self->v, 4, AT_EVENT(4)));
}

/* The VMM changes slots all the time. A write of the rules does not wait for what has time. */
TEST_F(pinned, rules_meanwhile)
{
	int64_t from;

	ASSERT_CALL(0, open_event(self->v, 0, 0));
	ASSERT_EQ(0, tiny_slot_set(&self->vm, 0, 0, 0, NULL, 0));
	ASSERT_EQ(0, tiny_slot_set(&self->vm, 0, 0, TINY_MEM, self->vm.mem, 0));
	from = now_ns();
	EXPECT_EQ(0, tiny_rules_write("# none\n"));
	EXPECT_GT(50000000, now_ns() - from);
}

/* Is the state of event @id shown as @state? */
static bool state_shown(int id, const char *state)
{
	FILE *f = fopen("/sys/kernel/debug/pvperf/vms", "re");
	char line[512], event[32], what[32];
	bool found = false;

	snprintf(event, sizeof(event), "event id=%d ", id);
	snprintf(what, sizeof(what), "state=%s ", state);
	while (f && fgets(line, sizeof(line), f))
		found |= strstr(line, event) && strstr(line, what);
	if (f)
		fclose(f);
	return found;
}

static void nothing(int unused)
{
}

/*
 * The kernel says so by a signal, and takes the page from this process. What the host
 * would write to it is lost, and nobody takes the page again.
 */
TEST_F(pinned, poisoned)
{
	ASSERT_CALL(0, open_event(self->v, 0, 0));
	ASSERT_CALL(0, open_event(self->v, 1, 0));
	ASSERT_CALL(0, id_call(self->v, KVM_PERF_OP_ENABLE, 0));
	ASSERT_CALL(0, id_call(self->v, KVM_PERF_OP_ENABLE, 1));
	signal(SIGBUS, nothing);
	if (madvise(tiny_ptr(&self->vm, AT_EVENT(0)), TINY_PAGE, MADV_HWPOISON) &&
	    errno == EINVAL)
		SKIP(return, "this kernel cannot poison memory");
	EXPECT_TRUE(state_shown(0, "poisoned"));
	EXPECT_FALSE(state_shown(1, "poisoned"));
	EXPECT_CALL(0, id_call(self->v, KVM_PERF_OP_READ, 0));
	EXPECT_TRUE(still_counts(self->v, 1, 100000));
	EXPECT_CALL(-KVM_EFAULT, open_at(self->v, 2, AT_EVENT(0) + 64));
	EXPECT_CALL(0, id_call(self->v, KVM_PERF_OP_CLOSE, 0));
	EXPECT_CALL(-KVM_EFAULT, open_at(self->v, 2, AT_EVENT(0) + 64));
}

TEST_HARNESS_MAIN
