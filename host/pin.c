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
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include "../compat/kvm.h"
#include "../compat/symbol.h"
#include "hold.h"
#include "page.h"
#include "state.h"

static const atomic_long_t not_known = ATOMIC_LONG_INIT(1);
const atomic_long_t *pvperf_page_poison __ro_after_init = &not_known;

void pvperf_page_init(void)
{
	pvperf_page_poison = pvperf_symbol_data("num_poisoned_pages") ?: &not_known;
}

bool pvperf_page_look(const void *at)
{
	struct page *page = virt_to_page(at);

	return PageHWPoison(page) || folio_test_hwpoison(page_folio(page));
}

/* 0: there is no memory, or @write is set and the guest may not write to it. */
static unsigned long page_hva(struct kvm *kvm, u64 gpa, bool write)
{
	int idx = srcu_read_lock(&kvm->srcu);
	unsigned long hva = pvperf_kvm_hva(kvm, gpa >> PAGE_SHIFT, write);

	srcu_read_unlock(&kvm->srcu, idx);
	return hva ? hva + (gpa & ~PAGE_MASK) : 0;
}

bool pvperf_page_dirty(struct kvm *kvm, u64 gfn)
{
	int idx = srcu_read_lock(&kvm->srcu);
	bool logged = pvperf_kvm_log(kvm, gfn);

	srcu_read_unlock(&kvm->srcu, idx);
	return logged;
}

/*
 * Memory that may be written to behind its owner's back, and has no owner who writes
 * it to a disk: anonymous, shmem, hugetlb. Older kernels pin a file's pages, too.
 */
static bool page_may_stay(struct page *page)
{
	struct folio *folio = page_folio(page);

	return folio_test_anon(folio) || folio_test_swapbacked(folio) ||
	       folio_test_hugetlb(folio);
}

/*
 * A fault may wait for a process for as long as that likes (userfaultfd, FUSE). So a
 * fault is taken only if there must be one, with none of our locks held, and with a
 * reference on the module: rmmod fails at once then, instead of waiting.
 */
static bool page_pin_one(unsigned long hva, struct page **page)
{
	unsigned int flags = FOLL_WRITE | FOLL_LONGTERM;
	bool done = pin_user_pages_fast(hva, 1, flags | FOLL_NOFAULT, page) == 1;

	if (!done && try_module_get(THIS_MODULE)) {
		done = pin_user_pages_fast(hva, 1, flags, page) == 1;
		module_put(THIS_MODULE);
	}
	if (done && !page_may_stay(*page)) {
		unpin_user_page(*page);
		done = false;
	}
	return done;
}

static struct pvperf_page *page_pin(struct kvm *kvm, u64 gpa)
{
	unsigned long hva = page_hva(kvm, gpa & PAGE_MASK, true);
	struct pvperf_page *page;
	struct page *pinned;

	if (!hva)
		return ERR_PTR(-KVM_EFAULT);
	page = kzalloc(sizeof(*page), GFP_KERNEL_ACCOUNT);
	if (!page)
		return ERR_PTR(-KVM_ENOMEM);
	if (!page_pin_one(hva, &pinned)) {
		kfree(page);
		return ERR_PTR(-KVM_EFAULT);
	}
	page->gfn = gpa >> PAGE_SHIFT;
	page->hva = hva;
	page->address = page_address(pinned);
	page->refs = 1;
	return page;
}

/*
 * What page_may_stay() allows has no file system that must know of the write, so
 * the flag is all there is to set; set_page_dirty_lock() could sleep on a lock.
 */
static void page_unpin(struct pvperf_page *page)
{
	struct page *pinned = virt_to_page(page->address);

	folio_set_dirty(page_folio(pinned));
	unpin_user_page(pinned);
	kfree(page);
}

static int page_order(const void *gfn, const struct rb_node *node)
{
	const struct pvperf_page *page = rb_entry(node, struct pvperf_page, node);

	return *(const u64 *)gfn < page->gfn ? -1 : *(const u64 *)gfn > page->gfn;
}

