/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _PVPERF_HOST_THREAD_H
#define _PVPERF_HOST_THREAD_H

/*
 * Threads that run vCPUs. A VMM may run many vCPUs by one thread, of several VMs, too.
 * perf handles all events of a thread at each of its context switches, so what is
 * limited for a vCPU is limited for a thread as well.
 */

#include <linux/atomic.h>
#include <linux/types.h>

struct task_struct;

/* A thread that runs vCPUs. */
struct pvperf_thread {
	struct hlist_node node;		/* in the table of threads */
	struct task_struct *task;	/* the thread, referenced */
	u32 vcpus;			/* how many vCPUs have it, under the table's lock */
	atomic_t events;		/* how many host events it has for them */
	unsigned long tick;		/* of overflows, see overflow.c; ENABLE reads it */
	u32 in_tick;			/* the same */
};

/*
 * What the current thread is known by. Returns one more reference, or NULL if there is no
 * memory.
 */
struct pvperf_thread *pvperf_thread_get(void);

/* Give a reference back; process context. @thread: the caller has released its events. */
void pvperf_thread_put(struct pvperf_thread *thread);

#endif /* _PVPERF_HOST_THREAD_H */
