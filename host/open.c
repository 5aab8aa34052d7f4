// SPDX-License-Identifier: GPL-2.0
/* OPEN: copy, admit, pin, open. KVM's room. */
#include <linux/err.h>
#include <linux/kvm_host.h>
#include "branches.h"
#include "caps.h"
#include "claim.h"
#include "decode.h"
#include "dirty.h"
#include "event.h"
#include "ids.h"
#include "keep.h"
#include "memory.h"
#include "open.h"
#include "pin.h"
#include "refusal.h"
#include "rules.h"
#include "thread.h"
#include "vcpu.h"

/* What OPEN was given, copied once, so that what was checked is what is used. */
struct open {
	struct guest_perf_event_param param;
	struct guest_perf_attr attr;
	struct pvperf_pin *pin;
	struct pvperf_branches *branches;	/* with attr.sample_type */
	int changes;		/* of the policy, before it was asked */
};

/* -------------------------------------------------------- what a VM may open */

/* A batch ends with an OPEN that has waited. */
static int open_pace(struct pvperf_vcpu *vcpu)
{
	struct pvperf_vm *vm = vcpu->vm;
	int err = pvperf_refusal_pace(vm, PVPERF_WORD_MAX_OPENS, &vm->open_at,
				      pvperf_policy_word(&vm->policy, PVPERF_WORD_MAX_OPENS));

	if (likely(!err))
		return 0;
	vcpu->waited = vcpu->calls;
	return min(err, 0);
}

static noinline void open_note_denied(struct pvperf_vm *vm, const struct guest_perf_attr *attr,
				      int err)
{
	enum pvperf_word why = pvperf_policy_why(&vm->policy, &pvperf_offer, attr);

	if (err == -KVM_EOPNOTSUPP && !xchg(&vm->may_not_sample, true))
		pvperf_refusal_log("kernel.perf_event_max_sample_rate leaves one sample in a tick, and perf would stop the counter at each: no samples; raise it");
	if (why < PVPERF_WORDS)
		pvperf_refusal_note(vm, why, attr);
}

static int open_check(struct pvperf_vm *vm, struct open *open)
{
	int err;

	open->changes = atomic_read_acquire(&vm->changes);
	err = pvperf_policy_check(&vm->policy, &pvperf_offer, &open->attr);
	if (unlikely(err) && err != -KVM_EUSERS)
		open_note_denied(vm, &open->attr, err);
	return err;
}

/* access=exclusive or force: claims the host, and may wait for other VMs. */
static noinline int open_claim(struct pvperf_vcpu *vcpu, struct open *open)
{
	struct pvperf_vm *vm = vcpu->vm;
	bool waits;
	int err = pvperf_claim(vm, &waits) ?: open_check(vm, open);

	if (waits)
		vcpu->waited = vcpu->calls;
	if (err == -KVM_EUSERS)
		pvperf_refusal_note(vm, PVPERF_WORD_ACCESS, &open->attr);
	return err;
}

static int open_admit(struct pvperf_vcpu *vcpu, struct open *open)
{
	int err = open_check(vcpu->vm, open);

	return unlikely(err == -KVM_EUSERS) ? open_claim(vcpu, open) : err;
}

/* ------------------------------------------------------------------ the event */

/* The policy has changed since the event was checked. */
static noinline int open_late(struct pvperf_vcpu *vcpu, struct open *open)
{
	int err = open_check(vcpu->vm, open);

	if (!err)
		return 0;
	pvperf_event_close(pvperf_ids_find(vcpu, open->param.id), PVPERF_END_GONE);
	open->pin = NULL;	/* it was the event's ... */
	open->branches = NULL;	/* ... and so were these, if it had some */
	return err;
}

/* Before anything can close the event. */
static noinline void open_set_branches(struct pvperf_vcpu *vcpu, struct open *open)
{
	pvperf_event_set_branches(vcpu, open->param.id, open->branches);
	pvperf_dirty_pin(vcpu, open->branches->pin);
}

/*
 * Either a change of the policy is seen here, or who changed it sees the event in the VM's number
 * of them, which is raised before this looks.
 */
static int open_event(struct pvperf_vcpu *vcpu, struct open *open)
{
	int err;

	if (!pvperf_policy_has_access(&pvperf_rules_default))
		return -KVM_ENOSYS;
	err = pvperf_event_open(vcpu, &open->param, &open->attr, open->pin);
	if (err)
		return err;
	if (unlikely(open->attr.sample_type))
		open_set_branches(vcpu, open);
	if (likely(atomic_read(&vcpu->vm->changes) == open->changes))
		return 0;
	return open_late(vcpu, open);
}

