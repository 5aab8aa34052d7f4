// SPDX-License-Identifier: GPL-2.0
/*
 * Calls: decode, check, look up, do. KVM's room.
 *
 * A guest's arguments are copied once, here, so what was checked is what is used.
 * A guest's mistakes are not logged: they go to a trace event and a counter. Only
 * what the admin can change is logged, with the name of the VM's process, and at a
 * limited rate.
 */
#define pr_fmt(fmt) "pvperf_host: " fmt

#include <linux/err.h>
#include <linux/kvm_host.h>
#include <linux/sched/signal.h>
#include "../compat/kvm.h"
#include "call.h"
#include "caps.h"
#include "claim.h"
#include "clock.h"
#include "decode.h"
#include "dirty.h"
#include "event.h"
#include "ids.h"
#include "keep.h"
#include "memory.h"
#include "pin.h"
#include "refusal.h"
#include "rules.h"
#include "sync.h"
#include "thread.h"
#include "trace.h"
#include "vcpu.h"
#include "vm.h"

static u64 call_addr(const struct pvperf_call *call)
{
	return (u64)call->arg[1] << 32 | call->arg[0];
}

static u32 call_access(const struct pvperf_policy *policy)
{
	return pvperf_policy_word(policy, PVPERF_WORD_ACCESS);
}

/* What the rules say. */
static noinline const struct pvperf_policy *call_policy(struct kvm *kvm)
{
	struct pvperf_vm *vm = pvperf_vm_get(kvm);

	if (!vm)
		return NULL;
	if (call_access(&vm->policy) >= PVPERF_ACCESS_LOCAL)
		return &vm->policy;
	/* No word would help as long as another VM has the host. */
	if (READ_ONCE(vm->reason) != KVM_PERF_REASON_ALONE)
		pvperf_refusal_note(vm, PVPERF_WORD_ACCESS, NULL);
	return NULL;
}

/* Fast path: usually there are no rules. */
static __always_inline const struct pvperf_policy *call_available(struct kvm *kvm)
{
	if (call_access(&pvperf_rules_default) < PVPERF_ACCESS_LOCAL)
		return NULL;
	return pvperf_rules_any() ? call_policy(kvm) : &pvperf_rules_default;
}

/*
 * Checked under vcpu->lock: the admin's change is made first, and clearing takes this lock,
 * so it finds what we open.
 */
static bool call_still_available(const struct pvperf_vcpu *vcpu)
{
	lockdep_assert_held(&vcpu->lock);
	return call_access(&pvperf_rules_default) >= PVPERF_ACCESS_LOCAL &&
	       call_access(&vcpu->vm->policy) >= PVPERF_ACCESS_LOCAL;
}

const struct pvperf_policy *pvperf_call_offered(const struct kvm_vcpu *kvcpu)
{
	return pvperf_kvm_is_protected(kvcpu) ? NULL : call_available(kvcpu->kvm);
}

static void call_refuse_vm(const char *why)
{
	pr_notice_ratelimited("VM of process %d (%s) is refused: %s\n",
			      current->tgid, current->group_leader->comm, why);
}

/* Log once per VM: guests try again and again. */
static struct pvperf_pin *call_pin(struct pvperf_vm *vm, u64 addr)
{
	struct pvperf_pin *pin = pvperf_pin_get(vm, addr);

	if (pin != ERR_PTR(-KVM_ENOSPC))
		return pin;
	pvperf_refusal_note(vm, PVPERF_WORD_MAX_PAGES, NULL);
	if (!xchg(&vm->pins_refused, true))
		call_refuse_vm("its pins would hold more memory than max_pages, or the process's limit of locked memory (ulimit -l), allow; a transparent huge page is held as a whole");
	return pin;
}

/* What OPEN was given, copied and checked. The guest's memory may be slow. */
struct call_open {
	struct guest_perf_event_param param;
	struct guest_perf_attr attr;
	struct pvperf_pin *pin;
	int changes;		/* of the policy, before it was asked */
};

static noinline void call_note_denied(struct pvperf_vm *vm, const struct guest_perf_attr *attr)
{
	enum pvperf_word why = pvperf_policy_why(&vm->policy, &pvperf_offer, attr);

	if (why < PVPERF_WORDS)
		pvperf_refusal_note(vm, why, attr);
}

static int call_open_check(struct pvperf_vm *vm, struct call_open *open)
{
	int err;

	open->changes = atomic_read_acquire(&vm->changes);
	err = pvperf_policy_check(&vm->policy, &pvperf_offer, &open->attr);
	if (unlikely(err) && err != -KVM_EUSERS)
		call_note_denied(vm, &open->attr);
	return err;
}

