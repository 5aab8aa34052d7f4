// SPDX-License-Identifier: GPL-2.0
/*
 * Events of whole CPUs. perf's room: may know struct perf_event, not KVM.
 *
 * perf asks whether the process may count what others do. That of a VM may not, and the
 * policy has allowed it all the same: so these are created with the kernel's rights.
 */
#include <linux/cpumask.h>
#include <linux/cred.h>
#include <linux/err.h>
#include <linux/init_task.h>
#include <linux/nospec.h>
#include <linux/perf_event.h>
#include "whole.h"

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

struct perf_event *pvperf_whole_create(struct perf_event_attr *attr, u32 cpu)
{
	const struct cred *before;
	struct perf_event *perf;

	if (cpu >= nr_cpu_ids)
		return ERR_PTR(-ENODEV);
	cpu = array_index_nospec(cpu, nr_cpu_ids);
	if (!cpu_online(cpu))
		return ERR_PTR(-ENODEV);
	/* It takes turns with the host's events, and never takes a counter from them. */
	attr->pinned = 0;
	before = override_creds(rights);
	perf = perf_event_create_kernel_counter(attr, cpu, NULL, NULL, NULL);
	revert_creds(before);
	return perf;
}
