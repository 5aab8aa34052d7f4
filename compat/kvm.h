/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _PVPERF_COMPAT_KVM_H
#define _PVPERF_COMPAT_KVM_H

/*
 * What the host's module knows about the meaning of KVM's own data, as core.h has it of
 * perf core: each inline names KVM's function and what it relies on. What KVM exports with
 * a contract (kvm_get_kvm(), kvm_make_request(), kvm->srcu, kvm->mm) is not here.
 */

#include <linux/kvm_host.h>
#include <linux/version.h>

/*
 * The general registers of a vCPU that has left the guest. @kvcpu: the vCPU, by its own thread.
 * kvm_register_read() fetches only RSP and RIP late (kvm_register_is_available()). The others are
 * in .regs at each exit, and the next entry loads them from there. Returns the registers by
 * VCPU_REGS_RAX and so on, of 64 bits in each mode.
 */
static __always_inline unsigned long *pvperf_kvm_regs(const struct kvm_vcpu *kvcpu)
{
	return (unsigned long *)kvcpu->arch.regs;
}

/*
 * Is a vCPU's state hidden from the host? svm/sev.c sets .guest_state_protected for good when it
 * launches a VM with SEV-ES or SEV-SNP, vmx/tdx.c when it creates a vCPU; .regs has no meaning
 * then.
 */
static inline bool pvperf_kvm_is_protected(const struct kvm_vcpu *kvcpu)
{
	return kvcpu->arch.guest_state_protected;
}

/*
 * Can a guest have KVM take a vCPU's hypercalls for Hyper-V's? kvm_hv_set_cpuid() sets
 * .hyperv_enabled, which no other vCPU's thread can call in KVM_RUN. Any context.
 */
static __always_inline bool pvperf_kvm_may_be_hyperv(const struct kvm_vcpu *kvcpu)
{
#if defined(CONFIG_KVM_HYPERV) || LINUX_VERSION_CODE < KERNEL_VERSION(6, 8, 0)
	return kvcpu->arch.hyperv_enabled;
#else
	return false;
#endif
}

/*
 * Does KVM take a vCPU's hypercalls for Hyper-V's? @kvcpu: a vCPU that may be so.
 * kvm_hv_hypercall_enabled() of hyperv.h: any vCPU of the guest sets the id, for all, at any time.
 * KVM then looks for the number in another register than RAX. Any context.
 */
static __always_inline bool pvperf_kvm_is_hyperv(const struct kvm_vcpu *kvcpu)
{
#if defined(CONFIG_KVM_HYPERV) || LINUX_VERSION_CODE < KERNEL_VERSION(6, 8, 0)
	return READ_ONCE(kvcpu->kvm->arch.hyperv.hv_guest_os_id);
#else
	return false;
#endif
}

/*
 * Does a vCPU run a guest of its guest's? @kvcpu: the vCPU, by its own thread. is_guest_mode(),
 * which is in a header of KVM's own: enter_guest_mode() sets the flag, leave_guest_mode() takes it
 * away.
 */
static inline bool pvperf_kvm_is_nested(const struct kvm_vcpu *kvcpu)
{
	return kvcpu->arch.hflags & HF_GUEST_MASK;
}

/*
 * Is a vCPU in real mode, as after a reset? CR0.PE is never the guest's own bit
 * (KVM_POSSIBLE_CR0_GUEST_BITS), so KVM's copy of CR0, which kvm_set_cr0() and kvm_vcpu_reset()
 * write, always has it. Any context, NMI included.
 */
static inline bool pvperf_kvm_is_real_mode(const struct kvm_vcpu *kvcpu)
{
	return !(kvcpu->arch.cr0 & X86_CR0_PE);
}

/*
 * Have a vCPU take an NMI at its next entry. The two lines that kvm_inject_nmi() consists of;
 * newer kernels don't export it. process_nmi() takes up to two from .nmi_queued. Any context, NMI
 * included.
 */
static inline void pvperf_kvm_nmi(struct kvm_vcpu *kvcpu)
{
	atomic_inc(&kvcpu->arch.nmi_queued);
	kvm_make_request(KVM_REQ_NMI, kvcpu);
}

/*
 * Has the interrupt that is being handled made a vCPU leave the guest? @kvcpu: the vCPU, which
 * this CPU runs. kvm_before_interrupt() sets .handling_intr_from_guest, kvm_after_interrupt()
 * clears it. Any context, NMI included. Returns true if so: KVM looks at its requests after the
 * handler.
 */
