/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PVPERF_CPUID_H
#define PVPERF_CPUID_H

#include <stdbool.h>
#include <stdint.h>

/* What the CPU says of itself; works at any privilege level. */

struct cpuid {
	uint32_t eax, ebx, ecx, edx;
};

/* All 0 if the CPU has no such leaf (what a hypervisor adds is not checked). */
struct cpuid cpuid(uint32_t leaf);

/* The hypervisor bit: this is a virtual machine. */
bool cpuid_is_guest(void);

/* svm or vmx: KVM can run here. */
bool cpuid_has_virtualization(void);

bool cpuid_is_intel(void);

/*
 * Twelve bytes and an end: the hypervisor's signature, KVM's if it is KVM at
 * whatever leaf; "" if there is none.
 */
void cpuid_hypervisor(char name[13]);
bool cpuid_is_kvm(void);

/* The twelve bytes of EBX, ECX, EDX. */
bool cpuid_signed(const struct cpuid *leaf, const char *signature);

#endif /* PVPERF_CPUID_H */
