// SPDX-License-Identifier: GPL-2.0
/*
 * Takes the host for one VM, and gives it back. With access=exclusive a VM may have it if no
 * other VM has an event, with access=force the events of others end for it. Knows neither KVM
 * nor perf.
 */
#define pr_fmt(fmt) "pvperf_host: " fmt

#include <linux/atomic.h>
#include <linux/completion.h>
#include <linux/jiffies.h>
#include <linux/printk.h>
#include <linux/ratelimit.h>
#include <linux/refcount.h>
#include <linux/slab.h>
#include <linux/workqueue.h>
#include "claim.h"
#include "policy.h"
#include "registry.h"
#include "rules.h"
#include "state.h"
#include "vm.h"

#define CLAIM_EVERY	HZ

/*
 * One claim, or end of one, at a time. In a kernel's thread, as a VM's may get no CPU for as long
 * as its cgroup likes, and the admin's writes wait for what is done here.
 */
static struct workqueue_struct *claim_works;

/* The vCPU that waits for a claim may be killed meanwhile. */
struct claim {
	struct work_struct work;
	struct completion done;
	refcount_t refs;
	struct pvperf_vm *vm;
	int err;
};

struct claim_census {
	u64 serial;		/* of the VM that claims, or has claimed */
	u32 own, others;	/* events */
	bool deserted;		/* its process has ended, and something else keeps the VM */
};

static void census_add(struct claim_census *census, struct pvperf_vm *vm)
{
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
	struct pvperf_vm *vm = NULL;

	while ((vm = pvperf_vm_next(vm)))
		census_add(&census, vm);
	return census;
}

static void look_work(struct work_struct *work);
static DECLARE_DELAYED_WORK(next_look, look_work);

static void look_later(void)
{
	queue_delayed_work(claim_works, &next_look, CLAIM_EVERY);
}

static int claim_set(u64 serial)
{
	pvperf_alone_set(serial);
	return pvperf_vms_apply_rules(true);
}

/*
 * If the VM has no event: takes the host away, and counts its events once more. An OPEN of that
 * moment either is refused, or its event is counted, and the VM gets the host back.
 */
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

static void look_work(struct work_struct *work)
{
	/* Nobody can make a call that closes its events. By the rules it has nothing now. */
	if (claim_census(pvperf_alone()).deserted)
		pvperf_vms_apply_rules(false);
	if (!claim_ends(pvperf_alone()))
		look_later();
}

/* Asked by the vCPU first, as a guest may claim in a loop. */
static bool claim_is_vain(const struct pvperf_vm *vm, u32 access)
{
	u64 serial = pvperf_alone();

	return (serial && serial != vm->serial) ||
	       (access == PVPERF_ACCESS_EXCLUSIVE && claim_census(vm->serial).others);
}

/* Not if the vCPU was killed; its VM may have ended, and no rule reaches it. */
static bool claim_is_awaited(const struct claim *claim)
{
	return refcount_read(&claim->refs) > 1;
}

/* An event that another VM opens in this moment ends as well. */
static int claim_take(const struct claim *claim)
{
	struct pvperf_vm *vm = claim->vm;
	u32 access = pvperf_policy_word(&vm->policy, PVPERF_WORD_ACCESS);
	/* Once a minute: each perf in that VM may take it anew. */
	static DEFINE_RATELIMIT_STATE(rs, 60 * HZ, 1);

	/* Another vCPU of the VM may have been first, or the rules be others. */
	if (access <= PVPERF_ACCESS_GLOBAL)
		return 0;
	if (pvperf_alone() || claim_is_vain(vm, access))
		return -KVM_EUSERS;
	if (claim_set(vm->serial) || !claim_is_awaited(claim)) {
		/* Not waiting again for a VM that did not follow. */
		pvperf_alone_set(0);
		pvperf_vms_apply_rules(false);
		return -KVM_EUSERS;
	}
	look_later();
	if (__ratelimit(&rs))
		pr_info("VM of process %d (%s) has the host alone (access=%s); other VMs count nothing meanwhile\n",
			vm->pid, vm->name,
			access == PVPERF_ACCESS_EXCLUSIVE ? "exclusive" : "force");
	return 0;
}

static void claim_put(struct claim *claim)
{
	if (refcount_dec_and_test(&claim->refs))
		kfree(claim);
}

static void claim_work(struct work_struct *work)
{
	struct claim *claim = container_of(work, struct claim, work);

	claim->err = claim_is_awaited(claim) ? claim_take(claim) : -KVM_EUSERS;
	pvperf_vm_put(claim->vm);
	complete(&claim->done);
	claim_put(claim);
}

int pvperf_claim(struct pvperf_vm *vm, bool *waits)
{
	struct claim *claim;
	int err;

	*waits = !claim_is_vain(vm, pvperf_policy_word(&vm->policy, PVPERF_WORD_ACCESS));
	if (!*waits)
		return -KVM_EUSERS;
	claim = kzalloc(sizeof(*claim), GFP_KERNEL_ACCOUNT);
	if (!claim)
		return -KVM_ENOMEM;
	INIT_WORK(&claim->work, claim_work);
	init_completion(&claim->done);
	refcount_set(&claim->refs, 2);
	refcount_inc(&vm->refs);
	claim->vm = vm;
	queue_work(claim_works, &claim->work);
	err = wait_for_completion_killable(&claim->done) ? -KVM_EUSERS : claim->err;
	claim_put(claim);
	return err;
}

int pvperf_claim_init(void)
{
	claim_works = alloc_ordered_workqueue("pvperf_claim", 0);
	return claim_works ? 0 : -ENOMEM;
}

void pvperf_claim_exit(void)
{
	/* A claim whose vCPU was killed may still run, and want another look. */
	flush_workqueue(claim_works);
	cancel_delayed_work_sync(&next_look);
	destroy_workqueue(claim_works);
}
