// SPDX-License-Identifier: GPL-2.0
/*
 * Events of whole CPUs. perf's room: may know struct perf_event, not KVM.
 *
 * perf asks whether the process may count what others do. That of a VM may not, and the
 * policy has allowed it all the same: so these are created with the kernel's rights.
 *
 * perf gives counters to a CPU's unpinned events before it gives any to a task's. So as long as
 * these fill a CPU's counters, unpinned events of tasks, other VMs' among them, get none there,
 * as beside perf stat -a of the host's root.
 */
#include <linux/atomic.h>
#include <linux/cpumask.h>
#include <linux/cred.h>
#include <linux/err.h>
#include <linux/init_task.h>
#include <linux/nospec.h>
#include <linux/percpu.h>
#include <linux/perf_event.h>
#include "whole.h"

/* Of all VMs, on one CPU. perf looks at each of them at every turn, with interrupts off. */
#define WHOLE_MAX	16

static DEFINE_PER_CPU(atomic_t, events);
static struct cred *rights;

int pvperf_whole_init(void)
{
	rights = prepare_kernel_cred(&init_task);
	return rights ? 0 : -ENOMEM;
}

void pvperf_whole_exit(void)
{
	put_cred(rights);
}

static struct perf_event *whole_create(struct perf_event_attr *attr, u32 cpu)
{
	const struct cred *before;
	struct perf_event *perf;

	/* It takes turns with the events of the host's that are about a CPU and not pinned. */
	attr->pinned = 0;
	before = override_creds(rights);
	perf = perf_event_create_kernel_counter(attr, cpu, NULL, NULL, NULL);
	revert_creds(before);
	return perf;
}

struct perf_event *pvperf_whole_create(struct perf_event_attr *attr, u32 cpu)
{
	struct perf_event *perf;

	if (cpu >= nr_cpu_ids)
		return ERR_PTR(-ENODEV);
	cpu = array_index_nospec(cpu, nr_cpu_ids);
	if (!cpu_online(cpu))
		return ERR_PTR(-ENODEV);
	if (atomic_inc_return(per_cpu_ptr(&events, cpu)) > WHOLE_MAX)
		perf = ERR_PTR(-EDQUOT);
	else
		perf = whole_create(attr, cpu);
	if (IS_ERR(perf))
		pvperf_whole_released(cpu);
	return perf;
}

void pvperf_whole_released(u32 cpu)
{
	atomic_dec(per_cpu_ptr(&events, cpu));
}