static inline bool pvperf_kvm_has_left(const struct kvm_vcpu *kvcpu)
{
	return READ_ONCE(kvcpu->arch.handling_intr_from_guest);
}

/*
 * Which vCPU does the current thread run? vcpu_load() registers the vCPU's preempt notifier with
 * the thread, vcpu_put() takes it away. KVM_RUN is between them, and so are other ioctls, for a
 * moment. Nobody else has notifiers. Any context, NMI included. Returns the vCPU; NULL in the VMM's
 * own code.
 */
static inline const struct kvm_vcpu *pvperf_kvm_running(void)
{
	struct hlist_node *first = READ_ONCE(current->preempt_notifiers.first);

	return first ? container_of(first, struct kvm_vcpu, preempt_notifier.link) : NULL;
}

/*
 * The number of a vCPU in its VM. kvm_vm_ioctl_create_vcpu() counts up .vcpu_idx, and no vCPU
 * leaves its VM before that ends. Returns below KVM_MAX_VCPUS, and no other vCPU's.
 */
static inline unsigned int pvperf_kvm_index(const struct kvm_vcpu *kvcpu)
{
	return kvcpu->vcpu_idx;
}

/*
 * What KVM adds to the scaled TSC for a vCPU. kvm_vcpu_write_tsc_offset() keeps .l1_tsc_offset for
 * the guest itself, also while a guest of its own has another. Returns the offset, modulo 2^64.
 */
static inline u64 pvperf_kvm_tsc_offset(const struct kvm_vcpu *kvcpu)
{
	return kvcpu->arch.l1_tsc_offset;
}

/*
 * What KVM multiplies the TSC with for a vCPU. kvm_vcpu_write_tsc_multiplier() sets
 * .l1_tsc_scaling_ratio. Its binary places are kvm_caps.tsc_scaling_ratio_frac_bits: of VMX 48;
 * of SVM 32, but 0, and the ratio 1, if the CPU does not scale.
 */
static inline u64 pvperf_kvm_tsc_ratio(const struct kvm_vcpu *kvcpu)
{
	return kvcpu->arch.l1_tsc_scaling_ratio;
}

/*
 * A number that changes with each change of a VM's memory. @kvm: the VM, which has not ended.
 * kvm_swap_active_memslots() installs a set with a higher .generation; to begin or end a log of
 * dirty pages is such a change. Both sets lie in struct kvm, so an old pointer to one can still be
 * read. Any context, NMI included.
 */
static inline u64 pvperf_kvm_generation(const struct kvm *kvm)
{
	return READ_ONCE(rcu_access_pointer(kvm->memslots[0])->generation);
}

/*
 * Where the VMM has a page of the guest's. @gfn: the page's number; @write: whether the guest may
 * write to it, too. Slots from KVM_USER_MEM_SLOTS on are KVM's own (its TSS, an identity map, the
 * APIC's page on Intel), and none of the guest's. kvm_invalidate_memslot() marks one that goes.
 * kvm->srcu is held. Returns the address, or 0.
 */
static inline unsigned long pvperf_kvm_hva(struct kvm *kvm, gfn_t gfn, bool write)
{
	struct kvm_memory_slot *slot = __gfn_to_memslot(kvm_memslots(kvm), gfn);

	if (!slot || slot->id >= KVM_USER_MEM_SLOTS || slot->flags & KVM_MEMSLOT_INVALID ||
	    (write && slot->flags & KVM_MEM_READONLY))
		return 0;
	return __gfn_to_hva_memslot(slot, gfn);
}

/*
 * Enter a page into the log of dirty pages, if there is one. @gfn: the page's number. What
 * mark_page_dirty_in_slot() does, which newer kernels don't export to us: the log is
 * .dirty_bitmap, from the slot's first page on. Dirty rings are another log. kvm->srcu is held.
 * Returns true if there is one.
 */
static inline bool pvperf_kvm_log(struct kvm *kvm, gfn_t gfn)
{
	struct kvm_memory_slot *slot = __gfn_to_memslot(kvm_memslots(kvm), gfn);

	if (!slot || !slot->dirty_bitmap)
		return false;
	set_bit_le(gfn - slot->base_gfn, slot->dirty_bitmap);
	return true;
}

#endif /* _PVPERF_COMPAT_KVM_H */
