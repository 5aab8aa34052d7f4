// SPDX-License-Identifier: GPL-2.0
/*
 * Which functions of KVM and perf are hooked, and what the hooks do. KVM's room.
 *
 *   kvm_emulate_hypercall    our number only. KVM's function runs first: it checks
 *                            the privilege level, deals with Xen and Hyper-V,
 *                            skips the instruction and answers -KVM_ENOSYS. We
 *                            answer only what KVM has refused in this way.
 *   kvm_cpuid                our leaves only
 *   kvm_arch_pre_destroy_vm  a VM ends; no vCPU runs any more
 *   kvm_vcpu_reset           INIT, triple fault, SHUTDOWN
 *   kvm_arch_vcpu_ioctl_set_regs  userspace resets a vCPU: it writes all state. A
 *                            debugger does so, too, but not in real mode.
 *   kvm_arch_vcpu_ioctl_set_mpstate  userspace loads a state into a vCPU, in whichever
 *                            mode that is; nothing else makes it write this.
 *   kvm_arch_flush_shadow_memslot  userspace takes a memory slot away
 *
 *   perf_create_mediated_pmu   KVM asks perf for the whole PMU, before a VM's first
 *                            vCPU, and gives it back when the VM has ended. Kernels
 *   perf_release_mediated_pmu  without a mediated vPMU have neither of these two.
 *
 * The callbacks run on every hypercall and CPUID of every VM, and may be
 * preempted: they look at one word, and return if it is not ours.
 */
#define pr_fmt(fmt) "pvperf_host: " fmt

#include <linux/kernel.h>
#include <linux/kvm_host.h>
#include <linux/module.h>
#include <linux/moduleparam.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/static_call.h>
#include "../compat/ftrace.h"
#include "../compat/kvm.h"
#include "call.h"
#include "caps.h"
#include "door.h"
#include "event.h"
#include "hook.h"
#include "inject.h"
#include "registry.h"
#include "request.h"
#include "rules.h"
#include "vm.h"

static int door_hypercall(struct kvm_vcpu *kvcpu);
static bool door_cpuid(struct kvm_vcpu *kvcpu, u32 *eax, u32 *ebx, u32 *ecx, u32 *edx, bool exact);
static void door_destroy(struct kvm *kvm);
static int door_lend(void);
static void door_lend_back(void);

/* The originals, past ftrace's patch; the self-test's enter through the patch. */
DEFINE_STATIC_CALL_NULL(pvperf_kvm_hypercall, door_hypercall);
DEFINE_STATIC_CALL_NULL(pvperf_kvm_cpuid, door_cpuid);
DEFINE_STATIC_CALL_NULL(pvperf_kvm_destroy, door_destroy);
DEFINE_STATIC_CALL_NULL(pvperf_perf_lend, door_lend);
DEFINE_STATIC_CALL_NULL(pvperf_perf_lend_back, door_lend_back);
DEFINE_STATIC_CALL_NULL(pvperf_test_hypercall, door_hypercall);
DEFINE_STATIC_CALL_NULL(pvperf_test_cpuid, door_cpuid);

/*
 * The hooks on the ends are installed before those on the ways in and removed after
 * them, so each group has an in-flight count, and a callback, of its own.
 */
static DEFINE_PER_CPU(long, ends_inflight);
static DEFINE_PER_CPU(long, ways_in_inflight);
static struct pvperf_hooks ends;
static struct pvperf_hooks ways_in;

static struct pvperf_hook ways_in_hook[] = {
	{ .name = "kvm_emulate_hypercall" }, { .name = "kvm_cpuid" },
};

static struct pvperf_hook *const hook_hypercall = &ways_in_hook[0];
static struct pvperf_hook *const hook_cpuid = &ways_in_hook[1];

static struct pvperf_hook ends_hook[] = {
	{ .name = "kvm_arch_pre_destroy_vm" },
	{ .name = "perf_create_mediated_pmu", .perf = true },
	{ .name = "perf_release_mediated_pmu", .perf = true },
};

static struct pvperf_hook *const hook_destroy = &ends_hook[0];
static struct pvperf_hook *const hook_lend = &ends_hook[1];
static struct pvperf_hook *const hook_lend_back = &ends_hook[2];

static struct pvperf_hook watched_hook[] = {
	{ .name = "kvm_vcpu_reset" }, { .name = "kvm_arch_vcpu_ioctl_set_regs" },
	{ .name = "kvm_arch_vcpu_ioctl_set_mpstate" }, { .name = "kvm_arch_flush_shadow_memslot" },
};

