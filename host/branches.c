// SPDX-License-Identifier: GPL-2.0
/*
 * The last branches before an event's overflow. KVM's room.
 *
 * How the host's branches are kept out: perf keeps branches that end in user mode, and those of the
 * host in user mode are older than the load of the vCPU, which clears them. The overflow's NMI came
 * before the vCPU's thread could leave KVM, so the VMM's code has not run since. And a stack that
 * perf has given another filter is not read. Each entry is looked at, too: see cut.h.
 *
 * Intel's CPUs stop at each VM entry. There two more functions of KVM are hooked, its last before
 * the entry and its first behind the exit, both with IRQs off.
 */
#define pr_fmt(fmt) "pvperf_host: " fmt

#include <linux/err.h>
#include <linux/hashtable.h>
#include <linux/jiffies.h>
#include <linux/kvm_host.h>
#include <linux/module.h>
#include <linux/notifier.h>
#include <linux/percpu.h>
#include <linux/rculist.h>
#include <linux/slab.h>
#include <linux/smp.h>
#include <linux/spinlock.h>
#include <linux/string.h>
#include <linux/wait.h>
#include <linux/workqueue.h>
#include <asm/nmi.h>
#include "../compat/ftrace.h"
#include "../compat/kvm.h"
#include "branches.h"
#include "cut.h"
#include "dirty.h"
#include "hook.h"
#include "lbr.h"
#include "pin.h"

/*
 * vCPUs with such events, by their struct kvm_vcpu, and their VMs, by the memory of the process.
 * Both are freed after a grace period.
 */
static DEFINE_HASHTABLE(vcpus, 10);
static DEFINE_HASHTABLE(vms, 10);
static DEFINE_SPINLOCK(vcpus_lock);

/* Not one that has ended, and waits for perf: its struct kvm_vcpu may be another VM's by now. */
static bool vcpus_has(const struct kvm_vcpu *kvcpu)
{
	const struct pvperf_vcpu *vcpu;
	bool has = false;

	rcu_read_lock();
	hash_for_each_possible_rcu(vcpus, vcpu, branching, (unsigned long)kvcpu) {
		has = vcpu->kvcpu == kvcpu && !READ_ONCE(vcpu->dead);
		if (has)
			break;
	}
	rcu_read_unlock();
	return has;
}

/* Does a vCPU of the current process have such events? */
static bool process_has_nmi(void)
{
	const struct pvperf_vm *vm;
	bool has = false;

	if (!current->mm)
		return false;
	rcu_read_lock();
	hash_for_each_possible_rcu(vms, vm, branching, (unsigned long)current->mm) {
		has = vm->mm == current->mm;
		if (has)
			break;
	}
	rcu_read_unlock();
	return has;
}

/* ------------------------------------------------------------------------- NMI */

/* What this CPU's stack had in the present NMI. */
struct taken {
	const struct kvm_vcpu *from;	/* NULL: nothing */
	u32 status;			/* KVM_PERF_BRANCHES_* */
	struct pvperf_cut_raw raw[KVM_PERF_BRANCHES_MAX];	/* if that is OK */
};

static DEFINE_PER_CPU(struct taken, taken);

/*
 * Since the stack was cleared, has a vCPU with such events been entered without its branches being
 * kept? A guest that keeps its own by KVM's vPMU may have switched the stack off; what stands there
 * may be another task's.
 */
static DEFINE_PER_CPU(bool, gap);

static void stack_clear(void)
{
	pvperf_lbr_clear();
	__this_cpu_write(gap, false);
}

static u32 taken_status_nmi(const struct kvm_vcpu *kvcpu)
{
	if (!pvperf_kvm_has_left(kvcpu))
		return KVM_PERF_BRANCHES_OFF;
	if (pvperf_kvm_is_nested(kvcpu))
		return KVM_PERF_BRANCHES_NESTED;
	if (!pvperf_lbr_is_of_user_nmi())
		return KVM_PERF_BRANCHES_CONTENDED;
	return __this_cpu_read(gap) ? KVM_PERF_BRANCHES_OFF : KVM_PERF_BRANCHES_OK;
}

static void take_nmi(struct taken *to, const struct kvm_vcpu *kvcpu)
{
	to->status = taken_status_nmi(kvcpu);
	if (to->status == KVM_PERF_BRANCHES_OK)
		pvperf_lbr_read_nmi(to->raw);
	to->from = kvcpu;
}

/*
 * Before perf's driver, which would decode what stands in the VMM's memory at the guest's
 * addresses: how long that takes would tell the guest what the VMM has there. It finds nothing,
 * also where the thread has left KVM_RUN by now, or runs another vCPU.
 */
static int see_nmi(unsigned int type, struct pt_regs *regs)
{
	const struct kvm_vcpu *kvcpu = pvperf_kvm_running();
	struct taken *to = this_cpu_ptr(&taken);

	to->from = NULL;
	if (!process_has_nmi())
		return NMI_DONE;
	if (kvcpu && vcpus_has(kvcpu))
		take_nmi(to, kvcpu);
	stack_clear();
	return NMI_DONE;
}

