/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _PVPERF_HOST_ALONE_H
#define _PVPERF_HOST_ALONE_H

/*
 * Which VM has the host alone. While one has, the others have nothing, whatever the rules say.
 * Knows neither KVM nor perf.
 */

#include <linux/types.h>

struct pvperf_verdict;
struct pvperf_vm;

/**
 * pvperf_alone_judge() - what may a VM have, by the rules and as long as one is alone?
 * @vm: the VM
 * @verdict: the result
 *
 * Return: as pvperf_rules_judge().
 */
int pvperf_alone_judge(struct pvperf_vm *vm, struct pvperf_verdict *verdict);

/**
 * pvperf_alone_set() - another VM is alone from the next judgement on
 * @serial: the VM's number; 0: none is
 */
void pvperf_alone_set(u64 serial);

/**
 * pvperf_alone() - which VM is alone? Any context
 *
 * Return: its number; 0: none.
 */
u64 pvperf_alone(void);

#endif /* _PVPERF_HOST_ALONE_H */
