/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _PVPERF_HOST_PIN_H
#define _PVPERF_HOST_PIN_H

/*
 * Pages that a guest has given until it closes what lies in them: pinned, counted, and
 * shared by several events.
 */

#include <linux/atomic.h>
#include <linux/rbtree.h>
#include <linux/types.h>

struct pvperf_vm;

/* Find the kernel's count of poisoned pages; at load. */
void pvperf_pin_init(void);

/* A pinned page of a guest. */
struct pvperf_pin {
	struct rb_node node;	/* in pvperf_vm.pages, by .gfn */
	u64 gfn;		/* its guest frame number */
	unsigned long hva;	/* where userspace had it when it was pinned */
	void *address;		/* where the host has it mapped */
	/* Its slot has no log of dirty pages; see pvperf_dirty_generation_nmi(). */
	u64 unlogged;
	u32 refs;		/* number of users, under pvperf_vm.lock */
};

/*
 * Pin a page, or take one more reference. @vm: the VM; takes its lock; @gpa: any guest-physical
 * address in the page. May wait for userspace without limit, so the caller holds no lock of
 * ours. In a vCPU's thread. Returns the page, or ERR_PTR(-KVM_E*).
 */
struct pvperf_pin *pvperf_pin_get(struct pvperf_vm *vm, u64 gpa);

/*
 * Give a reference back; any process context. @vm: the VM; takes its lock; @pin: is unpinned
 * and freed with its last reference.
 */
void pvperf_pin_put(struct pvperf_vm *vm, struct pvperf_pin *pin);

/*
 * Is a pinned page still the guest's memory? @vm: the VM, which may end meanwhile. Returns false
 * if userspace has taken the memory slot away, or put other memory there, or the VM has ended.
 */
bool pvperf_pin_is_there(struct pvperf_vm *vm, const struct pvperf_pin *pin);

/* Enter a page into KVM's log of dirty pages. @vm: the VM, which may end meanwhile. */
void pvperf_pin_log(struct pvperf_vm *vm, const struct pvperf_pin *pin);

/* How many poisoned pages the whole host has; above 0 if that is not known. */
extern const atomic_long_t *pvperf_pin_poison;

/* Slow path of pvperf_pin_poisoned(): the host has poisoned pages. */
bool __pvperf_pin_poisoned(const void *at);

/*
 * Has the hardware lost a page's content? Any context. @at: where the host sees it. The memory
 * may then not be read or written: the kernel removes its own mapping of it. A huge page counts
 * as poisoned if its first page is. Cheap on a host without any.
 */
static inline bool pvperf_pin_poisoned(const void *at)
{
	return unlikely(atomic_long_read(pvperf_pin_poison)) && __pvperf_pin_poisoned(at);
}

/* Where the host sees an address in a pinned page. */
static inline void *pvperf_pin_at(const struct pvperf_pin *pin, u64 gpa)
{
	return pin->address + (gpa & 4095);
}

#endif /* _PVPERF_HOST_PIN_H */
