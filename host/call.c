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
#include "call.h"
#include "caps.h"
#include "decode.h"
#include "event.h"
#include "ids.h"
#include "page.h"
#include "sync.h"
#include "trace.h"
#include "vcpu.h"
#include "vm.h"

static u64 call_addr(const struct pvperf_call *call)
{
	return (u64)call->arg[1] << 32 | call->arg[0];
}

bool pvperf_call_offered(const struct kvm_vcpu *kvcpu)
{
	return pvperf_policy.access >= PVPERF_ACCESS_LOCAL &&
	       !kvcpu->arch.guest_state_protected;
}

static void call_refuse_vm(const char *why)
{
	pr_notice_ratelimited("VM of process %d (%s) is refused: %s\n",
			      current->tgid, current->group_leader->comm, why);
}

/* Log once per VM until an OPEN succeeds: guests retry every event. */
static void call_log_lent_out(struct pvperf_vm *vm,
			      const struct guest_perf_attr *attr, int err)
{
	if (!err && attr->type != KVM_PERF_TYPE_SOFTWARE)
		WRITE_ONCE(vm->pmu_lent_out, false);
	if (err == -KVM_EOPNOTSUPP && !xchg(&vm->pmu_lent_out, true))
		call_refuse_vm("the host's PMU is lent to VMs (mediated vPMU); load kvm_amd or kvm_intel with enable_mediated_pmu=0");
}

static int call_open(struct pvperf_vcpu *vcpu, u64 addr, const s32 *id)
{
	struct guest_perf_event_param param;
	struct guest_perf_attr attr;
	struct kvm *kvm = vcpu->vm->kvm;
	int err;

	err = pvperf_decode_range(addr, sizeof(param), 8);
	if (!err)
		err = pvperf_page_copy_in(kvm, &param, addr, sizeof(param));
	if (!err && id && *id != param.id)
		err = -KVM_EINVAL;
	if (!err)
		err = pvperf_decode_param(&param);
	if (!err)
		err = pvperf_page_copy_in(kvm, &attr, param.attr_addr, sizeof(attr));
	if (!err)
		err = pvperf_decode_attr(&attr);
	if (!err)
		err = pvperf_policy_check(&pvperf_policy, &attr);
	if (!err)
		err = pvperf_event_open(vcpu, &param, &attr);
	call_log_lent_out(vcpu->vm, &attr, err);
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
	if (op->op == KVM_PERF_OP_OPEN)
		return call_open(vcpu, op->arg, &op->id);
	if (op->op == KVM_PERF_OP_READ && op->arg)
		return pvperf_sync_read_many(vcpu, op->id, op->arg);
	return call_event(vcpu, op->op, op->id, op->arg);
}

static int call_batch_op(struct pvperf_vcpu *vcpu, const struct guest_perf_op *op)
{
	int err = pvperf_decode_op(op);

	if (!err)
		err = call_decoded_op(vcpu, op);
	call_note(vcpu, op->op, op->id, err);
	return err;
}

/*
 * A batch in the attached page needs no translation: the page is pinned, and
 * writable.
 */
static struct guest_perf_op *call_batch_mapped(struct pvperf_vcpu *vcpu, u64 addr)
{
	if (!vcpu->page || (addr ^ vcpu->page_addr) & PAGE_MASK)
		return NULL;
	return pvperf_page_at(vcpu->page, addr);
}

static int call_batch(struct pvperf_vcpu *vcpu, u64 addr, u32 n)
{
	struct guest_perf_op *batch = vcpu->batch, *mapped;
	u32 i, len = n * sizeof(*batch);
	int err;

	err = pvperf_decode_batch(addr, n, KVM_PERF_BATCH_MAX);
	if (err)
		return err;
	mapped = call_batch_mapped(vcpu, addr);
	if (mapped)
		memcpy(batch, mapped, len);
	else
		err = pvperf_page_copy_in(vcpu->vm->kvm, batch, addr, len);
	/* A batch whose results cannot be written must change nothing. */
	if (!err && !mapped)
		err = pvperf_page_copy_out(vcpu->vm->kvm, addr, batch, len);
	if (err)
		return err;

	for (i = 0; i < n; i++) {
		batch[i].result = call_batch_op(vcpu, &batch[i]);
		if (mapped)
			WRITE_ONCE(mapped[i].result, batch[i].result);
	}
	atomic64_add(n, &vcpu->vm->stats.ops);
	if (!mapped)
		err = pvperf_page_copy_out(vcpu->vm->kvm, addr, batch, len);
	return err ? err : n;
}

static int call_attach(struct pvperf_vcpu *vcpu, u64 addr)
{
	int err = pvperf_decode_range(addr, PAGE_SIZE, PAGE_SIZE);

	return err ? err : pvperf_vcpu_attach(vcpu, addr);
}

static int call_locked(struct pvperf_vcpu *vcpu, const struct pvperf_call *call)
{
	switch (call->op) {
	case KVM_PERF_OP_OPEN:
		return call_open(vcpu, call_addr(call), NULL);
	case KVM_PERF_OP_ATTACH:
		return call_attach(vcpu, call_addr(call));
	case KVM_PERF_OP_DETACH:
		pvperf_vcpu_clear(vcpu, PVPERF_END_CLOSE);
		return 0;
	case KVM_PERF_OP_BATCH:
		return call_batch(vcpu, call_addr(call), call->arg[2]);
	default:
		return call_event(vcpu, call->op, call->arg[0], 0);
	}
}

static long call_vm(struct kvm_vcpu *kvcpu, const struct pvperf_call *call)
{
	struct pvperf_vm *vm = pvperf_vm_get(kvcpu->kvm);
	struct pvperf_vcpu *vcpu = vm ? pvperf_vcpu_get(vm, kvcpu) : NULL;
	long ret = 0;

	if (!vcpu)
		return -KVM_ENOMEM;
	atomic64_inc(&vm->stats.calls);
	if (call->op == KVM_PERF_OP_RESET) {
		/* RESET takes every vCPU's lock in turn, so it must hold none. */
		pvperf_vcpu_clear_all(vm, PVPERF_END_CLOSE);
	} else {
		pvperf_vcpu_enter(vcpu);
		ret = call_locked(vcpu, call);
		pvperf_vcpu_leave(vcpu);
	}
	call_note(vcpu, call->op, call->arg[0], ret);
	return ret;
}

long pvperf_call_do(struct kvm_vcpu *kvcpu, const struct pvperf_call *call)
{
	if (pvperf_policy.access < PVPERF_ACCESS_LOCAL)
		return -KVM_ENOSYS;
	if (kvcpu->arch.guest_state_protected) {
		call_refuse_vm("its state is protected from the host (SEV-ES, TDX)");
		return -KVM_EOPNOTSUPP;
	}
	if (kvcpu->arch.hflags & HF_GUEST_MASK)
		return -KVM_EPERM;
	if (WARN_ON_ONCE(current->mm != kvcpu->kvm->mm))
		return -KVM_EPERM;
	switch (call->op) {
	case KVM_PERF_OP_PROBE:
		return KVM_PERF_ABI_VERSION;
	case KVM_PERF_OP_OPEN:
	case KVM_PERF_OP_CLOSE:
	case KVM_PERF_OP_ENABLE:
	case KVM_PERF_OP_DISABLE:
	case KVM_PERF_OP_READ:
	case KVM_PERF_OP_ATTACH:
	case KVM_PERF_OP_DETACH:
	case KVM_PERF_OP_BATCH:
	case KVM_PERF_OP_RESET:
		return call_vm(kvcpu, call);
	default:
		return -KVM_ENOSYS;
	}
}
