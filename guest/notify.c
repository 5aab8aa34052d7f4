// SPDX-License-Identifier: GPL-2.0
/*
 * Tells the host before the kernel gives its memory to somebody else (reboot, kexec,
 * crash kernel, hibernation) or sleeps. Calls cpu.h and hypercall.h. The invariant: the host
 * neither writes to whatever runs in this memory afterwards, nor sends it an NMI; but a kexec
 * that comes back (--load-preserve-context) tells nobody.
 */
#define pr_fmt(fmt) "pvperf_guest: " fmt

#include <linux/ftrace.h>
#include <linux/jiffies.h>
#include <linux/notifier.h>
#include <linux/panic_notifier.h>
#include <linux/reboot.h>
#include <linux/sched.h>
#include <linux/suspend.h>
#include "../compat/symbol.h"
#include "cpu.h"
#include "hypercall.h"
#include "notify.h"

/* For kexec, too. */
static int notify_reboot(struct notifier_block *nb, unsigned long action,
			 void *data)
{
	pvperf_cpu_suspend();
	pvperf_call_reset();
	return NOTIFY_DONE;
}

static struct notifier_block reboot_nb = {
	.notifier_call = notify_reboot,
};

static int notify_pm(struct notifier_block *nb, unsigned long action,
		     void *data)
{
	switch (action) {
	case PM_SUSPEND_PREPARE:
	case PM_HIBERNATION_PREPARE:
	case PM_RESTORE_PREPARE:
		pvperf_cpu_suspend();
		break;
	case PM_POST_SUSPEND:
	case PM_POST_HIBERNATION:
	case PM_POST_RESTORE:
		pvperf_cpu_resume();
		break;
	}
	return NOTIFY_DONE;
}

static struct notifier_block pm_nb = {
	.notifier_call = notify_pm,
};

/* In any context. The other CPUs may be stopped, or not. */
static int notify_panic(struct notifier_block *nb, unsigned long action,
			void *data)
{
	pvperf_call_reset();
	return NOTIFY_DONE;
}

static struct notifier_block panic_nb = {
	.notifier_call = notify_panic,
};

/* By default a crash kernel starts before the panic notifiers run. */
static void notrace notify_crash(unsigned long ip, unsigned long parent_ip,
				 struct ftrace_ops *ops, struct ftrace_regs *fregs)
{
	pvperf_call_reset();
}

/* No kprobe: to remove one allocates memory, and fails without a word to the caller. */
static struct ftrace_ops crash_ops = {
	.func = notify_crash,
	.flags = FTRACE_OPS_FL_PERMANENT,	/* or sysctl kernel.ftrace_enabled=0 unhooks it */
};

static void crash_watch(void)
{
	unsigned long ip = pvperf_symbol("native_machine_crash_shutdown");

	/* A kernel without kexec lacks the function, and needs no hook. */
	if (!ip)
		return;
	if (ftrace_set_filter_ip(&crash_ops, ip, 0, 0) || register_ftrace_function(&crash_ops)) {
		ftrace_free_filter(&crash_ops);
		pr_warn("ftrace can't hook a crash: the host may send NMIs to a crash kernel; is kernel.ftrace_enabled 0?\n");
	}
}

/* Fails if ftrace has met an error of its own; then its patch leads here until the next boot. */
static void crash_unwatch(void)
{
	if (!(crash_ops.flags & FTRACE_OPS_FL_ENABLED))
		return;
	if (unregister_ftrace_function(&crash_ops)) {
		pr_crit("ftrace is broken: this module stays until the guest is booted again\n");
		for (;;)
			schedule_timeout_idle(HZ * 3600);
	}
	ftrace_free_filter(&crash_ops);
}

int pvperf_notify_init(void)
{
	int err = register_pm_notifier(&pm_nb);

	if (err)
		return err;
	register_reboot_notifier(&reboot_nb);
	atomic_notifier_chain_register(&panic_notifier_list, &panic_nb);
	crash_watch();
	return 0;
}

void pvperf_notify_exit(void)
{
	crash_unwatch();
	atomic_notifier_chain_unregister(&panic_notifier_list,
					 &panic_nb);
	unregister_reboot_notifier(&reboot_nb);
	unregister_pm_notifier(&pm_nb);
}
