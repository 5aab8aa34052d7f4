/* SPDX-License-Identifier: GPL-2.0 */
#ifndef HOSTILE_H
#define HOSTILE_H

/*
 * VMs that do their worst: a process of its own, all of whose threads stay on CPU 0, goes
 * on with it until it is told to end.
 */
#include <stdbool.h>
#include <sys/types.h>

struct tiny_vcpu;

struct worst {
	int vcpus;	/* of the VM, each of which has a thread; 0: there is no VM */
	bool one_thread;	/* runs all vCPUs */
	/* Once for each vCPU; false: this host has not what that needs. */
	bool (*prepare)(struct tiny_vcpu *v);
	/* Again and again. */
	void (*act)(struct tiny_vcpu *v);
	/* The end: gives back what keeps a thread of the kernel waiting. */
	void (*let_go)(void);
};

extern const struct worst worst_nobody, worst_busy, worst_calls, worst_open_close, worst_read_many,
	worst_nmis, worst_events, worst_one_thread, worst_resets, worst_stall, worst_stalled_resets,
	worst_pages, worst_limits, worst_churn;

struct hostile {
	pid_t pid;
	int tell, hear;		/* ends of pipes */
};

/* Returns when it does its worst; false: it can't. */
bool hostile_start(struct hostile *h, const struct worst *worst);
/* Returns when the process has ended. */
void hostile_end(struct hostile *h);

#endif /* HOSTILE_H */
