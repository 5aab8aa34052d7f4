// SPDX-License-Identifier: GPL-2.0
/*
 * Pages that guests have given. KVM's room.
 *
 * Pages are pinned with FOLL_LONGTERM: a page neither moves nor is swapped while the
 * host counts into it, from NMI context as well. If userspace drops the mapping, the
 * host writes to a page that nobody sees, which is harmless.
 */
#include <linux/capability.h>
#include <linux/err.h>
#include <linux/kvm_host.h>
#include <linux/kvm_pvperf.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/pagemap.h>
#include <linux/rbtree.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include "../compat/symbol.h"
#include "memory.h"
#include "pin.h"
#include "refusal.h"
#include "state.h"

static const atomic_long_t not_known = ATOMIC_LONG_INIT(1);
const atomic_long_t *pvperf_pin_poison __ro_after_init = &not_known;

void pvperf_pin_init(void)
{
	pvperf_pin_poison = pvperf_symbol_data("num_poisoned_pages") ?: &not_known;
}

bool __pvperf_pin_poisoned(const void *at)
{
	struct page *page = virt_to_page(at);

	return PageHWPoison(page) || folio_test_hwpoison(page_folio(page));
}

/* -------------------------------------------------------------------- charging */

/*
 * One pinned page keeps its whole transparent huge page where it is, so that is what the
 * VM is charged for, once. A page of hugetlb is charged as small pages: it is set aside
 * for its owner, and never split or swapped anyway. A small page that a VM has at two
 * addresses is charged twice, as it is pinned twice.
 */

/* A folio of several pages. While one of them is pinned, nobody can split the folio. */
struct hold {
	struct rb_node node;		/* in pvperf_vm.folios */
	struct folio *folio;
	u32 pins;
};

static u32 hold_size(struct folio *folio)
{
	return folio_test_hugetlb(folio) ? 1 : folio_nr_pages(folio);
}

/* The process's own limit, as RDMA and others who pin obey it. */
static bool hold_charge(struct mm_struct *mm, u32 n)
{
	u64 limit = rlimit(RLIMIT_MEMLOCK) >> PAGE_SHIFT;

	if (atomic64_add_return(n, &mm->pinned_vm) <= limit ||
	    ns_capable_noaudit(&init_user_ns, CAP_IPC_LOCK))
		return true;
	atomic64_sub(n, &mm->pinned_vm);
	return false;
}

static int hold_order(const void *folio, const struct rb_node *node)
{
	const struct hold *hold = rb_entry(node, struct hold, node);

	return folio < (void *)hold->folio ? -1 : folio > (void *)hold->folio;
}

static bool hold_less(struct rb_node *node, const struct rb_node *other)
{
	return hold_order(rb_entry(node, struct hold, node)->folio, other) < 0;
}

static struct hold *hold_find(struct pvperf_vm *vm, struct folio *folio)
{
	return rb_entry_safe(rb_find(folio, &vm->folios, hold_order), struct hold, node);
}

/* The first pin of a large folio. */
static bool hold_add(struct pvperf_vm *vm, struct folio *folio)
{
	struct hold *hold = kmalloc(sizeof(*hold), GFP_KERNEL_ACCOUNT);

	if (!hold)
		return false;
	hold->folio = folio;
	hold->pins = 1;
	rb_add(&hold->node, &vm->folios, hold_less);
	return true;
}

static void hold_give_back(struct pvperf_vm *vm, u32 n)
{
	WRITE_ONCE(vm->charged, vm->charged - n);
	atomic64_sub(n, &vm->mm->pinned_vm);
}

static bool hold_take(struct pvperf_vm *vm, u32 n)
{
	WRITE_ONCE(vm->charged, vm->charged + n);
	/* Either the admin's smaller limit is seen here, or vm_has_too_much() sees .charged. */
	smp_mb();
	if (vm->charged <= pvperf_policy_word(&vm->policy, PVPERF_WORD_MAX_PAGES) &&
	    hold_charge(vm->mm, n))
		return true;
	WRITE_ONCE(vm->charged, vm->charged - n);
	return false;
}