static struct pvperf_hook *const hook_set_regs = &watched_hook[1];
static struct pvperf_hook *const hook_slot = &watched_hook[3];

/* The self-test's vCPU, which is no real one. */
static struct kvm_vcpu *test_vcpu;

#define TEST_ANSWER	0x70766f6b

static void door_call(struct kvm_vcpu *kvcpu, const struct pvperf_call *call)
{
	unsigned long *rax = &pvperf_kvm_regs(kvcpu)[VCPU_REGS_RAX];
	long result;

	if ((int)*rax != -KVM_ENOSYS)
		return;
	result = pvperf_call_do(kvcpu, call);
	/* KVM truncates its answer to 32 bits for a caller in 32-bit mode. */
	*rax = *rax >> 32 ? result : (u32)result;
}

static __always_inline int door_hypercall_do(struct kvm_vcpu *kvcpu)
{
	const unsigned long *regs = pvperf_kvm_regs(kvcpu);
	struct pvperf_call call = {
		.op = regs[VCPU_REGS_RBX],
		.arg = { regs[VCPU_REGS_RCX], regs[VCPU_REGS_RDX],
			 regs[VCPU_REGS_RSI] },
	};
	int ret = TEST_ANSWER;

	if (likely(kvcpu != test_vcpu)) {
		ret = static_call(pvperf_kvm_hypercall)(kvcpu);
		door_call(kvcpu, &call);
	}
	return ret;
}

static notrace int door_hypercall(struct kvm_vcpu *kvcpu)
{
	int ret = door_hypercall_do(kvcpu);

	pvperf_hook_leave(&ways_in);
	return ret;
}

/* For way_of_hypercall(), which has taken the reference. */
static notrace int door_hypercall_held(struct kvm_vcpu *kvcpu)
{
	int ret = door_hypercall_do(kvcpu);

	module_put(THIS_MODULE);
	pvperf_hook_leave(&ways_in);
	return ret;
}

static notrace bool door_cpuid(struct kvm_vcpu *kvcpu, u32 *eax, u32 *ebx,
			       u32 *ecx, u32 *edx, bool exact)
{
	const struct pvperf_policy *policy = kvcpu == test_vcpu ? &pvperf_rules_default :
								  pvperf_call_offered(kvcpu);
	bool ret = true;

	if (policy)
		pvperf_caps_cpuid(policy, *eax, eax, ebx, ecx, edx);
	else
		ret = static_call(pvperf_kvm_cpuid)(kvcpu, eax, ebx, ecx, edx, exact);
	pvperf_hook_leave(&ways_in);
	return ret;
}

/*
 * With IBT all hypercalls are diverted: this passes on those that are not for us. KVM's function
 * may sleep for as long as the VMM likes (Xen's sched_poll, Hyper-V's calls that read the guest's
 * memory). It runs when nothing of ours is on the stack any more, as the compiler jumps to it:
 * Kbuild asks for that, and checks/ibt looks.
 */
static notrace int pass_hypercall(struct kvm_vcpu *kvcpu)
{
	pvperf_hook_leave(&ways_in);
	return static_call(pvperf_kvm_hypercall)(kvcpu);
}

static notrace bool pass_cpuid(struct kvm_vcpu *kvcpu, u32 *eax, u32 *ebx,
			       u32 *ecx, u32 *edx, bool exact)
{
	pvperf_hook_leave(&ways_in);
	return static_call(pvperf_kvm_cpuid)(kvcpu, eax, ebx, ecx, edx, exact);
}

/* Without the registry's lock, which VMs that never called need not wait for. */
static bool door_knows(struct kvm *kvm)
{
	bool known;

	rcu_read_lock();
	known = pvperf_vm_find(kvm);
	rcu_read_unlock();
	return known;
}

static notrace void door_destroy(struct kvm *kvm)
{
	if (door_knows(kvm))
		pvperf_vm_destroyed(kvm);
	static_call(pvperf_kvm_destroy)(kvm);
	pvperf_hook_leave(&ends);
}

/*
 * perf lends the whole PMU to VMs with a mediated vPMU, but only while nobody has a hardware
 * event that counts guests. An event whose PMU is lent stays open, with no perf_event: its
 * state is ERROR, and its times tell how long it did not count.
 */
static bool lend_yield;
module_param_named(yield, lend_yield, bool, 0644);
MODULE_PARM_DESC(yield, "take hardware events from guests while a VM with a mediated vPMU runs (default no: it can't start while a guest has one)");

