// SPDX-License-Identifier: GPL-2.0
/*
 * Installs and removes hooks. The invariant: once pvperf_hooks_remove() has
 * returned true, and they are not stuck, no CPU runs, or will run, what a hook has
 * diverted it to, but for the few instructions behind pvperf_hook_leave(), which never sleep.
 *
 * To remove an ftrace_ops costs a grace period of RCU tasks, 0.1 s and more on a
 * busy host. So functions that are hooked and unhooked together share one.
 */
#define pr_fmt(fmt) "pvperf_host: " fmt

#include <linux/delay.h>
#include <linux/jiffies.h>
#include <linux/module.h>
#include <linux/sched.h>
#include "../compat/ftrace.h"
#include "../compat/symbol.h"
#include "hook.h"

#define HOOKS_WAIT	(10 * HZ)

int pvperf_hooks_find(struct pvperf_hooks *hooks)
{
	struct pvperf_hook *hook;
	char name[64];
	unsigned int i;

	if (hooks->stuck) {
		pr_err("ftrace is broken: guests get nothing until the host is booted again\n");
		return -ENODEV;
	}
	for (i = 0; i < hooks->n; i++) {
		hook = &hooks->hook[i];
		if (hook->ip && !hook->intel)
			continue;	/* kvm.ko and the kernel stay */
		/* Not a live patch's function of the same name. */
		snprintf(name, sizeof(name), "%s%s",
			 hook->perf ? "" : hook->intel ? "kvm_intel:" : "kvm:", hook->name);
		hook->ip = pvperf_symbol(name);
		if (!hook->ip && !hook->perf) {
			pr_err("this kernel's KVM has no function %s to hook; %s\n", hook->name,
			       hooks->without);
			return -ENOENT;
		}
	}
	return 0;
}

static int hooks_filter(struct pvperf_hooks *hooks)
{
	unsigned int i;
	int err = 0;

	for (i = 0; i < hooks->n && !err; i++) {
		if (!hooks->hook[i].ip)
			continue;
		err = ftrace_set_filter_ip(&hooks->ops, hooks->hook[i].ip, 0, 0);
		if (err)
			pr_err("ftrace can't hook %s: error %d; %s\n", hooks->hook[i].name, err,
			       hooks->without);
	}
	return err;
}

static bool any_stuck;

/*
 * ftrace does nothing any more once it has met an error of its own. What it has patched
 * still leads to this module's text, so that must stay.
 */
static void hooks_stick(struct pvperf_hooks *hooks, int err)
{
	hooks->stuck = true;
	any_stuck = true;
	__module_get(THIS_MODULE);
	pr_crit("ftrace is broken and can't unhook %s: error %d; guests get nothing, and this module stays until the host is booted again\n",
		hooks->hook[0].name, err);
}

static bool hooks_any_patched(const struct pvperf_hooks *hooks)
{
	unsigned int i;

	for (i = 0; i < hooks->n; i++)
		if (hooks->hook[i].ip && pvperf_hook_patched(&hooks->hook[i]))
			return true;
	return false;
}

static int hooks_register(struct pvperf_hooks *hooks)
{
	int err = register_ftrace_function(&hooks->ops);

	/* It forgets the ops that it can't patch in, and leaves what it has patched. */
	if (err == -ENODEV && hooks_any_patched(hooks))
		hooks_stick(hooks, err);
	else if (err)
		pr_err("can't hook %s%s: error %d%s; %s\n", hooks->hook[0].name,
		       hooks->n > 1 ? " and others" : "", err,
		       err == -EBUSY ? " (live-patched, or ftrace is off)" : "",
		       hooks->without);
	return err;
}

/* ftrace leaves pointers to what it has freed, and hooks may be installed again. */
static void hooks_forget(struct pvperf_hooks *hooks)
{
	ftrace_free_filter(&hooks->ops);
	hooks->ops = (struct ftrace_ops){ .func = hooks->ops.func };
}

int pvperf_hooks_install(struct pvperf_hooks *hooks)
{
	int err;

	/*
	 * PERMANENT: sysctl kernel.ftrace_enabled=0 must not unhook us silently.
	 * IPMODIFY: a live patch of the same function is a conflict, not a race;
	 * watch-only hooks coexist with a live patch. Not RECURSION: no callback
	 * calls a hooked function, and ftrace's guard costs more than the callback.
	 */
	hooks->ops.flags = PVPERF_FTRACE_FLAGS | FTRACE_OPS_FL_PERMANENT;
	if (hooks->inflight)
		hooks->ops.flags |= FTRACE_OPS_FL_IPMODIFY;
	err = hooks_filter(hooks);
	if (!err)
		err = hooks_register(hooks);
	hooks->live = !err;
	if (err && !hooks->stuck)
		hooks_forget(hooks);
	return err;
}

/*
 * Only called when no call can enter any more, so no CPU's part goes up, and a sum
 * of 0 is final. A call that was preempted and moved counts up on one CPU and down
 * on another.
 */
static long hooks_inflight(const struct pvperf_hooks *hooks)
{
	long sum = 0;
	int cpu;

	for_each_possible_cpu(cpu)
		sum += *per_cpu_ptr(hooks->inflight, cpu);
	return sum;
}

bool pvperf_hooks_stuck(void)
{
	return any_stuck;
}

void pvperf_hooks_keep_text(void)
{
	while (any_stuck)
		schedule_timeout_idle(HZ * 3600);
}

static void hooks_unregister(struct pvperf_hooks *hooks)
{
	int err = unregister_ftrace_function(&hooks->ops);

	hooks->live = false;
	if (err)
		hooks_stick(hooks, err);
	else
		hooks_forget(hooks);
}

bool pvperf_hooks_remove(struct pvperf_hooks *hooks, bool forever)
{
	unsigned long end;

	if (hooks->live)
		hooks_unregister(hooks);
	if (hooks->stuck || !hooks->inflight)
		return true;
	/* unregister has waited for the callbacks, so no call can enter any more. */
	for (end = jiffies + HOOKS_WAIT; hooks_inflight(hooks); fsleep(1000))
		if (!forever && time_after(jiffies, end))
			return false;
	return true;
}

bool pvperf_hook_patched(const struct pvperf_hook *hook)
{
	return *(const u8 *)hook->ip == 0xe8;	/* CALL rel32 */
}
