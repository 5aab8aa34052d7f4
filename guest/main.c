// SPDX-License-Identifier: GPL-2.0
/*
 * The guest's module: checks whether it is of use here, and initializes its parts in
 * order. It exits in reverse order. The host has none of our memory any more when the
 * NMI handler goes.
 */
#define pr_fmt(fmt) "pvperf_guest: " fmt

#include <linux/cc_platform.h>
#include <linux/module.h>
#include <asm/cpu_device_id.h>
#include "../compat/perf.h"
#include "caps.h"
#include "check.h"
#include "clock.h"
#include "cpu.h"
#include "hosts.h"
#include "hypercall.h"
#include "nmi.h"
#include "notify.h"
#include "pmu.h"
#include "trial.h"
#include "watch.h"

/* Matches any VM. One that the module cannot serve gets one line in the log. */
static const struct x86_cpu_id hypervisors[] = {
	X86_MATCH_FEATURE(X86_FEATURE_HYPERVISOR, NULL),
	{}
};
MODULE_DEVICE_TABLE(x86cpu, hypervisors);

static const char *why_useless(void)
{
	/* The host could neither read nor write our memory. */
	if (cc_platform_has(CC_ATTR_GUEST_MEM_ENCRYPT))
		return "memory is encrypted, and host and guest must share some; run the VM without SEV or TDX";
	return pvperf_caps_discover();
}

static int __init pvperf_guest_init(void)
{
	const char *why = why_useless();
	int err;

	if (why) {
		pr_info("not loading: %s\n", why);
		return -ENODEV;
	}
	err = pvperf_compat_init();
	if (err)
		return err;
	err = pvperf_cpu_init();
	if (err)
		return err;
	err = pvperf_nmi_init();
	if (err)
		goto err_cpu;
	/* A kernel that has crashed on another vCPU may have left events with our ids. */
	pvperf_call_reset();
	err = pvperf_cpu_start();
	if (err)
		goto err_nmi;
	err = pvperf_notify_init();
	if (err)
		goto err_stop;
	err = pvperf_pmu_init();
	if (err)
		goto err_notify;
	pvperf_hosts_init();
	pvperf_clock_init();
	if (!pvperf_caps_cpu_is_ours())
		pr_notice("the host's CPU is of another model (CPUID 1: %#x) than the VM's: raw events, and those that perf list has for the VM's model, count what their codes mean at the host\n",
			  pvperf_caps.family);
	pr_info("ready: ABI %u.%u, perf counts by the host's PMU (%u general counters, %u events a CPU)\n",
		KVM_PERF_ABI_VERSION >> 16, KVM_PERF_ABI_VERSION & 0xffff,
		pvperf_caps.counters.general, pvperf_caps.events);
	return 0;

err_notify:
	pvperf_notify_exit();
err_stop:
	pvperf_watch_stop();
	pvperf_trial_exit();
	pvperf_cpu_stop();
err_nmi:
	pvperf_nmi_exit();
err_cpu:
	pvperf_cpu_exit();
	pvperf_check_end();
	return err;
}
module_init(pvperf_guest_init);

static void __exit pvperf_guest_exit(void)
{
	pvperf_clock_exit();
	pvperf_hosts_exit();
	pvperf_pmu_exit();
	pvperf_notify_exit();
	pvperf_watch_stop();
	pvperf_trial_exit();
	pvperf_cpu_stop();
	pvperf_nmi_exit();
	pvperf_cpu_exit();
	pvperf_check_end();
}
module_exit(pvperf_guest_exit);

MODULE_DESCRIPTION("Host perf events as the PMU of a KVM guest");
MODULE_LICENSE("GPL");
#ifdef PVPERF_AUTHOR
MODULE_AUTHOR(PVPERF_AUTHOR);
#endif
MODULE_VERSION("0.2~dev");