/* Whoever opens one meanwhile is refused, so this VM starts the first time. */
static void lend_begin(void)
{
	u32 n;

	pvperf_event_block();
	n = pvperf_vms_lend();
	if (n)
		pr_info_ratelimited("%u hardware events of guests make room for the mediated vPMU of process %d (%s)\n",
				    n, current->tgid, current->group_leader->comm);
}

static void lend_end(int err)
{
	pvperf_event_unblock();
	if (err)
		pvperf_vms_request(PVPERF_VM_LEND_BACK);
}

/* KVM holds kvm->lock of the new VM, which has no vCPU yet. */
static notrace int door_lend(void)
{
	bool yield = READ_ONCE(lend_yield);
	int err;

	if (yield)
		lend_begin();
	/* perf does not lend the PMU as long as there are events of a VM that has just ended. */
	pvperf_requests_settle_ended();
	err = static_call(pvperf_perf_lend)();
	if (yield)
		lend_end(err);
	pvperf_hook_leave(&ends);
	return err;
}

static notrace void door_lend_back(void)
{
	static_call(pvperf_perf_lend_back)();
	pvperf_vms_request(PVPERF_VM_LEND_BACK);
	pvperf_hook_leave(&ends);
}

/*
 * Where a hypercall goes; @pass if it is not ours. In a Hyper-V guest RAX is free, and KVM's
 * function may wait for its memory. A vCPU that is not one may become one before KVM looks, as
 * another vCPU sets the id for all: then KVM waits on top of our frame, so rmmod has to fail.
 */
static __always_inline void *way_of_hypercall(const struct pt_regs *regs, void *pass)
{
	const struct kvm_vcpu *kvcpu = (struct kvm_vcpu *)regs->di;

	if ((u32)pvperf_kvm_regs(kvcpu)[VCPU_REGS_RAX] != KVM_PERF_OP)
		return pass;
	if (likely(!pvperf_kvm_may_be_hyperv(kvcpu)))
		return door_hypercall;
	return !pvperf_kvm_is_hyperv(kvcpu) && try_module_get(THIS_MODULE) ?
	       door_hypercall_held : pass;
}

static __always_inline bool is_our_cpuid(const struct pt_regs *regs)
{
	return *(u32 *)regs->si - KVM_PERF_CPUID_BASE <=
	       KVM_PERF_CPUID_MAX - KVM_PERF_CPUID_BASE;
}

static void notrace see_way_in(unsigned long ip, unsigned long parent_ip,
			       struct ftrace_ops *ops, struct ftrace_regs *fregs)
{
	struct pt_regs *regs = pvperf_ftrace_regs(fregs);
	void *to;

	if (ip == hook_hypercall->ip) {
		to = way_of_hypercall(regs, NULL);
		if (to)
			pvperf_hook_divert(&ways_in, regs, to);
	} else if (ip == hook_cpuid->ip) {
		if (is_our_cpuid(regs))
			pvperf_hook_divert(&ways_in, regs, door_cpuid);
	}
}

/*
 * With IBT. If a BPF program is attached to the function's return, its trampoline makes an
 * indirect call to where the callbacks have left the instruction pointer. That must not be
 * in the middle of KVM's function, where no ENDBR is.
 */
static void notrace see_way_in_ibt(unsigned long ip, unsigned long parent_ip,
				   struct ftrace_ops *ops, struct ftrace_regs *fregs)
{
	struct pt_regs *regs = pvperf_ftrace_regs(fregs);

	if (ip == hook_hypercall->ip)
		pvperf_hook_divert(&ways_in, regs, way_of_hypercall(regs, pass_hypercall));
	else if (ip == hook_cpuid->ip)
		pvperf_hook_divert(&ways_in, regs, is_our_cpuid(regs) ?
				   (void *)door_cpuid : (void *)pass_cpuid);
}

/* Rare, so always diverted. */
static void notrace see_end(unsigned long ip, unsigned long parent_ip,
			    struct ftrace_ops *ops, struct ftrace_regs *fregs)
{
	struct pt_regs *regs = pvperf_ftrace_regs(fregs);

	if (ip == hook_destroy->ip)
		pvperf_hook_divert(&ends, regs, door_destroy);
	else if (ip == hook_lend_back->ip)
		pvperf_hook_divert(&ends, regs, door_lend_back);
	else if (ip == hook_lend->ip)
		pvperf_hook_divert(&ends, regs, door_lend);
}

static void notrace see_watched(unsigned long ip, unsigned long parent_ip,
				struct ftrace_ops *ops, struct ftrace_regs *fregs)
{
	void *whose = (void *)pvperf_ftrace_regs(fregs)->di;

