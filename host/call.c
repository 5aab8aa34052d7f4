// SPDX-License-Identifier: GPL-2.0
/*
 * Calls: decode, check, look up, do; open.c has OPEN. KVM's room.
 *
 * A guest's arguments are copied once, so what was checked is what is used.
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
#include "clock.h"
#include "decode.h"
#include "event.h"
#include "ids.h"
#include "memory.h"
#include "open.h"
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

/* What the rules say. */
static noinline const struct pvperf_policy *call_policy(struct kvm *kvm)
{
	struct pvperf_vm *vm = pvperf_vm_get(kvm);

	if (!vm)
		return NULL;
	if (pvperf_policy_has_access(&vm->policy))
		return &vm->policy;
	/* No word would help as long as another VM has the host. */
	if (READ_ONCE(vm->reason) != KVM_PERF_REASON_ALONE)
		pvperf_refusal_note(vm, PVPERF_WORD_ACCESS, NULL);
	return NULL;
}

/* Fast path: usually there are no rules. */
static __always_inline const struct pvperf_policy *call_available(struct kvm *kvm)
{
	if (!pvperf_policy_has_access(&pvperf_rules_default))
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
	return pvperf_policy_has_access(&pvperf_rules_default) &&
	       pvperf_policy_has_access(&vcpu->vm->policy);
}

const struct pvperf_policy *pvperf_call_offered(const struct kvm_vcpu *kvcpu)
{
	return pvperf_kvm_is_protected(kvcpu) ? NULL : call_available(kvcpu->kvm);
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

/* OPEN wants the vCPU unlocked. */
static int call_open_between(struct pvperf_vcpu *vcpu, const struct guest_perf_op *op)
{
	int err;

	pvperf_vcpu_leave(vcpu);
	err = pvperf_open(vcpu, op->arg, &op->id);
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
	pin = pvperf_pin_get(vcpu->vm, addr);
	if (IS_ERR(pin))
		return PTR_ERR(pin);
	pvperf_vcpu_enter(vcpu);
	if (vcpu->thread->task != current)
		err = pvperf_vcpu_error(vcpu->vm);
	else if (pvperf_pin_poisoned(pin->address))
		err = -KVM_EFAULT;
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
		return pvperf_open(vcpu, call_addr(call), NULL);
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

/* Such a guest may call in a loop, and would use up the notices that other VMs get once. */
static noinline void call_log_protected(void)
{
	static struct ratelimit_state rs =
		RATELIMIT_STATE_INIT_FLAGS(rs, 60 * HZ, 1, RATELIMIT_MSG_ON_RELEASE);

	if (__ratelimit(&rs))
		pvperf_refusal_log("its state is protected from the host (SEV-ES, TDX)");
}

long pvperf_call_do(struct kvm_vcpu *kvcpu, const struct pvperf_call *call)
{
	if (!call_available(kvcpu->kvm))
		return -KVM_ENOSYS;
	if (pvperf_kvm_is_protected(kvcpu)) {
		call_log_protected();
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
