// SPDX-License-Identifier: GPL-2.0
/*
 * From a guest-physical address to memory. KVM's room: only this file reads memory
 * slots, by the inlines of kvm_host.h, which need no export.
 *
 * Pages are pinned with FOLL_LONGTERM: a page neither moves nor is swapped while the
 * host counts into it, from NMI context as well. If userspace drops the mapping, the
 * host writes to a page that nobody sees, which is harmless.
 */
#include <linux/err.h>
#include <linux/kvm_host.h>
#include <linux/kvm_pvperf.h>
#include <linux/mm.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include "page.h"
#include "state.h"

/* 0: there is no memory, or @write is set and the guest may not write to it. */
static unsigned long page_hva(struct kvm *kvm, u64 gpa, bool write)
{
	struct kvm_memory_slot *slot;
	unsigned long hva = 0;
	int idx;

	idx = srcu_read_lock(&kvm->srcu);
	slot = __gfn_to_memslot(kvm_memslots(kvm), gpa >> PAGE_SHIFT);
	if (slot && !(slot->flags & KVM_MEMSLOT_INVALID) &&
	    !(write && (slot->flags & KVM_MEM_READONLY)))
		hva = __gfn_to_hva_memslot(slot, gpa >> PAGE_SHIFT);
	srcu_read_unlock(&kvm->srcu, idx);
	return hva ? hva + (gpa & ~PAGE_MASK) : 0;
}

static struct pvperf_page *page_pin(struct kvm *kvm, u64 gpa)
{
	unsigned long hva = page_hva(kvm, gpa & PAGE_MASK, true);
	struct pvperf_page *page;

	if (!hva)
		return ERR_PTR(-KVM_EFAULT);
	page = kzalloc(sizeof(*page), GFP_KERNEL_ACCOUNT);
	if (!page)
		return ERR_PTR(-KVM_ENOMEM);
	if (pin_user_pages_fast(hva, 1, FOLL_WRITE | FOLL_LONGTERM,
				&page->page) != 1) {
		kfree(page);
		return ERR_PTR(-KVM_EFAULT);
	}
	page->gfn = gpa >> PAGE_SHIFT;
	page->address = page_address(page->page);
	return page;
}

/* vm->lock is held. */
static struct pvperf_page *page_get(struct pvperf_vm *vm, u64 gpa, u32 max)
{
	struct pvperf_page *page;
	int err;

	page = xa_load(&vm->pages, gpa >> PAGE_SHIFT);
	if (page) {
		page->refs++;
		return page;
	}
	if (vm->nr_pages >= max)
		return ERR_PTR(-KVM_ENOSPC);
	page = page_pin(vm->kvm, gpa);
	if (IS_ERR(page))
		return page;
	err = xa_err(xa_store(&vm->pages, page->gfn, page, GFP_KERNEL_ACCOUNT));
	if (err) {
		unpin_user_page(page->page);
		kfree(page);
		return ERR_PTR(-KVM_ENOMEM);
	}
	page->refs = 1;
	vm->nr_pages++;
	return page;
}

struct pvperf_page *pvperf_page_get(struct pvperf_vm *vm, u64 gpa, u32 max)
{
	struct pvperf_page *page;

	mutex_lock(&vm->lock);
	page = page_get(vm, gpa, max);
	mutex_unlock(&vm->lock);
	return page;
}

/* vm->lock is held. */
static void page_put(struct pvperf_vm *vm, struct pvperf_page *page)
{
	if (--page->refs)
		return;
	xa_erase(&vm->pages, page->gfn);
	vm->nr_pages--;
	unpin_user_pages_dirty_lock(&page->page, 1, true);
	kfree(page);
}

void pvperf_page_put(struct pvperf_vm *vm, struct pvperf_page *page)
{
	mutex_lock(&vm->lock);
	page_put(vm, page);
	mutex_unlock(&vm->lock);
}

int pvperf_page_copy_in(struct kvm *kvm, void *to, u64 gpa, u32 len)
{
	unsigned long hva = page_hva(kvm, gpa, false);

	if (!hva || copy_from_user(to, (void __user *)hva, len))
		return -KVM_EFAULT;
	return 0;
}

int pvperf_page_copy_out(struct kvm *kvm, u64 gpa, const void *from, u32 len)
{
	unsigned long hva = page_hva(kvm, gpa, true);

	if (!hva || copy_to_user((void __user *)hva, from, len))
		return -KVM_EFAULT;
	return 0;
}
