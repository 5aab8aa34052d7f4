// SPDX-License-Identifier: GPL-2.0
/* A VMM that moves its guest's memory, and the processes that hold it, while the guest makes calls. */
#include "fuzz.h"
#include <linux/kvm_pvperf.h>
#include <linux/userfaultfd.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define SLOT_SIZE	(SLOT_PAGES * TINY_PAGE)
#define SLOT_NR		9

static int slot_set(struct fuzz_vm *f, void *mem, uint64_t size, uint32_t flags)
{
	return tiny_slot_set(&f->vm, SLOT_NR, AT_SLOT, size, mem, flags);
}

static void *memory(void *at)
{
	return mmap(at, SLOT_SIZE, PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS | (at ? MAP_FIXED : 0), -1, 0);
}

bool fuzz_slot_add(struct fuzz_vm *f)
{
	f->slot = memory(NULL);
	f->other = memory(NULL);
	return f->slot != MAP_FAILED && f->other != MAP_FAILED && !slot_set(f, f->slot, SLOT_SIZE, 0);
}

static void slot_changes(struct fuzz_vm *f)
{
	slot_set(f, f->slot, 0, 0);
	/* The host looks 0.1 s later. */
	usleep(below(3) ? below(3000) : 120000);
	slot_set(f, below(3) ? f->slot : f->other, SLOT_SIZE,
		 ONE_OF(0, 0, KVM_MEM_LOG_DIRTY_PAGES, KVM_MEM_READONLY));
}

static void log_read(struct fuzz_vm *f)
{
	uint64_t bits[1];
	struct kvm_dirty_log log = { .slot = SLOT_NR, .dirty_bitmap = bits };

	ioctl(f->vm.fd, KVM_GET_DIRTY_LOG, &log);
}

/* Copy on write hits pages that are pinned, and those that are not. */
static void forks(void)
{
	pid_t pid = fork();

	if (!pid)
		_exit(0);
	if (pid > 0)
		waitpid(pid, NULL, 0);
}

/* Its descriptors are another process's, which may outlive this one. */
static void lingers(void)
{
	if (!fork()) {
		usleep(below(200000));
		_exit(0);
	}
}

/* Who touches the memory waits, as a guest whose memory is still on its way from another host. */
static void faults_wait(struct fuzz_vm *f)
{
	struct uffdio_register area = {
		.range = { .start = (uintptr_t)f->slot, .len = SLOT_SIZE },
		.mode = UFFDIO_REGISTER_MODE_MISSING,
	};

	if (ioctl(f->faults, UFFDIO_REGISTER, &area))
		return;
	madvise(f->slot, SLOT_SIZE, MADV_DONTNEED);
	usleep(below(20000));
	ioctl(f->faults, UFFDIO_UNREGISTER, &area.range);
}

/* What the host has in front of it: no address of memory that no call may name. */
static void rewrites(struct fuzz_vm *f)
{
	uint64_t at;
	int n;

	for (n = 0; n < 64; n++) {
		at = below(4) ? AT_POOL + below(POOL_PAGES * TINY_PAGE / 8) * 8 :
				AT_OWN(below(FUZZ_VCPUS), 0) + below(TINY_PAGE / 8) * 8;
		*(volatile uint64_t *)tiny_ptr(&f->vm, at) =
			ONE_OF(fuzz_address(), ~0ull, 1ull << 40 | below(1 << 30));
	}
}

static void act(struct fuzz_vm *f)
{
	switch (below(13)) {
	case 0:
	case 1:
		slot_changes(f);
		break;
	case 2:
		madvise(tiny_ptr(&f->vm, AT_POOL + below(POOL_PAGES) * TINY_PAGE), TINY_PAGE, MADV_DONTNEED);
		break;
	case 3:
		madvise(f->slot, SLOT_SIZE, MADV_DONTNEED);
		break;
	case 4:
		log_read(f);
		break;
	case 5:
		forks();
		break;
	case 6:
		memory(f->slot);
		break;
	case 7:
		if (!below(4))
			lingers();
		break;
	case 8:
		faults_wait(f);
		break;
	case 9 ... 10:
		fuzz_vcpus(f);
		break;
	default:
		rewrites(f);
	}
}

void fuzz_vmm(struct fuzz_vm *f)
{
	while (!f->stop) {
		act(f);
		usleep(below(2000));
	}
}