/* ------------------------------------------------------------------------ hook */

/*
 * A guest could open and close in turn, and patch the host's text each time, or have a failure told
 * each time. So the hook stays for this long after the last event, and is not tried again before.
 */
#define HOOK_FOR	(60 * HZ)

/* As long as an OPEN waits for the hook; then the guest asks again. */
#define HOOK_WAIT	(HZ / 10)

enum { LOAD, ENTRY, EXIT };

/* ENTRY and EXIT are hooked with pvperf_lbr_stops. */
static struct pvperf_hook vcpu_hook[] = {
	[LOAD] = { .name = "kvm_arch_vcpu_load" },
	[ENTRY] = { .name = "kvm_wait_lapic_expire" },
	[EXIT] = { .name = "vmx_handle_exit_irqoff", .intel = true },
};

/*
 * A vCPU has its CPU, which runs no code of user mode until the vCPU has left KVM_RUN or is loaded
 * anew.
 */
static void notrace see_load(unsigned long ip, unsigned long parent_ip,
			     struct ftrace_ops *ops, struct ftrace_regs *fregs)
{
	if (vcpus_has((const struct kvm_vcpu *)pvperf_ftrace_regs(fregs)->di))
		stack_clear();
}

/* With pvperf_lbr_stops. */
static void notrace see_each(unsigned long ip, unsigned long parent_ip,
			     struct ftrace_ops *ops, struct ftrace_regs *fregs)
{
	const struct kvm_vcpu *kvcpu = (const void *)pvperf_ftrace_regs(fregs)->di;

	if (ip == vcpu_hook[LOAD].ip)
		see_load(ip, parent_ip, ops, fregs);
	else if (ip == vcpu_hook[EXIT].ip)
		pvperf_lbr_take_back();
	else if (vcpus_has(kvcpu) && !pvperf_kvm_is_nested(kvcpu) && !pvperf_lbr_lend())
		__this_cpu_write(gap, true);
}

static struct pvperf_hooks vcpu_hooks = {
	.ops = { .func = see_load },
	.hook = vcpu_hook,
	.n = 1,
	.without = "guests get no branches",
};

static DEFINE_SPINLOCK(hook_lock);	/* protects the next four */
static unsigned int users;
static unsigned int hook_ends;		/* how many want it gone, used or not */
static bool hook_live;			/* and stays so while there is a user */
static unsigned long hook_failed;	/* when; jiffies, 0: it has not */

static DECLARE_WAIT_QUEUE_HEAD(hook_wait);

static void left_guest(void *unused)
{
}

static void hook_remove(void)
{
	/* No vCPU has such events, so none is lent the stack; one may still be in its guest. */
	if (pvperf_lbr_stops)
		on_each_cpu(left_guest, NULL, true);
	pvperf_hooks_remove(&vcpu_hooks, true);
	unregister_nmi_handler(NMI_LOCAL, "pvperf_branches");
}

static bool hooks_patched(void)
{
	unsigned int i;

	for (i = 0; i < vcpu_hooks.n; i++)
		if (!pvperf_hook_patched(&vcpu_hook[i]))
			return false;
	return true;
}

static bool hook_install(void)
{
	if (vcpu_hooks.stuck || pvperf_hooks_find(&vcpu_hooks) ||
	    register_nmi_handler(NMI_LOCAL, see_nmi, NMI_FLAG_FIRST, "pvperf_branches"))
		return false;
	if (!pvperf_hooks_install(&vcpu_hooks) && hooks_patched())
		return true;
	hook_remove();
	pr_err("guests get no branches: no hook on %s\n", vcpu_hook[LOAD].name);
	return false;
}

static bool hook_has_failed(void)
{
	unsigned long failed = READ_ONCE(hook_failed);

	return failed && time_before(jiffies, failed + HOOK_FOR);
}

/* Installs and removes, in no call: who holds ftrace's lock may wait for seconds. */
static void hook_work(struct work_struct *work)
{
	bool wanted, was, live;

	spin_lock(&hook_lock);
	was = hook_live;
	wanted = users && !hook_ends;
	hook_live = was && wanted;
	spin_unlock(&hook_lock);
	if (wanted == was || (wanted && hook_has_failed()))
		return;
	if (was)
		hook_remove();
	live = !was && hook_install();
	spin_lock(&hook_lock);
	hook_live = live;
	hook_failed = was || live ? 0 : jiffies | 1;
	spin_unlock(&hook_lock);
	wake_up_all(&hook_wait);
}

static DECLARE_DELAYED_WORK(hook_later, hook_work);

