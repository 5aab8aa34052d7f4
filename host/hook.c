// SPDX-License-Identifier: GPL-2.0
/*
 * Installing and removing hooks. The one invariant: when pvperf_hooks_remove()
 * has returned no CPU executes, and none will return to, code of this module
 * that a hook led to.
 */
#define pr_fmt(fmt) "pvperf_host: " fmt

#include <linux/delay.h>
#include <linux/rcupdate.h>
#include "../compat/symbol.h"
#include "hook.h"

DEFINE_PER_CPU(long, pvperf_hook_inflight);

int pvperf_hooks_find(struct pvperf_hook *const *hooks, unsigned int n)
{
	unsigned int i;

	for (i = 0; i < n; i++) {
		hooks[i]->ip = pvperf_symbol(hooks[i]->name);
		if (!hooks[i]->ip) {
			pr_err("this kernel's KVM has no function %s to hook; not loading\n",
			       hooks[i]->name);
			return -ENOENT;
		}
	}
	return 0;
}

static int hook_install(struct pvperf_hook *hook)
{
	int ret;

	/*
	 * PERMANENT: sysctl kernel.ftrace_enabled=0 must not unhook us silently.
	 * IPMODIFY: a live patch of the same function is a conflict, not a race.
	 */
	hook->ops.flags = FTRACE_OPS_FL_SAVE_REGS | FTRACE_OPS_FL_RECURSION |
			  FTRACE_OPS_FL_PERMANENT;
	if (hook->diverts)
		hook->ops.flags |= FTRACE_OPS_FL_IPMODIFY;
	ret = ftrace_set_filter_ip(&hook->ops, hook->ip, 0, 0);
	if (!ret)
		ret = register_ftrace_function(&hook->ops);
	if (ret) {
		pr_err("can't hook %s: error %d%s; not loading\n", hook->name, ret,
		       ret == -EBUSY ? " (live-patched, or ftrace is off)" : "");
		ftrace_free_filter(&hook->ops);
		return ret;
	}
	hook->live = true;
	return 0;
}

int pvperf_hooks_install(struct pvperf_hook *const *hooks, unsigned int n)
{
	unsigned int i;
	int ret;

	for (i = 0; i < n; i++) {
		ret = hook_install(hooks[i]);
		if (ret) {
			pvperf_hooks_remove(hooks, n);
			return ret;
		}
	}
	return 0;
}

/*
 * Only ever called when nothing enters any more, so each CPU's part only goes
 * down, and a sum of 0 is final. A call that was preempted and moved counts up
 * on one CPU and down on another.
 */
static long hooks_inflight(void)
{
	long sum = 0;
	int cpu;

	for_each_possible_cpu(cpu)
		sum += per_cpu(pvperf_hook_inflight, cpu);
	return sum;
}

void pvperf_hooks_remove(struct pvperf_hook *const *hooks, unsigned int n)
{
	while (n--) {
		if (!hooks[n]->live)
			continue;
		unregister_ftrace_function(&hooks[n]->ops);
		ftrace_free_filter(&hooks[n]->ops);
		hooks[n]->live = false;
	}
	/* No callback runs any more (unregister waited), so none can enter. */
	while (hooks_inflight())
		msleep(1);
	/* The last instructions behind pvperf_hook_leave() are done, too. */
	synchronize_rcu_tasks();
}

bool pvperf_hook_patched(const struct pvperf_hook *hook)
{
	return *(const u8 *)hook->ip == 0xe8;	/* CALL rel32 */
}
