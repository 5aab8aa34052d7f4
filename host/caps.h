/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _PVPERF_HOST_CAPS_H
#define _PVPERF_HOST_CAPS_H

/*
 * What this host offers, and to whom: the module's parameters, and the CPUID
 * leaves that tell a guest. Knows the CPU, neither KVM nor perf.
 */

#include <linux/types.h>
#include "policy.h"

extern struct pvperf_policy pvperf_policy;

/**
 * pvperf_caps_init() - check the parameters, and find out what there is
 * @hardware: perf has a driver for this CPU's counters
 *
 * Return: 0, or -EINVAL after a message.
 */
int pvperf_caps_init(bool hardware);

/**
 * pvperf_caps_epoch() - the VM's epoch: changes when the host side does
 * @vm: the VM's serial number
 *
 * No VM can find out from its epoch which others share its host.
 *
 * Return: a number unique to this VM and load of the module.
 */
u64 pvperf_caps_epoch(u64 vm);

/**
 * pvperf_caps_cpuid() - answer CPUID
 * @leaf: one of ours
 * @eax: the answer
 * @ebx: the answer
 * @ecx: the answer
 * @edx: the answer
 */
void pvperf_caps_cpuid(u32 leaf, u32 *eax, u32 *ebx, u32 *ecx, u32 *edx);

#endif /* _PVPERF_HOST_CAPS_H */
