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
static int on_reboot(struct notifier_block *nb, unsigned long action,
		     void *data)
{
	pvperf_cpu_suspend();
	pvperf_call_reset();
	return NOTIFY_DONE;
}

static struct notifier_block reboot_nb = {
	.notifier_call = on_reboot,
};

static int on_pm(struct notifier_block *nb, unsigned long action,
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
	.notifier_call = on_pm,
};

/* Any context; the other CPUs may be stopped or not. */
static int on_panic(struct notifier_block *nb, unsigned long action,
		    void *data)
{
	pvperf_call_reset();
	return NOTIFY_DONE;
}

static struct notifier_block panic_nb = {
	.notifier_call = on_panic,
};

/* A crash kernel starts before the notifiers of panic, unless told otherwise. */
static int on_crash(struct kprobe *kp, struct pt_regs *regs)
{
	pvperf_call_reset();
	return 0;
}

static struct kprobe crash_probe = {
	.symbol_name = "native_machine_crash_shutdown",
	.pre_handler = on_crash,
};

static bool crash_probed;

int pvperf_notify_init(void)
{
	int err = register_pm_notifier(&pm_nb);

	if (err)
		return err;
	register_reboot_notifier(&reboot_nb);
	atomic_notifier_chain_register(&panic_notifier_list, &panic_nb);
	/* A kernel without kexec has no such function, and no need of it. */
	crash_probed = !register_kprobe(&crash_probe);
	return 0;
}

void pvperf_notify_exit(void)
{
	if (crash_probed)
		unregister_kprobe(&crash_probe);
	atomic_notifier_chain_unregister(&panic_notifier_list,
					 &panic_nb);
	unregister_reboot_notifier(&reboot_nb);
	unregister_pm_notifier(&pm_nb);
}
