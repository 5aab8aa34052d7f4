// SPDX-License-Identifier: GPL-2.0
/*
 * Which memory of a VMM may be pinned: anonymous memory, shmem and hugetlb, but no pages
 * of a file system; and a page whose slot has changed is not taken for the new memory.
 */

#include "tiny_test.h"
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/stat.h>

#define AT_PAGE	AT_EVENT(0)

FIXTURE(pinned) {
	struct tiny_vm vm;
	struct tiny_vcpu *v;
	struct tiny_totals before;
};

FIXTURE_SETUP(pinned)
{
	ASSERT_EQ(0, tiny_totals_read(&self->before));
	ASSERT_EQ(0, tiny_vm_create(&self->vm, 1));
	self->v = &self->vm.vcpu[0];
	measured_choose(self->v);
}

FIXTURE_TEARDOWN(pinned)
{
	tiny_vm_destroy(&self->vm);
	EXPECT_TRUE(tiny_totals_wait(&self->before));
}

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

static int slot_set(struct tiny_vm *vm, void *mem, uint64_t size, uint32_t flags)
{
	struct kvm_userspace_memory_region region = {
		.flags = flags, .memory_size = size, .userspace_addr = (uintptr_t)mem,
	};

	return ioctl(vm->fd, KVM_SET_USER_MEMORY_REGION, &region);
}

/* Opens a second event on a page that is pinned for the first. */
static int64_t open_beside(struct tiny_vcpu *v)
{
	struct guest_perf_attr attr = attr_measured(0);
	struct guest_perf_event_param param = {
		.attr_addr = AT_ATTR, .guest_event_addr = AT_PAGE + 64,
		.id = 1, .event_size = KVM_PERF_EVENT_SIZE,
	};

	memcpy(tiny_ptr(v->vm, AT_ATTR), &attr, sizeof(attr));
	memcpy(tiny_ptr(v->vm, AT_PARAM), &param, sizeof(param));
	return tiny_call_gpa(v, KVM_PERF_OP_OPEN, AT_PARAM, 0);
}

TEST_F(pinned, slot_stays)
{
	ASSERT_CALL(0, open_event(self->v, 0, 0));
	EXPECT_CALL(0, open_beside(self->v));
}

/* The guest would wait for counts in memory that it no longer has. */
TEST_F(pinned, slot_is_replaced)
{
	uint8_t *old = self->vm.mem, *new;

	ASSERT_CALL(0, open_event(self->v, 0, 0));
	new = mmap(NULL, TINY_MEM, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	ASSERT_NE(MAP_FAILED, new);
	memcpy(new, old, TINY_MEM);
	ASSERT_EQ(0, slot_set(&self->vm, NULL, 0, 0));
	ASSERT_EQ(0, slot_set(&self->vm, new, TINY_MEM, 0));
	self->vm.mem = new;
	self->v->cpu = (void *)(new + ((uint8_t *)self->v->cpu - old));
	EXPECT_CALL(-KVM_EFAULT, open_beside(self->v));
	/* without its last user the old page goes, and the new one can be had */
	EXPECT_CALL(0, id_call(self->v, KVM_PERF_OP_CLOSE, 0));
	EXPECT_CALL(0, open_beside(self->v));
	EXPECT_CALL(0, id_call(self->v, KVM_PERF_OP_ENABLE, 1));
	EXPECT_CALL(0, id_call(self->v, KVM_PERF_OP_READ, 1));
	EXPECT_EQ(KVM_PERF_STATE_COUNTING,
		  ((struct guest_perf_event *)tiny_ptr(&self->vm, AT_PAGE + 64))->state);
	munmap(old, TINY_MEM);
}

TEST_HARNESS_MAIN
