// SPDX-License-Identifier: GPL-2.0
/*
 * Who waits when the host's own perf and a guest want the same counters: the admin
 * says so for new VMs and for one that runs. Knows neither KVM nor perf.
 */
#define pr_fmt(fmt) "pvperf_host: " fmt

#include <linux/kernel.h>
#include <linux/moduleparam.h>
#include <linux/string.h>
#include <linux/sysfs.h>
#include "caps.h"
#include "priority.h"
#include "vm.h"

static const char *const priorities[] = {
	[PVPERF_PRIORITY_FLEXIBLE] = "flexible",
	[PVPERF_PRIORITY_PINNED] = "pinned",
};

const char *pvperf_priority_name(u32 priority)
{
	return priorities[priority];
}

/* "pinned" is for new VMs, "1234=pinned" for the VM of process 1234. */
static int priority_set(const char *value, const struct kernel_param *kp)
{
	const char *word = strchr(value, '=');
	int pid, i = sysfs_match_string(priorities, word ? word + 1 : value);

	if (i < 0 || (word && sscanf(value, "%d=", &pid) != 1)) {
		pr_err("parameter priority wants flexible or pinned, or PID=flexible or PID=pinned\n");
		return -EINVAL;
	}
	if (word)
		return pvperf_vm_set_priority(pid, i);
	WRITE_ONCE(pvperf_policy.priority, i);
	return 0;
}

static int priority_get(char *buffer, const struct kernel_param *kp)
{
	return sysfs_emit(buffer, "%s\n", priorities[pvperf_policy.priority]);
}

static const struct kernel_param_ops priority_ops = {
	.set = priority_set,
	.get = priority_get,
};
module_param_cb(priority, &priority_ops, NULL, 0644);
MODULE_PARM_DESC(priority, "when the host's perf wants the same counters: flexible (guests wait; default), or pinned (the host's unpinned events wait as well); PID=... for one VM that runs");
