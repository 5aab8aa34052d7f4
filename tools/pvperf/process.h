/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PVPERF_PROCESS_H
#define PVPERF_PROCESS_H

#include <stddef.h>

/* How an operator knows the process of a VM. */

struct process {
	char name[64];		/* QEMU's -name, which is libvirt's domain; or "" */
	char comm[32];		/* or "" */
	char uuid[40];		/* QEMU's -uuid, or "" */
	char cgroup[256];	/* or "" */
};

/* The process has all from whoever started it: what is not printable becomes '?'. */
void process_read(const char *pid, struct process *p);

/*
 * "178 web qemu-system-x86", of at most @size. Whoever runs the VM chooses the names; in them ':' and
 * '(', which pvperf prints behind a title, become '?'.
 */
void process_title(const char *pid, const struct process *p, char *title, size_t size);

#endif /* PVPERF_PROCESS_H */
