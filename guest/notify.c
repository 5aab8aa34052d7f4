// SPDX-License-Identifier: GPL-2.0
/*
 * Tells the host before the kernel gives its memory to somebody else (reboot, kexec,
 * crash kernel, hibernation) or sleeps. Calls cpu.h and hypercall.h. The invariant:
 * the host neither writes to whatever runs in this memory afterwards, nor sends it an
 * NMI.
 */
#include <linux/kprobes.h>
#include <linux/notifier.h>
#include <linux/panic_notifier.h>
#include <linux/reboot.h>
#include <linux/suspend.h>
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
static int notify_crash(struct kprobe *kp, struct pt_regs *regs)
{
	pvperf_call_reset();
	return 0;
}

static struct kprobe crash_probe = {
	.symbol_name = "native_machine_crash_shutdown",
	.pre_handler = notify_crash,
};

static bool crash_probed;

int pvperf_notify_init(void)
{
	int err = register_pm_notifier(&pm_nb);

	if (err)
		return err;
	register_reboot_notifier(&reboot_nb);
	atomic_notifier_chain_register(&panic_notifier_list, &panic_nb);
	/* A kernel without kexec lacks the function, and needs no probe. */
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
