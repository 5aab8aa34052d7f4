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

int pvperf_hooks_find(const struct pvperf_hooks *hooks)
{
	struct pvperf_hook *hook;
	unsigned int i;

	for (i = 0; i < hooks->n; i++) {
		hook = hooks->hook[i];
		hook->ip = pvperf_symbol(hook->name);
		if (!hook->ip) {
			pr_err("this kernel's KVM has no function %s to hook; not loading\n",
			       hook->name);
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

int pvperf_hooks_install(const struct pvperf_hooks *hooks)
{
	unsigned int i;
	int ret;

	for (i = 0; i < hooks->n; i++) {
		ret = hook_install(hooks->hook[i]);
		if (ret) {
			pvperf_hooks_remove(hooks);
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
static long hooks_inflight(const struct pvperf_hooks *hooks)
{
	long sum = 0;
	int cpu;

	for_each_possible_cpu(cpu)
		sum += *per_cpu_ptr(hooks->inflight, cpu);
	return sum;
}

static void hook_remove(struct pvperf_hook *hook)
{
	if (!hook->live)
		return;
	unregister_ftrace_function(&hook->ops);
	ftrace_free_filter(&hook->ops);
	hook->live = false;
}

void pvperf_hooks_remove(const struct pvperf_hooks *hooks)
{
	unsigned int i = hooks->n;

	while (i--)
		hook_remove(hooks->hook[i]);
	/* No callback runs any more (unregister waited), so none can enter. */
	while (hooks_inflight(hooks))
		msleep(1);
	/* The last instructions behind pvperf_hook_leave() are done, too. */
	synchronize_rcu_tasks();
}

bool pvperf_hook_patched(const struct pvperf_hook *hook)
{
	return *(const u8 *)hook->ip == 0xe8;	/* CALL rel32 */
}
