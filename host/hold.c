// SPDX-License-Identifier: GPL-2.0
/*
 * Charges VMs for what their pins hold. Knows neither KVM nor perf.
 *
 * One pinned page keeps its whole transparent huge page where it is, so that is what the
 * VM is charged for, once. A page of hugetlb is charged as small pages: it is set aside
 * for its owner, and never split or swapped anyway. A small page that a VM has at two
 * addresses is charged twice, as it is pinned twice.
 */
#include <linux/capability.h>
#include <linux/kvm_pvperf.h>
#include <linux/mm.h>
#include <linux/rbtree.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include "hold.h"
#include "state.h"

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

static void hold_remove(struct pvperf_vm *vm, struct hold *hold)
{
	rb_erase(&hold->node, &vm->folios);
	kfree(hold);
}

static void hold_give_back(struct pvperf_vm *vm, u32 n)
{
	WRITE_ONCE(vm->held, vm->held - n);
	atomic64_sub(n, &vm->mm->pinned_vm);
}

static bool hold_take(struct pvperf_vm *vm, u32 n)
{
	WRITE_ONCE(vm->held, vm->held + n);
	/* Either the admin's smaller limit is seen here, or vm_has_too_much() sees .held. */
	smp_mb();
	if (vm->held <= pvperf_policy_word(&vm->policy, PVPERF_WORD_MAX_PAGES) &&
	    hold_charge(vm->mm, n))
		return true;
	WRITE_ONCE(vm->held, vm->held - n);
	return false;
}

int pvperf_hold(struct pvperf_vm *vm, struct page *page)
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

void pvperf_unhold(struct pvperf_vm *vm, struct page *page)
{
	struct folio *folio = page_folio(page);
	struct hold *hold = hold_find(vm, folio);
	u32 n = hold_size(folio);

	lockdep_assert_held(&vm->lock);
	if (hold && --hold->pins)
		return;
	if (hold)
		hold_remove(vm, hold);
	hold_give_back(vm, n);
}