static bool page_less(struct rb_node *node, const struct rb_node *other)
{
	return page_order(&rb_entry(node, struct pvperf_page, node)->gfn, other) < 0;
}

static struct pvperf_page *page_find(struct pvperf_vm *vm, u64 gfn)
{
	return rb_entry_safe(rb_find(&gfn, &vm->pages, page_order), struct pvperf_page, node);
}

/*
 * The page that the VM has pinned there, with one more reference; NULL if there is
 * none. Userspace may have put other memory there since, as it does for a poisoned
 * page, too: that is an error as long as the old page has a user.
 */
static struct pvperf_page *page_again(struct pvperf_vm *vm, u64 gpa)
{
	struct pvperf_page *page = page_find(vm, gpa >> PAGE_SHIFT);

	lockdep_assert_held(&vm->lock);
	if (!page)
		return NULL;
	if (page_hva(vm->kvm, gpa & PAGE_MASK, true) != page->hva ||
	    pvperf_page_poisoned(page->address))
		return ERR_PTR(-KVM_EFAULT);
	page->refs++;
	return page;
}

static struct pvperf_page *page_add(struct pvperf_vm *vm, struct pvperf_page *page, u32 max)
{
	int err = pvperf_hold(vm, virt_to_page(page->address), max);

	if (err)
		return ERR_PTR(err);
	rb_add(&page->node, &vm->pages, page_less);
	vm->nr_pages++;
	return page;
}

/* Another vCPU may pin the same page meanwhile: the first one in is taken. */
static struct pvperf_page *page_new(struct pvperf_vm *vm, u64 gpa, u32 max)
{
	struct pvperf_page *fresh = page_pin(vm->kvm, gpa), *page;

	if (IS_ERR(fresh))
		return fresh;
	mutex_lock(&vm->lock);
	page = page_again(vm, gpa) ?: page_add(vm, fresh, max);
	mutex_unlock(&vm->lock);
	if (page != fresh)
		page_unpin(fresh);
	return page;
}

struct pvperf_page *pvperf_page_get(struct pvperf_vm *vm, u64 gpa, u32 max)
{
	struct pvperf_page *page;

	mutex_lock(&vm->lock);
	page = page_again(vm, gpa);
	mutex_unlock(&vm->lock);
	return page ?: page_new(vm, gpa, max);
}

void pvperf_page_put(struct pvperf_vm *vm, struct pvperf_page *page)
{
	bool last;

	mutex_lock(&vm->lock);
	last = !--page->refs;
	if (last) {
		pvperf_unhold(vm, virt_to_page(page->address));
		rb_erase(&page->node, &vm->pages);
		vm->nr_pages--;
	}
	mutex_unlock(&vm->lock);
	if (last)
		page_unpin(page);
}

int pvperf_page_copy_in(struct kvm *kvm, void *to, u64 gpa, u32 len)
{
	const void __user *from = (void __user *)page_hva(kvm, gpa, false);
	unsigned long left = len;

	if (!from)
		return -KVM_EFAULT;
	if (!copy_from_user_nofault(to, from, len))
		return 0;
	if (try_module_get(THIS_MODULE)) {
		left = copy_from_user(to, from, len);
		module_put(THIS_MODULE);
	}
	return left ? -KVM_EFAULT : 0;
}

int pvperf_page_copy_out(struct kvm *kvm, u64 gpa, const void *from, u32 len)
{
	void __user *to = (void __user *)page_hva(kvm, gpa, true);
	unsigned long left = len;

	if (!to)
		return -KVM_EFAULT;
	if (!copy_to_user_nofault(to, from, len)) {
		left = 0;
	} else if (try_module_get(THIS_MODULE)) {
		left = copy_to_user(to, from, len);
		module_put(THIS_MODULE);
	}
	if (left)
		return -KVM_EFAULT;
	pvperf_page_dirty(kvm, gpa >> PAGE_SHIFT);
	return 0;
}
