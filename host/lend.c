// SPDX-License-Identifier: GPL-2.0
/*
 * Makes room for a mediated vPMU. An event whose PMU is lent stays open, with no
 * perf_event: its state is ERROR, and its times tell how long it did not count. Knows
 * neither KVM nor perf.
 */
#define pr_fmt(fmt) "pvperf_host: " fmt

#include <linux/kernel.h>
#include <linux/moduleparam.h>
#include <linux/sched.h>
#include "event.h"
#include "lend.h"
#include "request.h"

bool pvperf_lend_yield;
module_param_named(yield, pvperf_lend_yield, bool, 0644);
MODULE_PARM_DESC(yield, "take hardware events from guests while a VM with a mediated vPMU runs (default no: it can't start while a guest has one)");

void pvperf_lend_begin(void)
{
	u32 n;

	/* Whoever opens one meanwhile is refused, so this VM starts the first time. */
	pvperf_event_block();
	n = pvperf_vms_lend();
	if (n)
		pr_info_ratelimited("%u hardware events of guests make room for the mediated vPMU of process %d (%s)\n",
				    n, current->tgid, current->group_leader->comm);
}

void pvperf_lend_end(int err)
{
	pvperf_event_unblock();
	if (err)
		pvperf_lend_back();
}

void pvperf_lend_back(void)
{
	pvperf_vms_request(PVPERF_VM_LEND_BACK);
}