static int open_locked(struct pvperf_vcpu *vcpu, struct open *open)
{
	int err;

	pvperf_vcpu_enter(vcpu);
	if (likely(vcpu->thread->task == current))
		err = open_event(vcpu, open);
	else
		err = pvperf_vcpu_error(vcpu->vm);
	if (!err)
		pvperf_dirty_pin(vcpu, open->pin);
	pvperf_vcpu_leave(vcpu);
	return err;
}

/* Log once per VM until an OPEN succeeds: guests retry every event. */
static noinline int open_failed(struct pvperf_vm *vm, struct open *open, int err)
{
	/* open_late() has closed the event, and its reason is another one. */
	if (!open->pin)
		return err;
	if (open->attr.sample_type && !IS_ERR_OR_NULL(open->branches))
		pvperf_branches_put(vm, open->branches);
	pvperf_pin_put(vm, open->pin);
	if (err == -KVM_EOPNOTSUPP && !xchg(&vm->pmu_lent_out, true))
		pvperf_refusal_log("the host's PMU is lent to VMs (mediated vPMU); load kvm_amd or kvm_intel with enable_mediated_pmu=0");
	return err;
}

/* A batch ends with an OPEN that may have waited. */
static noinline bool open_pin_branches(struct pvperf_vcpu *vcpu, struct open *open)
{
	open->branches = pvperf_branches_get(vcpu->vm, open->param.branches_addr);
	if (!IS_ERR(open->branches))
		return false;
	vcpu->waited = vcpu->calls;
	return true;
}

static int open_admitted(struct pvperf_vcpu *vcpu, struct open *open)
{
	struct pvperf_vm *vm = vcpu->vm;
	int err;

	pvperf_keep_make(&open->attr);
	open->pin = pvperf_pin_get(vm, open->param.guest_event_addr);
	if (IS_ERR(open->pin))
		return PTR_ERR(open->pin);
	if (unlikely(open->attr.sample_type) && open_pin_branches(vcpu, open))
		return open_failed(vm, open, PTR_ERR(open->branches));
	err = open_locked(vcpu, open);
	if (unlikely(err))
		return open_failed(vm, open, err);
	if (open->attr.type != KVM_PERF_TYPE_SOFTWARE)
		WRITE_ONCE(vm->pmu_lent_out, false);
	return 0;
}

/* The param's last member, which an event with branches has. */
static noinline int open_copy_branches(struct kvm *kvm, struct open *open, u64 addr)
{
	return pvperf_decode_range(addr, sizeof(open->param), 8) ?:
	       pvperf_memory_copy_in(kvm, &open->param.branches_addr,
				     addr + KVM_PERF_PARAM_SIZE_VER0, sizeof(u64)) ?:
	       pvperf_decode_range(open->param.branches_addr,
				   sizeof(struct guest_perf_branches), 8);
}

static int open_copy(struct kvm *kvm, struct open *open, u64 addr, const s32 *id)
{
	int err = pvperf_decode_range(addr, KVM_PERF_PARAM_SIZE_VER0, 8) ?:
		  pvperf_memory_copy_in(kvm, &open->param, addr, KVM_PERF_PARAM_SIZE_VER0);

	if (!err && id && *id != open->param.id)
		err = -KVM_EINVAL;
	if (!err)
		err = pvperf_decode_param(&open->param);
	if (!err)
		err = pvperf_memory_copy_in(kvm, &open->attr, open->param.attr_addr,
					    sizeof(open->attr));
	if (!err)
		err = pvperf_decode_attr(&open->attr);
	if (!err && unlikely(open->attr.sample_type))
		err = open_copy_branches(kvm, open, addr);
	return err;
}

int pvperf_open(struct pvperf_vcpu *vcpu, u64 addr, const s32 *id)
{
	struct pvperf_vm *vm = vcpu->vm;
	struct open open;
	int tries = 1, err = open_pace(vcpu) ?: open_copy(vm->kvm, &open, addr, id);

	if (err)
		return err;
	/* The host may be given back before the event is open, as the VM's last one has ended. */
	do {
		err = open_admit(vcpu, &open);
		if (err)
			return err;
		err = open_admitted(vcpu, &open);
	} while (unlikely(err == -KVM_EUSERS) && vcpu->waited != vcpu->calls && tries--);
	return err;
}
