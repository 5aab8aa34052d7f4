/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PVPERF_VMS_H
#define PVPERF_VMS_H

/* The VMs that the host's module knows, each with its policy and its refusals. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "policy.h"
#include "process.h"

struct refused {
	enum pvperf_word word;
	uint64_t times;
	int64_t ago;		/* seconds since the last one; -1: the host's module does not tell */
	char event[64];		/* which that was, or "" */
};

struct vm {
	char pid[24];
	struct process process;
	unsigned int rule;	/* 0: the default */
	bool alone;		/* has the host alone, by access=exclusive or force */
	bool ended;		/* its process has: .pid may be another one's now, .process is empty */
	struct pvperf_policy policy;
	struct refused refused[PVPERF_WORDS];
	int refusals;
};

/* Reads all VMs; *vms is to be freed. Returns how many, or -1 after failure(). */
int vms_read(struct vm **vms);

/*
 * Is it the VM that an operator calls @name: its name, uuid or cgroup (or the last part)? A number is
 * its pid.
 */
bool vm_is(const struct vm *vm, const char *name);

/* The VM that has the host alone, or NULL; the others have nothing then, whatever the rules say. */
const struct vm *vms_alone(const struct vm *vms, int n);

/* The process_title(), or the pid and "(ended)". */
void vm_title(const struct vm *vm, char *title, size_t size);

#endif /* PVPERF_VMS_H */
