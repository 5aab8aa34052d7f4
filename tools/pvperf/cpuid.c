// SPDX-License-Identifier: GPL-2.0
/*
 * CPUID: the instruction, or for tests the file "cpuid" below $PVPERF_ROOT, with a
 * line for each leaf: leaf eax ebx ecx edx, all hexadecimal.
 */
#include <cpuid.h>
#include <stdio.h>
#include <string.h>
#include "cpuid.h"
#include "root.h"

#define KVM_SIGNATURE	"KVMKVMKVM\0\0\0"

static struct cpuid cpuid_from_file(uint32_t leaf)
{
	struct cpuid r, none = { 0 };
	FILE *f = root_open("/cpuid");
	unsigned int nr;

	if (!f)
		return none;
	while (fscanf(f, "%x %x %x %x %x", &nr, &r.eax, &r.ebx, &r.ecx,
		      &r.edx) == 5) {
		if (nr == leaf) {
			fclose(f);
			return r;
		}
	}
	fclose(f);
	return none;
}

struct cpuid cpuid(uint32_t leaf)
{
	struct cpuid r = { 0 };

	if (root_prefix())
		return cpuid_from_file(leaf);
	/* For a leaf that it lacks, an Intel CPU returns its highest basic leaf. */
	if (leaf >> 28 != 4 && leaf > (uint32_t)__get_cpuid_max(leaf & 1u << 31, NULL))
		return r;
	__cpuid_count(leaf, 0, r.eax, r.ebx, r.ecx, r.edx);
	return r;
}

bool cpuid_signed(const struct cpuid *leaf, const char *signature)
{
	return !memcmp(&leaf->ebx, signature, 4) &&
	       !memcmp(&leaf->ecx, signature + 4, 4) &&
	       !memcmp(&leaf->edx, signature + 8, 4);
}

bool cpuid_is_guest(void)
{
	return cpuid(1).ecx >> 31;
}

bool cpuid_has_virtualization(void)
{
	return cpuid(1).ecx & 1 << 5 || cpuid(0x80000001).ecx & 1 << 2;
}

bool cpuid_is_intel(void)
{
	return cpuid(0).ebx == signature_INTEL_ebx;
}

bool cpuid_is_kvm(void)
{
	struct cpuid r;
	uint32_t leaf;

	if (!cpuid_is_guest())
		return false;
	/* KVM's leaves follow those of another hypervisor if it emulates one. */
	for (leaf = 0x40000000; leaf < 0x40010000; leaf += 0x100) {
		r = cpuid(leaf);
		if (cpuid_signed(&r, KVM_SIGNATURE))
			return true;
	}
	return false;
}

void cpuid_hypervisor(char name[13])
{
	struct cpuid r = { 0 };

	if (cpuid_is_kvm()) {
		strcpy(name, "KVM");
		return;
	}
	if (cpuid_is_guest())
		r = cpuid(0x40000000);
	memcpy(name, &r.ebx, 4);
	memcpy(name + 4, &r.ecx, 4);
	memcpy(name + 8, &r.edx, 4);
	name[12] = '\0';
}
