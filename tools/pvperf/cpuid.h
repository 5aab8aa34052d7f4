/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PVPERF_CPUID_H
#define PVPERF_CPUID_H

#include <stdbool.h>
#include <stdint.h>

/* CPUID, which works at any privilege level. */

struct cpuid {
	uint32_t eax, ebx, ecx, edx;
};

/* All 0 if the CPU has no such leaf. Leaves of a hypervisor are not checked. */
struct cpuid cpuid(uint32_t leaf);

/* The hypervisor bit: this is a virtual machine. */
bool cpuid_is_guest(void);

/* svm or vmx: KVM can run here. */
bool cpuid_has_virtualization(void);

bool cpuid_is_intel(void);

/*
 * The hypervisor's signature of twelve bytes, with a NUL; "KVM" if KVM's is at any
 * leaf, even behind that of another hypervisor; "" without a hypervisor.
 */
void cpuid_hypervisor(char name[13]);
bool cpuid_is_kvm(void);

/* Whether EBX, ECX and EDX of @leaf have the twelve bytes of @signature. */
bool cpuid_signed(const struct cpuid *leaf, const char *signature);

#endif /* PVPERF_CPUID_H */
