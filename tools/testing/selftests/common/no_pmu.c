// SPDX-License-Identifier: GPL-2.0
/*
 * For LD_PRELOAD: a VMM asks KVM for no PMU at all before its first vCPU, as newer QEMUs
 * do for pmu=off. Such a VM borrows nothing of a host that lends its PMU. Without libc,
 * so that it fits any.
 */

#include <asm/unistd.h>
#include <linux/kvm.h>
#include <stdarg.h>

#define IS_ERROR(ret)	((unsigned long)(ret) > -4096UL)

extern int *__errno_location(void);

static long sys_ioctl(int fd, unsigned long request, void *arg)
{
	long ret;

	asm volatile("syscall" : "=a" (ret)
		     : "a" (__NR_ioctl), "D" (fd), "S" (request), "d" (arg)
		     : "rcx", "r11", "memory");
	return ret;
}

int ioctl(int fd, unsigned long request, ...)
{
	struct kvm_enable_cap cap = {
		.cap = KVM_CAP_PMU_CAPABILITY, .args[0] = KVM_PMU_CAP_DISABLE,
	};
	va_list args;
	void *arg;
	long ret;

	va_start(args, request);
	arg = va_arg(args, void *);
	va_end(args);
	/* With a vCPU, or without a vPMU, it fails, and then there is nothing to do. */
	if (request == KVM_CREATE_VCPU)
		sys_ioctl(fd, KVM_ENABLE_CAP, &cap);
	ret = sys_ioctl(fd, request, arg);
	if (!IS_ERROR(ret))
		return ret;
	*__errno_location() = -ret;
	return -1;
}
