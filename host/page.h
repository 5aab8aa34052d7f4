/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _PVPERF_HOST_PAGE_H
#define _PVPERF_HOST_PAGE_H

/*
 * Guest memory: pages that a guest gave for good (pinned, counted, shared by
 * all that lies in them), and copies of what it hands in with a call.
 */

#include <linux/types.h>

struct kvm;
struct page;
struct pvperf_vm;

struct pvperf_page {
	u64 gfn;
	struct page *page;
	void *address;		/* the host's mapping */
	u32 refs;		/* pvperf_vm.lock */
};

/*
 * Pin the page of guest-physical @gpa, or take one more reference. In a vCPU's
 * thread; takes pvperf_vm.lock. ERR_PTR(-KVM_E*) on failure.
 */
struct pvperf_page *pvperf_page_get(struct pvperf_vm *vm, u64 gpa, u32 max);
/* Any process context; takes pvperf_vm.lock. */
void pvperf_page_put(struct pvperf_vm *vm, struct pvperf_page *page);

/* Copies within one page, in a vCPU's thread; 0 or -KVM_EFAULT. */
int pvperf_page_copy_in(struct kvm *kvm, void *to, u64 gpa, u32 len);
int pvperf_page_copy_out(struct kvm *kvm, u64 gpa, const void *from, u32 len);

static inline void *pvperf_page_at(const struct pvperf_page *page, u64 gpa)
{
	return page->address + (gpa & 4095);
}

#endif /* _PVPERF_HOST_PAGE_H */
