// SPDX-License-Identifier: GPL-2.0
/*
 * When the kernel is about to give its memory to somebody else (reboot, kexec,
 * crash kernel, hibernation) or to sleep, the host is told first. Calls cpu.h
 * and hypercall.h. The invariant: whatever runs in this memory afterwards is
 * neither written to nor sent an NMI.
 */
#include <linux/kprobes.h>
#include <linux/notifier.h>
#include <linux/panic_notifier.h>
#include <linux/reboot.h>
#include <linux/suspend.h>
#include "cpu.h"
#include "hypercall.h"
#include "notify.h"

/* kexec comes through here, too. */
static int pvperf_notify_reboot(struct notifier_block *nb, unsigned long action,
				void *data)
{
	pvperf_cpu_suspend();
	pvperf_call_reset();
	return NOTIFY_DONE;
}

static struct notifier_block pvperf_notify_reboots = {
	.notifier_call = pvperf_notify_reboot,
};

static int pvperf_notify_pm(struct notifier_block *nb, unsigned long action,
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

static struct notifier_block pvperf_notify_pms = {
	.notifier_call = pvperf_notify_pm,
};

/* Any context; the other CPUs may be stopped or not. */
static int pvperf_notify_panic(struct notifier_block *nb, unsigned long action,
			       void *data)
{
	pvperf_call_reset();
	return NOTIFY_DONE;
}

static struct notifier_block pvperf_notify_panics = {
	.notifier_call = pvperf_notify_panic,
};

/* A crash kernel starts before the notifiers of panic, unless told otherwise. */
static int pvperf_notify_crash(struct kprobe *kp, struct pt_regs *regs)
{
	pvperf_call_reset();
	return 0;
}

static struct kprobe pvperf_notify_crashes = {
	.symbol_name = "native_machine_crash_shutdown",
	.pre_handler = pvperf_notify_crash,
};

static bool pvperf_notify_crash_known;

int pvperf_notify_init(void)
{
	int err = register_pm_notifier(&pvperf_notify_pms);

	if (err)
		return err;
	register_reboot_notifier(&pvperf_notify_reboots);
	atomic_notifier_chain_register(&panic_notifier_list, &pvperf_notify_panics);
	/* A kernel without kexec has no such function, and no need of it. */
	pvperf_notify_crash_known = !register_kprobe(&pvperf_notify_crashes);
	return 0;
}

void pvperf_notify_exit(void)
{
	if (pvperf_notify_crash_known)
		unregister_kprobe(&pvperf_notify_crashes);
	atomic_notifier_chain_unregister(&panic_notifier_list,
					 &pvperf_notify_panics);
	unregister_reboot_notifier(&pvperf_notify_reboots);
	unregister_pm_notifier(&pvperf_notify_pms);
}
