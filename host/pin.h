/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _PVPERF_HOST_PAGE_H
#define _PVPERF_HOST_PAGE_H

/*
 * Guest memory: pages that a guest has given until it closes what lies in them
 * (pinned, counted, shared by several events), and copies of a call's arguments.
 */

#include <linux/atomic.h>
#include <linux/rbtree.h>
#include <linux/types.h>

struct kvm;
struct pvperf_vm;

/**
 * pvperf_page_init() - find the kernel's count of poisoned pages; at load
 */
void pvperf_page_init(void);

/**
 * struct pvperf_page - a pinned page of a guest
 * @node: in pvperf_vm.pages, by @gfn
 * @gfn: its guest frame number
 * @hva: where userspace had it when it was pinned
 * @address: where the host has it mapped
 * @refs: number of users, under pvperf_vm.lock
 */
struct pvperf_page {
	struct rb_node node;
	u64 gfn;
	unsigned long hva;
	void *address;
	u32 refs;
};

/**
 * pvperf_page_get() - pin a page, or take one more reference
 * @vm: the VM; takes its lock
 * @gpa: any guest-physical address in the page
 * @max: how many pages the VM's pins may hold, see hold.h
 *
 * May wait for userspace without limit, so the caller holds no lock of ours.
 *
 * Context: a vCPU's thread.
 * Return: the page, or ERR_PTR(-KVM_E*).
 */
struct pvperf_page *pvperf_page_get(struct pvperf_vm *vm, u64 gpa, u32 max);

/**
 * pvperf_page_put() - give a reference back; any process context
 * @vm: the VM; takes its lock
 * @page: is unpinned and freed with its last reference
 */
void pvperf_page_put(struct pvperf_vm *vm, struct pvperf_page *page);

/* How many poisoned pages the whole host has; above 0 if that is not known. */
extern const atomic_long_t *pvperf_page_poison;

/* pvperf_page_poisoned() on a host that has any. */
bool pvperf_page_look(const void *at);

/**
 * pvperf_page_poisoned() - has the hardware lost a page's content? Any context
 * @at: where the host sees it
 *
 * The memory may then not be read or written: the kernel removes its own mapping of it.
 * A huge page counts as poisoned if its first page is. Cheap on a host without any.
 *
 * Return: true if it has.
 */
static inline bool pvperf_page_poisoned(const void *at)
{
	return unlikely(atomic_long_read(pvperf_page_poison)) && pvperf_page_look(at);
}

/**
 * pvperf_page_copy_in() - copy from a guest, in a vCPU's thread
 * @kvm: the VM
 * @to: where to
 * @gpa: guest-physical; does not cross a page's end
 * @len: how many bytes
 *
 * May wait for userspace without limit, so the caller holds no lock of ours.
 *
 * Return: 0 or -KVM_EFAULT.
 */
int pvperf_page_copy_in(struct kvm *kvm, void *to, u64 gpa, u32 len);

/**
 * pvperf_page_copy_out() - copy to a guest, in a vCPU's thread
 * @kvm: the VM
 * @gpa: guest-physical; does not cross a page's end
 * @from: where from
 * @len: how many bytes
 *
 * May wait for userspace without limit, so the caller holds no lock of ours.
 *
 * Return: 0 or -KVM_EFAULT.
 */
int pvperf_page_copy_out(struct kvm *kvm, u64 gpa, const void *from, u32 len);

/**
 * pvperf_page_dirty() - enter a page into KVM's log of dirty pages
 * @kvm: the VM, which has not ended
 * @gfn: the guest frame number of a page that the host has written to
 *
 * The log is the bitmap of a memory slot. To push into a dirty ring, which userspace may
 * have instead, takes a running vCPU and a function that newer kernels keep for KVM; then
 * the guest bears it, which takes nothing from the memory of a host side that is gone.
 *
 * Context: any but NMI.
 * Return: false if there is no such log.
 */
bool pvperf_page_dirty(struct kvm *kvm, u64 gfn);

/**
 * pvperf_page_at() - where the host sees an address in a pinned page
 * @page: the page
 * @gpa: guest-physical
 *
 * Return: the host's address.
 */
static inline void *pvperf_page_at(const struct pvperf_page *page, u64 gpa)
{
	return page->address + (gpa & 4095);
}

#endif /* _PVPERF_HOST_PAGE_H */