static int call_open_copy(struct kvm *kvm, struct call_open *open, u64 addr, const s32 *id)
{
	int err = pvperf_decode_range(addr, sizeof(open->param), 8) ?:
		  pvperf_memory_copy_in(kvm, &open->param, addr, sizeof(open->param));

	if (!err && id && *id != open->param.id)
		err = -KVM_EINVAL;
	if (!err)
		err = pvperf_decode_param(&open->param);
	if (!err)
		err = pvperf_memory_copy_in(kvm, &open->attr, open->param.attr_addr,
					    sizeof(open->attr));
	if (!err)
		err = pvperf_decode_attr(&open->attr);
	return err;
}

/* The policy has changed since the event was checked. */
static noinline int call_open_late(struct pvperf_vcpu *vcpu, struct call_open *open)
{
	int err = call_open_check(vcpu->vm, open);

	if (!err)
		return 0;
	pvperf_event_close(pvperf_ids_find(vcpu, open->param.id), PVPERF_END_GONE);
	open->pin = NULL;	/* it was the event's */
	return err;
}

/*
 * Either a change of the policy is seen here, or who changed it sees the event in the VM's number
 * of them, which is raised before this looks.
 */
static int call_open_event(struct pvperf_vcpu *vcpu, struct call_open *open)
{
	int err;

	if (call_access(&pvperf_rules_default) < PVPERF_ACCESS_LOCAL)
		return -KVM_ENOSYS;
	err = pvperf_event_open(vcpu, &open->param, &open->attr, open->pin);
	if (err || likely(atomic_read(&vcpu->vm->changes) == open->changes))
		return err;
	return call_open_late(vcpu, open);
}

static int call_open_locked(struct pvperf_vcpu *vcpu, struct call_open *open)
{
	int err;

	pvperf_vcpu_enter(vcpu);
	if (likely(vcpu->thread->task == current))
		err = call_open_event(vcpu, open);
	else
		err = pvperf_vcpu_error(vcpu->vm);
	if (!err)
		pvperf_dirty_pin(vcpu, open->pin);
	pvperf_vcpu_leave(vcpu);
	return err;
}

/* Log once per VM until an OPEN succeeds: guests retry every event. */
static noinline int call_open_failed(struct pvperf_vcpu *vcpu, struct call_open *open, int err)
{
	if (open->pin)
		pvperf_pin_put(vcpu->vm, open->pin);
	if (err == -KVM_EOPNOTSUPP && !xchg(&vcpu->vm->pmu_lent_out, true))
		call_refuse_vm("the host's PMU is lent to VMs (mediated vPMU); load kvm_amd or kvm_intel with enable_mediated_pmu=0");
	return err;
}

static int call_open_checked(struct pvperf_vcpu *vcpu, struct call_open *open)
{
	struct pvperf_vm *vm = vcpu->vm;
	int err;

	pvperf_keep_make(&open->attr);
	open->pin = call_pin(vm, open->param.guest_event_addr);
	if (IS_ERR(open->pin))
		return PTR_ERR(open->pin);
	err = call_open_locked(vcpu, open);
	if (unlikely(err))
		return call_open_failed(vcpu, open, err);
	if (open->attr.type != KVM_PERF_TYPE_SOFTWARE)
		WRITE_ONCE(vm->pmu_lent_out, false);
	return 0;
}

/* access=exclusive or force: claims the host, and may wait for other VMs. vCPU not locked. */
static noinline int call_open_alone(struct pvperf_vm *vm, struct call_open *open)
{
	int err = pvperf_claim(vm) ?: call_open_check(vm, open);

	if (err == -KVM_EUSERS)
		pvperf_refusal_note(vm, PVPERF_WORD_ACCESS, &open->attr);
	return err;
}

/* The vCPU is not locked: all but call_open_locked() may take long. */
static int call_open(struct pvperf_vcpu *vcpu, u64 addr, const s32 *id)
{
	struct pvperf_vm *vm = vcpu->vm;
	struct call_open open;
	int err = pvperf_refusal_pace(vm, PVPERF_WORD_MAX_OPENS, &vm->open_at,
				      pvperf_policy_word(&vm->policy, PVPERF_WORD_MAX_OPENS));
	int tries = 1;

	if (unlikely(err)) {
		vcpu->waited = vcpu->calls;
		if (err < 0)
			return err;
	}
	err = call_open_copy(vm->kvm, &open, addr, id);
	if (!err)
		err = call_open_check(vm, &open);
	/* The host may be given back before the event is open, as the VM's last one has ended. */
	do {
		if (unlikely(err) && err == -KVM_EUSERS)
			err = call_open_alone(vm, &open);
		if (err)
			return err;
		err = call_open_checked(vcpu, &open);
	} while (unlikely(err == -KVM_EUSERS) && tries--);
	return err;
}

