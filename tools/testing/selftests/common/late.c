// SPDX-License-Identifier: GPL-2.0
#include "late.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

int late_page(struct tiny_vm *vm)
{
	struct uffdio_api api = { .api = UFFD_API };
	struct uffdio_register reg = {
		.range = { (uintptr_t)tiny_ptr(vm, AT_LATE), TINY_PAGE },
		.mode = UFFDIO_REGISTER_MODE_MISSING,
	};
	int fd = syscall(SYS_userfaultfd, O_CLOEXEC | O_NONBLOCK);

	if (fd < 0 || ioctl(fd, UFFDIO_API, &api) ||
	    madvise(tiny_ptr(vm, AT_LATE), TINY_PAGE, MADV_DONTNEED) ||
	    ioctl(fd, UFFDIO_REGISTER, &reg))
		return -errno;
	return fd;
}

bool late_wanted(int fd, int ms)
{
	struct pollfd poll_fd = { .fd = fd, .events = POLLIN };

	return poll(&poll_fd, 1, ms) == 1;
}

void late_arrive(struct tiny_vm *vm, int fd)
{
	struct uffdio_zeropage zero = {
		.range = { (uintptr_t)tiny_ptr(vm, AT_LATE), TINY_PAGE },
	};

	ioctl(fd, UFFDIO_ZEROPAGE, &zero);
}