/* 0; -KVM_ENOENT: it can't be installed; -KVM_EBUSY: that takes long. */
static int hook_get(void)
{
	bool live;

	spin_lock(&hook_lock);
	users++;
	live = hook_live;
	if (!live && !hook_has_failed())
		mod_delayed_work(system_long_wq, &hook_later, 0);
	spin_unlock(&hook_lock);
	if (live)
		return 0;
	if (!wait_event_timeout(hook_wait, READ_ONCE(hook_live) || hook_has_failed(), HOOK_WAIT))
		return -KVM_EBUSY;
	return READ_ONCE(hook_live) ? 0 : -KVM_ENOENT;
}

static void hook_put(void)
{
	spin_lock(&hook_lock);
	/* Who wants it gone waits for the work that is queued. */
	if (!--users && !hook_ends)
		mod_delayed_work(system_long_wq, &hook_later, HOOK_FOR);
	spin_unlock(&hook_lock);
}

void pvperf_branches_unhook(void)
{
	spin_lock(&hook_lock);
	hook_ends++;
	spin_unlock(&hook_lock);
	mod_delayed_work(system_long_wq, &hook_later, 0);
	flush_delayed_work(&hook_later);
	spin_lock(&hook_lock);
	hook_ends--;
	spin_unlock(&hook_lock);
}

/*
 * ftrace forgets what it has patched in a module that goes, and the next one of that name would not
 * be patched. Its VMs have ended; an event of one may be left, whose end waits for perf.
 */
static int module_goes(struct notifier_block *nb, unsigned long state, void *data)
{
	const struct module *mod = data;

	if (state == MODULE_STATE_GOING && !strcmp(mod->name, "kvm_intel"))
		pvperf_branches_unhook();
	return NOTIFY_OK;
}

static struct notifier_block modules = { .notifier_call = module_goes };

/* KVM's module for Intel may come later: it is there when a VM is. */
bool __init pvperf_branches_init(void)
{
	if (!pvperf_lbr_stops)
		return !pvperf_hooks_find(&vcpu_hooks);
	vcpu_hooks.ops.func = see_each;
	vcpu_hooks.n = EXIT;
	if (pvperf_hooks_find(&vcpu_hooks) || register_module_notifier(&modules))
		return false;
	vcpu_hooks.n = ARRAY_SIZE(vcpu_hook);
	return true;
}

void pvperf_branches_exit(void)
{
	pvperf_branches_unhook();
	if (vcpu_hooks.n == ARRAY_SIZE(vcpu_hook))
		unregister_module_notifier(&modules);
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
	int err;

	if (IS_ERR(branches))
		return branches;
	err = hook_get();
	if (!err)
		return branches;
	pvperf_branches_put(vm, branches);
	return ERR_PTR(err);
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
	if (!vcpu->vm->nr_branching++)
		hash_add_rcu(vms, &vcpu->vm->branching, (unsigned long)vcpu->vm->mm);
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
	if (!--vcpu->vm->nr_branching)
		hash_del_rcu(&vcpu->vm->branching);
	spin_unlock(&vcpus_lock);
}

void pvperf_branches_clear(struct pvperf_branches *branches, u64 waited)
{
	branches->waited = waited;
	preempt_disable();
	stack_clear();
	preempt_enable();
}

/* -------------------------------------------------------------------- overflow */

static u32 branches_copy_nmi(struct guest_perf_branches *to, const struct taken *from, bool full)
{
	const unsigned int bits = boot_cpu_data.x86_virt_bits;
	struct guest_perf_branch one;
	enum pvperf_cut cut;
	u32 i, n = 0;

	for (i = 0; i < pvperf_lbr_depth; i++) {
		cut = pvperf_cut(&from->raw[i], bits, full, &one);
		if (cut == PVPERF_CUT_END)
			break;
		if (cut == PVPERF_CUT_PASS)
			to->branch[n++] = one;
	}
	return n;
}

void pvperf_branches_write_nmi(struct pvperf_host_event *event, u64 waited)
{
	const struct taken *from = this_cpu_ptr(&taken);
	struct pvperf_branches *branches = event->branches;
	struct guest_perf_branches *to = branches->shared;
	struct pvperf_vcpu *vcpu = event->vcpu;
	const u32 word = pvperf_policy_word(&vcpu->vm->policy, PVPERF_WORD_BRANCHES);
	u32 status = KVM_PERF_BRANCHES_OFF, n = 0;

	if (pvperf_pin_poisoned(to))
		return;
	/* While no event has a counter perf has the stack stand still, and clears nothing. */
	if (from->from == vcpu->kvcpu && word != PVPERF_BRANCHES_OFF && waited == branches->waited)
		status = from->status;
	branches->waited = waited;
	WRITE_ONCE(to->sequence, branches->sequence + 1);
	barrier();
	if (status == KVM_PERF_BRANCHES_OK)
		n = branches_copy_nmi(to, from, word == PVPERF_BRANCHES_FULL);
	WRITE_ONCE(to->number, n);
	WRITE_ONCE(to->status, status);
	barrier();
	branches->sequence += 2;
	WRITE_ONCE(to->sequence, branches->sequence);
	pvperf_dirty_branches_nmi(vcpu, branches->pin);
}
