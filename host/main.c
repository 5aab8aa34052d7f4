// SPDX-License-Identifier: GPL-2.0
/*
 * pvperf_host: perf events of this host for KVM guests. Sets everything up, in
 * order, and takes it down in reverse.
 */
#define pr_fmt(fmt) "pvperf_host: " fmt

#include <linux/kvm_host.h>
#include <linux/module.h>
#include "../compat/count.h"
#include "access.h"
#include "branches.h"
#include "caps.h"
#include "claim.h"
#include "clock.h"
#include "control.h"
#include "event.h"
#include "hook.h"
#include "keep.h"
#include "overflow.h"
#include "pin.h"
#include "registry.h"
#include "rules.h"
#include "stats.h"

#define CREATE_TRACE_POINTS
#include "trace.h"

/*
 * ftrace holds no reference on the module that it patches. This reference to a
 * symbol that every kernel exports keeps kvm.ko loaded for as long as we are. It is
 * not called.
 */
static void (*const pin_kvm)(struct kvm *kvm) __used = kvm_get_kvm;

static void __init branches_init(void)
{
	int err;

	if (!pvperf_offer.branches)
		return;
	err = pvperf_event_try(true);
	if (err == -EBUSY || err == -ENOMEM)
		pr_notice("guests get no branches until this module is loaded again: perf says %d now; on Intel, does somebody use BTS or PT?\n",
			  err);
	if (err || !pvperf_branches_init())
		pvperf_offer.branches = 0;
}

static int __init pvperf_host_init(void)
{
	int err;

	err = pvperf_event_try(false);
	/* Other errors mean that there is a PMU, but it is in use. */
	pvperf_caps_init(err != -ENOENT && err != -ENODEV);
	err = pvperf_event_init();
	pvperf_event_tried();
	if (err)
		return err;
	err = pvperf_keep_init();
	if (err)
		goto err_event;
	err = pvperf_registry_init();
	if (err)
		goto err_keep;
	err = pvperf_claim_init();
	if (err)
		goto err_registry;
	pvperf_compat_count_init();
	pvperf_overflow_init();
	pvperf_pin_init();
	branches_init();
	err = pvperf_access_init();
	if (!err || pvperf_hooks_stuck()) {
		pvperf_clock_init();
		pvperf_stats_init();
		pvperf_control_init();
		return 0;
	}
	pvperf_claim_exit();
err_registry:
	pvperf_registry_exit();
	pvperf_branches_exit();	/* a guest may have come in */
err_keep:
	pvperf_keep_exit();
err_event:
	pvperf_event_exit();
	return err;
}

static void __exit pvperf_host_exit(void)
{
	pvperf_control_exit();
	pvperf_stats_exit();
	pvperf_clock_exit();
	pvperf_access_exit();
	pvperf_hooks_keep_text();
	pvperf_claim_exit();
	pvperf_registry_exit();
	pvperf_branches_exit();
	pvperf_rules_exit();
	pvperf_keep_exit();
	pvperf_event_exit();
	pvperf_hooks_keep_text();
	pr_info("unloaded\n");
}

module_init(pvperf_host_init);
module_exit(pvperf_host_exit);

MODULE_DESCRIPTION("Host perf events for KVM guests");
MODULE_LICENSE("GPL");
#ifdef PVPERF_AUTHOR
MODULE_AUTHOR(PVPERF_AUTHOR);
#endif
MODULE_VERSION("0.2~dev");