/* CLOSE, ENABLE, DISABLE, READ: they operate on one event. */
static int call_event(struct pvperf_vcpu *vcpu, u32 op, s32 id, u64 arg)
{
	struct pvperf_host_event *event = pvperf_ids_find(vcpu, id);

	if (IS_ERR(event))
		return PTR_ERR(event);
	switch (op) {
	case KVM_PERF_OP_CLOSE:
		pvperf_event_close(event, PVPERF_END_CLOSE);
		return 0;
	case KVM_PERF_OP_ENABLE:
		return pvperf_event_enable(event, arg);
	case KVM_PERF_OP_DISABLE:
		pvperf_event_disable(event);
		return 0;
	case KVM_PERF_OP_READ:
		pvperf_sync_read(event);
		return 0;
	default:
		return -KVM_ENOSYS;
	}
}

static void call_note(struct pvperf_vcpu *vcpu, u32 op, u32 arg, long result)
{
	struct pvperf_vm *vm = vcpu->vm;

	if (result >= 0) {
		trace_pvperf_call(vm->pid, vcpu->index, op, arg, result);
	} else {
		atomic64_inc(&vm->stats.refused);
		trace_pvperf_refuse(vm->pid, vcpu->index, op, arg, result);
	}
}

static int call_decoded_op(struct pvperf_vcpu *vcpu, const struct guest_perf_op *op)
{
	if (op->op == KVM_PERF_OP_READ && op->arg)
		return pvperf_sync_read_many(vcpu, op->id, op->arg);
	return call_event(vcpu, op->op, op->id, op->arg);
}

/* OPEN wants the vCPU unlocked: see call_open(). */
static int call_open_between(struct pvperf_vcpu *vcpu, const struct guest_perf_op *op)
{
	int err;

	pvperf_vcpu_leave(vcpu);
	err = call_open(vcpu, op->arg, &op->id);
	pvperf_vcpu_enter(vcpu);
	return err;
}

static int call_batch_op(struct pvperf_vcpu *vcpu, const struct guest_perf_op *op)
{
	int err = pvperf_decode_op(op) ?:
		  (op->op == KVM_PERF_OP_OPEN ? call_open_between(vcpu, op) :
						call_decoded_op(vcpu, op));

	call_note(vcpu, op->op, op->id, err);
	return err;
}

/*
 * A batch in the attached page needs no translation: the page is pinned, and
 * writable, for as long as the vCPU is locked.
 */
static struct guest_perf_op *call_batch_mapped(struct pvperf_vcpu *vcpu, u64 addr)
{
	if (!vcpu->pin || (addr ^ vcpu->page_addr) & PAGE_MASK ||
	    pvperf_pin_poisoned(vcpu->head))
		return NULL;
	return pvperf_pin_at(vcpu->pin, addr);
}

/* OPEN unlocks the vCPU, and another one's RESET detaches the page; or it has waited. */
static bool call_batch_stays(const struct pvperf_vcpu *vcpu)
{
	return vcpu->pin && !pvperf_pin_poisoned(vcpu->head) && vcpu->waited != vcpu->calls;
}

/* Copies a batch. One whose results can't be written must change nothing. */
static int call_batch_copy(struct pvperf_vcpu *vcpu, u64 addr, u32 len)
{
	const struct guest_perf_op *mapped = call_batch_mapped(vcpu, addr);
	struct kvm *kvm = vcpu->vm->kvm;
	int err;

	if (mapped) {
		memcpy(vcpu->batch, mapped, len);
		return 0;
	}
	/* Only this thread uses .batch. */
	pvperf_vcpu_leave(vcpu);
	err = pvperf_memory_copy_in(kvm, vcpu->batch, addr, len);
	if (!err)
		err = pvperf_memory_copy_out(kvm, addr, vcpu->batch, len);
	pvperf_vcpu_enter(vcpu);
	return err;
}

/*
 * Does a copied batch, up to where a signal or call_batch_stays() ends it. Returns how many
 * operations it did, at least one; clears @written if their results are not all in the guest's
 * memory.
 */
static u32 call_batch_do(struct pvperf_vcpu *vcpu, u64 addr, u32 n, bool *written)
{
	struct guest_perf_op *mapped = call_batch_mapped(vcpu, addr);
	struct guest_perf_op *batch = vcpu->batch;
	u32 i = 0;

	*written = mapped;
	do {
		batch[i].result = call_batch_op(vcpu, &batch[i]);
		if (batch[i].op == KVM_PERF_OP_OPEN && unlikely(!call_batch_stays(vcpu))) {
			mapped = NULL;
			*written = false;
			n = vcpu->waited == vcpu->calls ? i + 1 : n;
		}
		if (mapped)
			WRITE_ONCE(mapped[i].result, batch[i].result);
	} while (++i < n && !signal_pending(current));
	return i;
}

