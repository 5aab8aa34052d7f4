// SPDX-License-Identifier: GPL-2.0
/*
 * The guest's module: whether it is of use here, and the order in which its
 * parts begin and end. The end is the beginning in reverse; the host has none
 * of our memory before the NMI handler goes.
 */
#define pr_fmt(fmt) "pvperf_guest: " fmt

#include <linux/cc_platform.h>
#include <linux/module.h>
#include <asm/cpu_device_id.h>
#include "../compat/perf.h"
#include "caps.h"
#include "cpu.h"
#include "nmi.h"
#include "notify.h"
#include "pmu.h"
#include "watch.h"

/* Any VM; what is missing there is told once. */
static const struct x86_cpu_id hypervisors[] = {
	X86_MATCH_FEATURE(X86_FEATURE_HYPERVISOR, NULL),
	{}
};
MODULE_DEVICE_TABLE(x86cpu, hypervisors);

static const char *why_useless(void)
{
	/* The host can neither see nor write our memory. */
	if (cc_platform_has(CC_ATTR_GUEST_MEM_ENCRYPT))
		return "memory is encrypted, and host and guest must share some; run the VM without SEV or TDX";
	return pvperf_caps_discover();
}

static int __init pvperf_guest_init(void)
{
	const char *why = why_useless();
	int err;

	if (why) {
		pr_info("not loaded: %s\n", why);
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
		goto no_nmi;
	err = pvperf_cpu_start();
	if (err)
		goto no_start;
	err = pvperf_notify_init();
	if (err)
		goto no_notify;
	err = pvperf_pmu_init();
	if (err)
		goto no_pmu;
	return 0;

no_pmu:
	pvperf_notify_exit();
no_notify:
	pvperf_watch_stop();
	pvperf_cpu_stop();
no_start:
	pvperf_nmi_exit();
no_nmi:
	pvperf_cpu_exit();
	return err;
}
module_init(pvperf_guest_init);

static void __exit pvperf_guest_exit(void)
{
	pvperf_pmu_exit();
	pvperf_notify_exit();
	pvperf_watch_stop();
	pvperf_cpu_stop();
	pvperf_nmi_exit();
	pvperf_cpu_exit();
}
module_exit(pvperf_guest_exit);

MODULE_DESCRIPTION("Host perf events as the PMU of a KVM guest");
MODULE_LICENSE("GPL");
MODULE_VERSION("0.1");
