/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _PVPERF_HOST_HOLD_H
#define _PVPERF_HOST_HOLD_H

/*
 * What a VM's pins keep from being moved, swapped or split, which is more than the pages
 * that are pinned, and the limits for it. Knows neither KVM nor perf.
 */

#include <linux/types.h>

struct mm_struct;
struct page;
struct pvperf_vm;

/**
 * pvperf_hold() - charge a VM for a page that is pinned
 * @vm: the VM; the caller holds its lock
 * @page: the page
 *
 * Context: a vCPU's thread, whose limits are obeyed.
 * Return: 0, -KVM_ENOSPC or -KVM_ENOMEM.
 */
int pvperf_hold(struct pvperf_vm *vm, struct page *page);

/**
 * pvperf_unhold() - undo pvperf_hold(), before the page is unpinned
 * @vm: the VM; the caller holds its lock
 * @page: the page
 */
void pvperf_unhold(struct pvperf_vm *vm, struct page *page);

#endif /* _PVPERF_HOST_HOLD_H */