static int call_batch(struct pvperf_vcpu *vcpu, u64 addr, u32 n)
{
	u32 len = n * sizeof(*vcpu->batch), done = 0;
	bool written;
	int err;

	err = pvperf_decode_batch(addr, n, KVM_PERF_BATCH_MAX);
	if (err)
		return err;
	pvperf_vcpu_enter(vcpu);
	err = call_batch_copy(vcpu, addr, len);
	if (!err)
		done = call_batch_do(vcpu, addr, n, &written);
	pvperf_vcpu_leave(vcpu);
	if (err)
		return err;
	atomic64_add(done, &vcpu->vm->stats.ops);
	if (!written)
		err = pvperf_memory_copy_out(vcpu->vm->kvm, addr, vcpu->batch,
					     done * sizeof(*vcpu->batch));
	return err ? err : done;
}

static int call_attach(struct pvperf_vcpu *vcpu, u64 addr)
{
	int err = pvperf_decode_range(addr, PAGE_SIZE, PAGE_SIZE);
	struct pvperf_pin *pin;

	if (err)
		return err;
	pin = call_pin(vcpu->vm, addr);
	if (IS_ERR(pin))
		return PTR_ERR(pin);
	pvperf_vcpu_enter(vcpu);
	if (vcpu->thread->task != current)
		err = pvperf_vcpu_error(vcpu->vm);
	else if (call_still_available(vcpu))
		pvperf_vcpu_attach(vcpu, addr, pin);
	else
		err = -KVM_ENOSYS;
	pvperf_vcpu_leave(vcpu);
	if (err)
		pvperf_pin_put(vcpu->vm, pin);
	else
		pvperf_clock_attached();
	return err;
}

/* CLOSE, ENABLE, DISABLE, READ, DETACH: they touch no memory that is not pinned. */
static int call_locked(struct pvperf_vcpu *vcpu, const struct pvperf_call *call)
{
	int err = 0;

	pvperf_vcpu_enter(vcpu);
	if (call->op == KVM_PERF_OP_DETACH)
		pvperf_vcpu_clear(vcpu, PVPERF_END_CLOSE);
	else
		err = call_event(vcpu, call->op, call->arg[0], 0);
	pvperf_vcpu_leave(vcpu);
	return err;
}

/* Takes the vCPU's lock where it must be held. */
static int call_vcpu(struct pvperf_vcpu *vcpu, const struct pvperf_call *call)
{
	switch (call->op) {
	case KVM_PERF_OP_OPEN:
		return call_open(vcpu, call_addr(call), NULL);
	case KVM_PERF_OP_ATTACH:
		return call_attach(vcpu, call_addr(call));
	case KVM_PERF_OP_BATCH:
		return call_batch(vcpu, call_addr(call), call->arg[2]);
	case KVM_PERF_OP_RESET:
		/* It takes every vCPU's lock in turn. */
		pvperf_vcpu_clear_all(vcpu->vm, PVPERF_END_CLOSE);
		return 0;
	default:
		return call_locked(vcpu, call);
	}
}

static long call_vm(struct kvm_vcpu *kvcpu, const struct pvperf_call *call)
{
	struct pvperf_vm *vm = pvperf_vm_get(kvcpu->kvm);
	struct pvperf_vcpu *vcpu = vm ? pvperf_vcpu_get(vm, kvcpu) : NULL;
	u32 rate;
	long ret;

	if (unlikely(!vcpu))
		return vm ? pvperf_vcpu_error(vm) : -KVM_ENOMEM;
	atomic64_inc(&vm->stats.calls);
	vcpu->calls++;
	rate = pvperf_policy_word(&vm->policy, PVPERF_WORD_MAX_CALLS);
	if (unlikely(rate != PVPERF_CALLS_UNBOUNDED))
		pvperf_refusal_pace(vm, PVPERF_WORD_MAX_CALLS, &vcpu->call_at, rate);
	ret = call_vcpu(vcpu, call);
	call_note(vcpu, call->op, call->arg[0], ret);
	return ret;
}

long pvperf_call_do(struct kvm_vcpu *kvcpu, const struct pvperf_call *call)
{
	if (!call_available(kvcpu->kvm))
		return -KVM_ENOSYS;
	if (pvperf_kvm_is_protected(kvcpu)) {
		call_refuse_vm("its state is protected from the host (SEV-ES, TDX)");
		return -KVM_EOPNOTSUPP;
	}
	if (pvperf_kvm_is_nested(kvcpu))
		return -KVM_EPERM;
	if (WARN_ON_ONCE(current->mm != kvcpu->kvm->mm))
		return -KVM_EPERM;
	if (call->op == KVM_PERF_OP_PROBE)
		return KVM_PERF_ABI_VERSION;
	if (call->op < KVM_PERF_OP_OPEN || call->op > KVM_PERF_OP_RESET)
		return -KVM_ENOSYS;
	return call_vm(kvcpu, call);
}
