// SPDX-License-Identifier: GPL-2.0
/*
 * The last branches before an event's overflow. KVM's room.
 *
 * Why nothing of the host's passes: perf keeps branches that end in user mode, and those of the
 * host in user mode are older than the load of the vCPU, which clears them. The overflow's NMI has
 * made the vCPU leave the guest, so the VMM's code has not run since. And a stack that perf has
 * given another filter is not read. Each entry is looked at, too: see cut.h.
 */
#define pr_fmt(fmt) "pvperf_host: " fmt

#include <linux/err.h>
#include <linux/hashtable.h>
#include <linux/jiffies.h>
#include <linux/kvm_host.h>
#include <linux/mutex.h>
#include <linux/rculist.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/workqueue.h>
#include "../compat/ftrace.h"
#include "../compat/kvm.h"
#include "branches.h"
#include "cut.h"
#include "dirty.h"
#include "hook.h"
#include "lbr.h"
#include "pin.h"

/* vCPUs with such events, by their struct kvm_vcpu. A vCPU is freed after a grace period. */
static DEFINE_HASHTABLE(vcpus, 6);
static DEFINE_SPINLOCK(vcpus_lock);

static bool vcpus_has(const struct kvm_vcpu *kvcpu)
{
	const struct pvperf_vcpu *vcpu;
	bool has = false;

	rcu_read_lock();
	hash_for_each_possible_rcu(vcpus, vcpu, branching, (unsigned long)kvcpu)
		has |= vcpu->kvcpu == kvcpu;
	rcu_read_unlock();
	return has;
}

/* ------------------------------------------------------------------------ hook */

/*
 * A guest could open and close in turn, and patch the host's text each time, or have a failure told
 * each time. So the hook stays for this long after the last event, and is not tried again before.
 */
#define HOOK_FOR	(60 * HZ)

static struct pvperf_hook load_hook[] = { { .name = "kvm_arch_vcpu_load" } };

/* A vCPU has its CPU, which runs no code of user mode until the vCPU has left KVM_RUN. */
static void notrace see_load(unsigned long ip, unsigned long parent_ip,
			     struct ftrace_ops *ops, struct ftrace_regs *fregs)
{
	if (vcpus_has((const struct kvm_vcpu *)pvperf_ftrace_regs(fregs)->di))
		pvperf_lbr_clear();
}

static struct pvperf_hooks loads = {
	.ops = { .func = see_load },
	.hook = load_hook,
	.n = ARRAY_SIZE(load_hook),
	.without = "guests get no branches",
};

static DEFINE_MUTEX(hook_lock);		/* protects .live of loads, and the next */
static unsigned long hook_failed;	/* when; jiffies, 0: it has not */
static atomic_t users = ATOMIC_INIT(0);

static void hook_expire(struct work_struct *work)
{
	mutex_lock(&hook_lock);
	if (!atomic_read(&users))
		pvperf_hooks_remove(&loads, true);
	mutex_unlock(&hook_lock);
}

static DECLARE_DELAYED_WORK(hook_later, hook_expire);

static void hook_install(void)
{
	lockdep_assert_held(&hook_lock);
	if (loads.live || loads.stuck ||
	    (hook_failed && time_before(jiffies, hook_failed + HOOK_FOR)))
		return;
	hook_failed = pvperf_hooks_install(&loads) ? jiffies | 1 : 0;
}

static bool hook_get(void)
{
	bool live;

	atomic_inc(&users);
	mutex_lock(&hook_lock);
	hook_install();
	live = loads.live;
	mutex_unlock(&hook_lock);
	return live;
}

static void hook_put(void)
{
	if (atomic_dec_and_test(&users))
		mod_delayed_work(system_long_wq, &hook_later, HOOK_FOR);
}

bool __init pvperf_branches_init(void)
{
	return !pvperf_hooks_find(&loads);
}

void pvperf_branches_exit(void)
{
	cancel_delayed_work_sync(&hook_later);
	pvperf_hooks_remove(&loads, true);
}

/* ---------------------------------------------------------------------- memory */

static struct pvperf_branches *branches_new(struct pvperf_vm *vm, u64 addr)
{
	struct pvperf_branches *branches = kzalloc(sizeof(*branches), GFP_KERNEL_ACCOUNT);
	struct pvperf_pin *pin;

