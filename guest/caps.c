// SPDX-License-Identifier: GPL-2.0
/*
 * Finds out by CPUID whether there is a host and what it can do, and confirms that by
 * one call. Calls hypercall.h and nothing else of ours. Runs at load, when a host was lost, and
 * now and then for the host's CPUs, in any context but NMI, so it prints nothing. The invariant:
 * no hypercall before CPUID has shown all 12 bytes of the signature.
 */
#include <linux/atomic.h>
#include <linux/kernel.h>
#include <linux/kvm_para.h>
#include <linux/minmax.h>
#include <linux/string.h>
#include "../compat/cpuid.h"
#include "caps.h"
#include "hypercall.h"

#define PVPERF_CAPS_NEEDED	(KVM_PERF_FEATURE_PAGE | KVM_PERF_FEATURE_BATCH | \
				 KVM_PERF_FEATURE_TIMES)

struct pvperf_caps pvperf_caps;

static bool caps_signature(void)
{
	u32 max, sig[3];

	cpuid(KVM_PERF_CPUID_BASE, &max, &sig[0], &sig[1], &sig[2]);
	return !memcmp(sig, KVM_PERF_SIGNATURE, sizeof(sig)) &&
	       max >= KVM_PERF_CPUID_LIMITS;
}

static const char *caps_read_features(struct pvperf_caps *caps)
{
	u32 version, number;

	cpuid(KVM_PERF_CPUID_FEATURES, &version, &caps->features, &number,
	      &caps->counters.kinds);
	if (KVM_PERF_ABI_MAJOR(version) != KVM_PERF_ABI_MAJOR(KVM_PERF_ABI_VERSION))
		return "the host speaks another version of the ABI; install the same version of pvperf on host and guest";
	if (number != KVM_PERF_OP)
		return "the host uses another hypercall number; install the same version of pvperf on host and guest";
	if ((caps->features & PVPERF_CAPS_NEEDED) != PVPERF_CAPS_NEEDED)
		return "the host lacks a feature that this guest needs; install the same version of pvperf on host and guest";
	if (!(caps->features & KVM_PERF_FEATURE_COUNTERS))
		caps->counters.kinds = 0;
	return NULL;
}

static const char *caps_read_limits(struct pvperf_caps *caps)
{
	cpuid(KVM_PERF_CPUID_LIMITS, &caps->events, &caps->batch,
	      &caps->counters.general, &caps->min_period);
	caps->events = min_t(u32, caps->events, KVM_PERF_EVENTS_MAX);
	caps->batch = min_t(u32, caps->batch, KVM_PERF_BATCH_MAX);
	return caps->events && caps->batch ? NULL : "the host allows no events; ask its operator to look at max_events of pvperf_host";
}

static void caps_read_narrow(struct pvperf_caps *caps)
{
	struct pvperf_narrow *narrow = &caps->counters.narrow;
	u32 *codes = narrow->codes, *except = narrow->exceptions;

	*narrow = (struct pvperf_narrow) {};
	if (!(caps->features & KVM_PERF_FEATURE_NARROW))
		return;
	cpuid(KVM_PERF_CPUID_CODES, &codes[0], &codes[1], &codes[2], &codes[3]);
	cpuid(KVM_PERF_CPUID_CODES + 1, &codes[4], &codes[5], &codes[6], &codes[7]);
	cpuid(KVM_PERF_CPUID_NARROW, &narrow->counters, &narrow->generic,
	      &narrow->cache[0], &narrow->cache[1]);
	cpuid(KVM_PERF_CPUID_EXCEPTIONS, &except[0], &except[1], &except[2], &except[3]);
	cpuid(KVM_PERF_CPUID_EXCEPTIONS + 1, &except[4], &except[5], &except[6], &except[7]);
}

static void caps_read_branches(struct pvperf_caps *caps)
{
	u32 rest;

	caps->branches = 0;
	if (caps->features & KVM_PERF_FEATURE_BRANCHES)
		cpuid(KVM_PERF_CPUID_BRANCHES, &caps->branches, &rest, &rest, &rest);
}

/* The kinds of CPUs that hosts have had; the entry's number plus 1 is the model. */
static atomic64_t models[8];

/* Several CPUs may discover a host at the same time. */
static u8 caps_model(u64 kind)
{
	unsigned int i;
	u64 was;

	for (i = 0; i < ARRAY_SIZE(models); i++) {
		was = atomic64_cmpxchg(&models[i], 0, kind);
		if (!was || was == kind)
			return i + 1;
	}
	return PVPERF_MODEL_ANY;
}

/* The stepping does not matter: those of a model have the same events. */
#define PVPERF_CAPS_STEPPING	0xfu

static void caps_read_cpu(struct pvperf_caps *caps)
{
	u32 signature, maker, rest;

	caps->family = caps->model = 0;
	if (!(caps->features & KVM_PERF_FEATURE_CPU))
		return;
	cpuid(KVM_PERF_CPUID_CPU, &signature, &maker, &rest, &rest);
	caps->family = signature & ~PVPERF_CAPS_STEPPING;
	caps->model = caps_model((u64)maker << 32 | caps->family);
}

u32 pvperf_caps_host_cpus(u32 *all)
{
	u32 online, rest;

	/* The signature, as the host may be another one since .features were read. */
	if (!(pvperf_caps.features & KVM_PERF_FEATURE_HOST_CPUS) || !caps_signature())
		return 0;
	cpuid(KVM_PERF_CPUID_HOST_CPUS, all, &online, &rest, &rest);
	return online;
}

void pvperf_caps_kind(u32 kind, char *name)
{
	u32 flag, part[KVM_PERF_KIND_NAME / sizeof(u32)];

	cpuid(KVM_PERF_CPUID_KINDS + kind - 1, &flag, &part[0], &part[1], &part[2]);
	memcpy(name, part, sizeof(part));
	name[sizeof(part)] = '\0';
}

bool pvperf_caps_cpu_is_ours(void)
{
	return !pvperf_caps.family ||
	       pvperf_caps.family == (cpuid_eax(1) & ~PVPERF_CAPS_STEPPING);
}

const char *pvperf_caps_discover(void)
{
	struct pvperf_caps caps;
	const char *why;

	if (!kvm_para_available())
		return "this is no guest of KVM";
	if (!caps_signature())
		return "no pvperf at the host, or it does not serve this VM; have it load pvperf_host, then load this module again";
	why = caps_read_features(&caps) ?: caps_read_limits(&caps);
	if (why)
		return why;
	caps_read_narrow(&caps);
	caps_read_branches(&caps);
	caps_read_cpu(&caps);
	/* With Hyper-V's enlightenments KVM answers with a status of Hyper-V's, above 0. */
	if (KVM_PERF_ABI_MAJOR(pvperf_call_probe()) != KVM_PERF_ABI_MAJOR(KVM_PERF_ABI_VERSION))
		return "the host does not serve this VM; guests of guests, VMs with protected state, and guests that use Hyper-V's or Xen's hypercalls are not served";
	pvperf_caps = caps;
	return NULL;
}