/* noinline, and so the next: pins that are shared save no registers for them. */
static noinline int pin_charge(struct pvperf_vm *vm, struct page *page)
{
	struct folio *folio = page_folio(page);
	struct hold *hold = hold_find(vm, folio);
	u32 n = hold_size(folio);

	lockdep_assert_held(&vm->lock);
	if (hold) {
		hold->pins++;
		return 0;
	}
	if (!hold_take(vm, n))
		return -KVM_ENOSPC;
	if (n > 1 && !hold_add(vm, folio)) {
		hold_give_back(vm, n);
		return -KVM_ENOMEM;
	}
	return 0;
}

static noinline void pin_uncharge(struct pvperf_vm *vm, struct page *page)
{
	struct folio *folio = page_folio(page);
	struct hold *hold = hold_find(vm, folio);
	u32 n = hold_size(folio);

	lockdep_assert_held(&vm->lock);
	if (hold && --hold->pins)
		return;
	if (hold)
		rb_erase(&hold->node, &vm->folios);
	kfree(hold);
	hold_give_back(vm, n);
}

/*
 * Memory that may be written to behind its owner's back, and has no owner who writes
 * it to a disk: anonymous, shmem, hugetlb. Older kernels pin a file's pages, too.
 */
static bool pin_may_stay(struct page *page)
{
	struct folio *folio = page_folio(page);

	return folio_test_anon(folio) || folio_test_swapbacked(folio) ||
	       folio_test_hugetlb(folio);
}

#define PIN_TRIES	3

/*
 * A fault may wait for a process for as long as that likes (userfaultfd, FUSE). So a
 * fault is taken only if there must be one, with none of our locks held, and with a
 * reference on the module: rmmod fails at once then, instead of waiting. Pinning would take
 * it with mmap_lock held on 6.1, where no signal ends it. The first try may wait for mmap_lock,
 * which a process can hold for long (an mmap() of FUSE's). It holds no reference: a guest that
 * attaches page after page would hold one most of the time, and rmmod would fail.
 */
static bool pin_page(unsigned long hva, struct page **page)
{
	const unsigned int flags = FOLL_WRITE | FOLL_LONGTERM | FOLL_NOFAULT;
	bool done = pin_user_pages_fast(hva, 1, flags, page) == 1;
	int tries;

	if (!done && try_module_get(THIS_MODULE)) {
		/* It may be reclaimed at once, but hardly again and again. */
		for (tries = 0; !done && tries < PIN_TRIES; tries++)
			done = !fault_in_safe_writeable((const char __user *)hva, PAGE_SIZE) &&
			       pin_user_pages_fast(hva, 1, flags, page) == 1;
		module_put(THIS_MODULE);
	}
	if (done && !pin_may_stay(*page)) {
		unpin_user_page(*page);
		done = false;
	}
	return done;
}

static struct pvperf_pin *pin_new(struct kvm *kvm, u64 gpa)
{
	unsigned long hva = pvperf_memory_hva(kvm, gpa & PAGE_MASK, true);
	struct pvperf_pin *pin;
	struct page *pinned;

	if (!hva)
		return ERR_PTR(-KVM_EFAULT);
	pin = kzalloc(sizeof(*pin), GFP_KERNEL_ACCOUNT);
	if (!pin)
		return ERR_PTR(-KVM_ENOMEM);
	if (!pin_page(hva, &pinned)) {
		kfree(pin);
		return ERR_PTR(-KVM_EFAULT);
	}
	pin->gfn = gpa >> PAGE_SHIFT;
	pin->hva = hva;
	pin->address = page_address(pinned);
	pin->unlogged = ~0ULL;
	pin->refs = 1;
	return pin;
}

/*
 * What pin_may_stay() allows has no file system that must know of the write, so
 * the flag is all there is to set; set_page_dirty_lock() could sleep on a lock.
 */
static void pin_free(struct pvperf_pin *pin)
{
	struct page *pinned = virt_to_page(pin->address);

	folio_set_dirty(page_folio(pinned));
	unpin_user_page(pinned);
	kfree(pin);
}

static int pin_order(const void *gfn, const struct rb_node *node)
{
	const struct pvperf_pin *pin = rb_entry(node, struct pvperf_pin, node);

	return *(const u64 *)gfn < pin->gfn ? -1 : *(const u64 *)gfn > pin->gfn;
}