	if (ip == hook_slot->ip)
		pvperf_vm_slots_changed(whose);
	else if (ip != hook_set_regs->ip || pvperf_kvm_is_real_mode(whose))
		pvperf_vm_reset_seen(whose);
}

static struct pvperf_hooks ways_in = {
	.ops.func = see_way_in, .hook = ways_in_hook, .n = ARRAY_SIZE(ways_in_hook),
	.inflight = &ways_in_inflight,
	.without = "not loading",
};

static struct pvperf_hooks ends = {
	.ops.func = see_end, .hook = ends_hook, .n = ARRAY_SIZE(ends_hook),
	.inflight = &ends_inflight,
	.without = "not loading",
};

static struct pvperf_hooks watched = {
	.ops.func = see_watched, .hook = watched_hook, .n = ARRAY_SIZE(watched_hook),
	.without = "not loading",
};

static int test_one(const char *what, bool works)
{
	if (works)
		return 0;
	pr_err("self-test: the hook on %s does not work on this kernel; not loading\n",
	       what);
	return -EOPNOTSUPP;
}

static bool test_cpuid_works(void)
{
	u32 eax = KVM_PERF_CPUID_FEATURES, ebx = 0, ecx = 0, edx = 0;

	/* If it is not diverted, KVM finds no entry, which does no harm. */
	static_call(pvperf_test_cpuid)(test_vcpu, &eax, &ebx, &ecx, &edx, true);
	return eax == KVM_PERF_ABI_VERSION && ecx == KVM_PERF_OP;
}

/* Only after CPUID's hook was seen to divert, and if this text is patched, too. */
static bool test_hypercall_works(void)
{
	pvperf_kvm_regs(test_vcpu)[VCPU_REGS_RAX] = KVM_PERF_OP;
	return pvperf_hook_patched(hook_hypercall) &&
	       static_call(pvperf_test_hypercall)(test_vcpu) == TEST_ANSWER;
}

static int door_test(void)
{
	int err;

	test_vcpu = kvzalloc(sizeof(*test_vcpu), GFP_KERNEL);
	if (!test_vcpu)
		return -ENOMEM;
	err = test_one(hook_cpuid->name, pvperf_hook_patched(hook_cpuid) &&
		       test_cpuid_works());
	if (!err)
		err = test_one(hook_hypercall->name, test_hypercall_works());
	/* Another vCPU's hook compares with it until it is NULL. */
	kvfree(xchg(&test_vcpu, NULL));
	return err;
}

static void door_resolve(void)
{
	static_call_update(pvperf_kvm_hypercall,
			   (void *)pvperf_hook_original(hook_hypercall));
	static_call_update(pvperf_kvm_cpuid,
			   (void *)pvperf_hook_original(hook_cpuid));
	static_call_update(pvperf_test_hypercall, (void *)hook_hypercall->ip);
	static_call_update(pvperf_test_cpuid, (void *)hook_cpuid->ip);
}

static void door_resolve_ends(void)
{
	static_call_update(pvperf_kvm_destroy,
			   (void *)pvperf_hook_original(hook_destroy));
	if (hook_lend->ip)
		static_call_update(pvperf_perf_lend,
				   (void *)pvperf_hook_original(hook_lend));
	if (hook_lend_back->ip)
		static_call_update(pvperf_perf_lend_back,
				   (void *)pvperf_hook_original(hook_lend_back));
}

int pvperf_door_watch(void)
{
	int err = pvperf_hooks_find(&ends) ?: pvperf_hooks_find(&watched);

	if (err)
		return err;
	door_resolve_ends();
	err = pvperf_hooks_install(&watched);
	if (err)
		return err;
	err = pvperf_hooks_install(&ends);
	if (err)
		pvperf_door_unwatch();
	return err;
}

int pvperf_door_open(void)
{
	int err;

	if (ways_in.live)
		return 0;
	err = pvperf_hooks_find(&ways_in);
	if (cpu_feature_enabled(X86_FEATURE_IBT))
		ways_in.ops.func = see_way_in_ibt;
	if (err)
		return err;
	door_resolve();
	err = pvperf_hooks_install(&ways_in);
	if (err)
		return err;
	return door_test();
}

bool pvperf_door_close(bool forever)
{
	return pvperf_hooks_remove(&ways_in, forever);
}

void pvperf_door_unwatch(void)
{
	pvperf_hooks_remove(&ends, true);
	pvperf_hooks_remove(&watched, true);
	/* For the last instructions of diverted calls, behind pvperf_hook_leave(). */
	synchronize_rcu_tasks();
}
