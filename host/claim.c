// SPDX-License-Identifier: GPL-2.0
/*
 * Takes the host for one VM, and gives it back. With access=exclusive a VM may have it if no
 * other VM has an event, with access=force the events of others end for it. Knows neither KVM
 * nor perf.
 */
#define pr_fmt(fmt) "pvperf_host: " fmt

#include <linux/atomic.h>
#include <linux/jiffies.h>
#include <linux/mutex.h>
#include <linux/printk.h>
#include <linux/ratelimit.h>
#include <linux/workqueue.h>
#include "alone.h"
#include "claim.h"
#include "policy.h"
#include "registry.h"
#include "rules.h"
#include "state.h"
#include "vm.h"

#define CLAIM_EVERY	HZ

static DEFINE_MUTEX(claim_lock);	/* one claim, or end of one, at a time */

struct claim_census {
	u64 serial;		/* of the VM that claims, or has claimed */
	u32 own, others;	/* events */
	bool deserted;		/* its process has ended, and something else keeps the VM */
};

static void census_add(struct pvperf_vm *vm, void *arg)
{
	struct claim_census *census = arg;

	if (vm->serial == census->serial) {
		census->own += atomic_read(&vm->events);
		census->deserted = !pvperf_rules_can_ask(vm->process);
	} else {
		census->others += atomic_read(&vm->events);
	}
}

static struct claim_census claim_census(u64 serial)
{
	struct claim_census census = { .serial = serial };

	pvperf_vms_for_each(census_add, &census);
	return census;
}

static void claim_work(struct work_struct *work);
static DECLARE_DELAYED_WORK(next_look, claim_work);

static int claim_set(u64 serial)
{
	pvperf_alone_set(serial);
	return pvperf_vms_judge(true);
}

/* An OPEN that is under way sees that the VM has the host no more, or we see its event. */
static bool claim_ends(u64 serial)
{
	if (serial && claim_census(serial).own)
		return false;
	claim_set(0);
	if (!serial || !claim_census(serial).own)
		return true;
	claim_set(serial);
	return false;
}

static void claim_work(struct work_struct *work)
{
	mutex_lock(&claim_lock);
	/* Nobody can make a call that closes its events. By the rules it has nothing now. */
	if (claim_census(pvperf_alone()).deserted)
		pvperf_vms_judge(false);
	if (!claim_ends(pvperf_alone()))
		schedule_delayed_work(&next_look, CLAIM_EVERY);
	mutex_unlock(&claim_lock);
}

/* An event that another VM opens in this moment ends as well. */
static int claim_take(struct pvperf_vm *vm, u32 access)
{
	/* Once a minute: each perf in that VM may take it anew. */
	static DEFINE_RATELIMIT_STATE(rs, 60 * HZ, 1);

	if (pvperf_alone())
		return -KVM_EUSERS;
	if (access == PVPERF_ACCESS_EXCLUSIVE && claim_census(vm->serial).others)
		return -KVM_EUSERS;
	if (claim_set(vm->serial)) {
		/* Not waiting again for the VM that did not follow. */
		pvperf_alone_set(0);
		pvperf_vms_judge(false);
		return -KVM_EUSERS;
	}
	schedule_delayed_work(&next_look, CLAIM_EVERY);
	if (__ratelimit(&rs))
		pr_info("VM of process %d (%s) has the host alone (access=%s); other VMs count nothing meanwhile\n",
			vm->pid, vm->name,
			access == PVPERF_ACCESS_EXCLUSIVE ? "exclusive" : "force");
	return 0;
}

int pvperf_claim(struct pvperf_vm *vm)
{
	u32 access;
	int err = 0;

	if (mutex_lock_killable(&claim_lock))
		return -KVM_EUSERS;
	/* Another vCPU of the VM may have been first, or the rules be others. */
	access = pvperf_policy_word(&vm->policy, PVPERF_WORD_ACCESS);
	if (access > PVPERF_ACCESS_GLOBAL)
		err = claim_take(vm, access);
	mutex_unlock(&claim_lock);
	return err;
}

void pvperf_claim_exit(void)
{
	cancel_delayed_work_sync(&next_look);
}