	if (!branches)
		return ERR_PTR(-KVM_ENOMEM);
	pin = pvperf_pin_get(vm, addr);
	if (IS_ERR(pin)) {
		kfree(branches);
		return ERR_CAST(pin);
	}
	branches->pin = pin;
	branches->shared = pvperf_pin_at(pin, addr);
	return branches;
}

struct pvperf_branches *pvperf_branches_get(struct pvperf_vm *vm, u64 addr)
{
	struct pvperf_branches *branches = branches_new(vm, addr);

	if (IS_ERR(branches))
		return branches;
	if (!hook_get()) {
		pvperf_branches_put(vm, branches);
		return ERR_PTR(-KVM_EBUSY);
	}
	return branches;
}

void pvperf_branches_put(struct pvperf_vm *vm, struct pvperf_branches *branches)
{
	pvperf_pin_put(vm, branches->pin);
	kfree(branches);
	hook_put();
}

/* ---------------------------------------------------------------------- events */

void pvperf_branches_begin(struct pvperf_host_event *event)
{
	struct guest_perf_branches *shared = event->branches->shared;
	struct pvperf_vcpu *vcpu = event->vcpu;

	lockdep_assert_held(&vcpu->lock);
	if (!pvperf_pin_poisoned(shared))
		memset(shared, 0, offsetof(struct guest_perf_branches, branch));
	if (vcpu->nr_branches++)
		return;
	spin_lock(&vcpus_lock);
	hash_add_rcu(vcpus, &vcpu->branching, (unsigned long)vcpu->kvcpu);
	spin_unlock(&vcpus_lock);
}

void pvperf_branches_end(struct pvperf_host_event *event)
{
	struct pvperf_vcpu *vcpu = event->vcpu;

	lockdep_assert_held(&vcpu->lock);
	if (--vcpu->nr_branches)
		return;
	spin_lock(&vcpus_lock);
	hash_del_rcu(&vcpu->branching);
	spin_unlock(&vcpus_lock);
}

void pvperf_branches_clear(void)
{
	preempt_disable();
	pvperf_lbr_clear();
	preempt_enable();
}

/* -------------------------------------------------------------------- overflow */

static u32 branches_status_nmi(const struct pvperf_host_event *event)
{
	const struct kvm_vcpu *kvcpu = event->vcpu->kvcpu;

	if (!pvperf_kvm_runs(kvcpu) || !pvperf_kvm_has_left(kvcpu))
		return KVM_PERF_BRANCHES_OFF;
	if (pvperf_kvm_is_nested(kvcpu))
		return KVM_PERF_BRANCHES_NESTED;
	return pvperf_lbr_is_of_user_nmi() ? KVM_PERF_BRANCHES_OK : KVM_PERF_BRANCHES_CONTENDED;
}

static u32 branches_copy_nmi(struct guest_perf_branches *to, bool full)
{
	const unsigned int bits = boot_cpu_data.x86_virt_bits;
	struct guest_perf_branch one;
	struct pvperf_cut_raw raw;
	enum pvperf_cut cut;
	u32 i, n = 0;

	for (i = 0; i < pvperf_lbr_depth; i++) {
		pvperf_lbr_read_nmi(i, &raw);
		cut = pvperf_cut(&raw, bits, full, &one);
		if (cut == PVPERF_CUT_END)
			break;
		if (cut == PVPERF_CUT_PASS)
			to->branch[n++] = one;
	}
	return n;
}

void pvperf_branches_write_nmi(struct pvperf_host_event *event)
{
	struct pvperf_branches *branches = event->branches;
	struct guest_perf_branches *to = branches->shared;
	u32 status = branches_status_nmi(event), n = 0;
	struct pvperf_vcpu *vcpu = event->vcpu;
	const u32 word = pvperf_policy_word(&vcpu->vm->policy, PVPERF_WORD_BRANCHES);

	if (pvperf_pin_poisoned(to))
		return;
	WRITE_ONCE(to->sequence, branches->sequence + 1);
	barrier();
	if (status == KVM_PERF_BRANCHES_OK && word != PVPERF_BRANCHES_OFF)
		n = branches_copy_nmi(to, word == PVPERF_BRANCHES_FULL);
	WRITE_ONCE(to->number, n);
	WRITE_ONCE(to->status, status);
	barrier();
	branches->sequence += 2;
	WRITE_ONCE(to->sequence, branches->sequence);
	pvperf_dirty_branches_nmi(vcpu, branches->pin);
}
