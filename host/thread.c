// SPDX-License-Identifier: GPL-2.0
/*
 * The table of threads. Knows neither KVM nor perf.
 */
#include <linux/hashtable.h>
#include <linux/sched/task.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include "thread.h"

static DEFINE_SPINLOCK(threads_lock);
static DEFINE_HASHTABLE(threads, 8);

static struct pvperf_thread *thread_alloc(struct task_struct *task)
{
	struct pvperf_thread *thread = kzalloc(sizeof(*thread), GFP_KERNEL_ACCOUNT);

	if (thread)
		thread->task = get_task_struct(task);
	return thread;
}

static void thread_free(struct pvperf_thread *thread)
{
	put_task_struct(thread->task);
	kfree(thread);
}

static struct pvperf_thread *thread_find(const struct task_struct *task)
{
	struct pvperf_thread *thread;

	lockdep_assert_held(&threads_lock);
	hash_for_each_possible(threads, thread, node, (unsigned long)task)
		if (thread->task == task)
			return thread;
	return NULL;
}

struct pvperf_thread *pvperf_thread_get(void)
{
	struct pvperf_thread *fresh = thread_alloc(current), *thread;

	if (!fresh)
		return NULL;
	spin_lock(&threads_lock);
	thread = thread_find(current);
	if (!thread) {
		thread = fresh;
		hash_add(threads, &thread->node, (unsigned long)current);
	}
	thread->vcpus++;
	spin_unlock(&threads_lock);
	if (thread != fresh)
		thread_free(fresh);
	return thread;
}

void pvperf_thread_put(struct pvperf_thread *thread)
{
	bool last;

	spin_lock(&threads_lock);
	last = !--thread->vcpus;
	if (last)
		hash_del(&thread->node);
	spin_unlock(&threads_lock);
	if (last)
		thread_free(thread);
}