static bool pin_less(struct rb_node *node, const struct rb_node *other)
{
	return pin_order(&rb_entry(node, struct pvperf_pin, node)->gfn, other) < 0;
}

static struct pvperf_pin *pin_find(struct pvperf_vm *vm, u64 gfn)
{
	return rb_entry_safe(rb_find(&gfn, &vm->pages, pin_order), struct pvperf_pin, node);
}

static bool pin_is_there(struct pvperf_vm *vm, const struct pvperf_pin *pin)
{
	return pvperf_memory_hva(vm->kvm, pin->gfn << PAGE_SHIFT, true) == pin->hva;
}

bool pvperf_pin_is_there(struct pvperf_vm *vm, const struct pvperf_pin *pin)
{
	bool there;

	rcu_read_lock();
	there = pvperf_vm_has_kvm(vm) && pin_is_there(vm, pin);
	rcu_read_unlock();
	return there;
}

void pvperf_pin_log(struct pvperf_vm *vm, const struct pvperf_pin *pin)
{
	rcu_read_lock();
	if (pvperf_vm_has_kvm(vm))
		pvperf_memory_log(vm->kvm, pin->gfn);
	rcu_read_unlock();
}

/*
 * The page that the VM has pinned there, with one more reference; NULL if there is
 * none. The slot may have another address since, as for a poisoned page: that is an error as
 * long as the old page has a user.
 */
static struct pvperf_pin *pin_again(struct pvperf_vm *vm, u64 gpa)
{
	struct pvperf_pin *pin = pin_find(vm, gpa >> PAGE_SHIFT);

	lockdep_assert_held(&vm->lock);
	if (!pin)
		return NULL;
	if (!pin_is_there(vm, pin) || pvperf_pin_poisoned(pin->address))
		return ERR_PTR(-KVM_EFAULT);
	pin->refs++;
	return pin;
}

static struct pvperf_pin *pin_add(struct pvperf_vm *vm, struct pvperf_pin *pin)
{
	int err = pin_charge(vm, virt_to_page(pin->address));

	if (err)
		return ERR_PTR(err);
	rb_add(&pin->node, &vm->pages, pin_less);
	vm->nr_pages++;
	return pin;
}

/* Log once per VM: guests try again and again. */
static void pin_refused(struct pvperf_vm *vm)
{
	pvperf_refusal_note(vm, PVPERF_WORD_MAX_PAGES, NULL);
	if (!xchg(&vm->pins_refused, true))
		pvperf_refusal_log("its pins would hold more memory than max_pages, or the process's limit of locked memory (ulimit -l), allow; a transparent huge page is held as a whole");
}

/*
 * Another vCPU may pin the same page meanwhile: the first one in is taken. Most OPENs are in a page
 * that is pinned already.
 */
static noinline struct pvperf_pin *pin_get_new(struct pvperf_vm *vm, u64 gpa)
{
	struct pvperf_pin *fresh = pin_new(vm->kvm, gpa), *pin;

	if (IS_ERR(fresh))
		return fresh;
	mutex_lock(&vm->lock);
	pin = pin_again(vm, gpa) ?: pin_add(vm, fresh);
	mutex_unlock(&vm->lock);
	if (pin != fresh)
		pin_free(fresh);
	if (pin == ERR_PTR(-KVM_ENOSPC))
		pin_refused(vm);
	return pin;
}

struct pvperf_pin *pvperf_pin_get(struct pvperf_vm *vm, u64 gpa)
{
	struct pvperf_pin *pin;

	mutex_lock(&vm->lock);
	pin = pin_again(vm, gpa);
	mutex_unlock(&vm->lock);
	return pin ?: pin_get_new(vm, gpa);
}

void pvperf_pin_put(struct pvperf_vm *vm, struct pvperf_pin *pin)
{
	bool last;

	mutex_lock(&vm->lock);
	last = !--pin->refs;
	if (last) {
		pin_uncharge(vm, virt_to_page(pin->address));
		rb_erase(&pin->node, &vm->pages);
		vm->nr_pages--;
	}
	mutex_unlock(&vm->lock);
	if (last)
		pin_free(pin);
}
