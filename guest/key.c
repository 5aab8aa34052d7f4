// SPDX-License-Identifier: GPL-2.0
/*
 * From what a program asked perf core for to a key: what the host counts. Refuses what no
 * PMU of the CPU's maker would take, and what the ABI cannot say. Knows no slot.
 */
#define pr_fmt(fmt) "pvperf_guest: " fmt

#include <linux/bitfield.h>
#include <linux/perf_event.h>
#include <asm/cpufeature.h>
#include <pvperf/codes.h>
#include "caps.h"
#include "key.h"
#include "kinds.h"
#include "raw.h"
#include "refuse.h"
#include "state.h"
#include "sysfs.h"

/* Of "pvperf", or a CPU of the host. The config of other PMUs is as the maker's driver has it. */
static bool event_is_own(const struct perf_event *event)
{
	const struct pmu *pmu = event->pmu;

	return pmu->type == PERF_TYPE_RAW ? pvperf_nr_kinds : !pvperf_kinds_of(pmu);
}

/* Does core send generic events to @pmu: those that name no PMU, or this one? */
static bool takes_generic(const struct pmu *pmu)
{
	return pmu->type == PERF_TYPE_RAW || pvperf_kinds_of(pmu);
}

bool pvperf_key_is_asked(const struct perf_event *event)
{
	u32 type = event->attr.type;

	return type == event->pmu->type ||
	       (takes_generic(event->pmu) &&
		(type == PERF_TYPE_HARDWARE || type == PERF_TYPE_HW_CACHE));
}

static int key_hardware(u64 config, struct pvperf_key *key)
{
	if (config >= PERF_COUNT_HW_MAX)
		return -EINVAL;
	key->type = KVM_PERF_TYPE_HARDWARE;
	return 0;
}

static int key_cache(u64 config, struct pvperf_key *key)
{
	if ((config & 0xff) >= PERF_COUNT_HW_CACHE_MAX ||
	    (config >> 8 & 0xff) >= PERF_COUNT_HW_CACHE_OP_MAX ||
	    (config >> 16) >= PERF_COUNT_HW_CACHE_RESULT_MAX)
		return -EINVAL;
	key->type = KVM_PERF_TYPE_HW_CACHE;
	return 0;
}

static enum pvperf_raw_maker raw_maker(void)
{
	switch (boot_cpu_data.x86_vendor) {
	case X86_VENDOR_AMD:
	case X86_VENDOR_HYGON:
		return PVPERF_RAW_AMD;
	case X86_VENDOR_INTEL:
		return boot_cpu_has(X86_FEATURE_RTM) || boot_cpu_has(X86_FEATURE_HLE) ?
		       PVPERF_RAW_INTEL_TSX : PVPERF_RAW_INTEL;
	}
	return PVPERF_RAW_OTHER;
}

/* The features that the host lacks. */
static u32 key_lacks(const struct pvperf_key *key)
{
	u32 wants = 0;

	if (key->flags & KVM_PERF_FLAG_HOST)
		wants |= KVM_PERF_FEATURE_HOST;
	if (key->flags & KVM_PERF_FLAG_CPU)
		wants |= KVM_PERF_FEATURE_HOST_CPUS;
	if (key->flags & KVM_PERF_FLAG_KINDS)
		wants |= KVM_PERF_FEATURE_KINDS;
	if (key->flags & PVPERF_KEY_BRANCHES)
		wants |= KVM_PERF_FEATURE_BRANCHES;
	if (key->type == KVM_PERF_TYPE_RAW)
		wants |= KVM_PERF_FEATURE_RAW;
	if (key->type == KVM_PERF_TYPE_SOFTWARE)
		wants |= KVM_PERF_FEATURE_HOST_SW;
	return wants & ~pvperf_caps.features;
}

static int key_raw(u64 config, u64 config1, struct pvperf_key *key)
{
	enum pvperf_raw_maker maker = raw_maker();

	key->type = KVM_PERF_TYPE_RAW;
	/* Where no raw event is allowed the host is to hear of this one, too. */
	if (config1 && pvperf_raw_wants_config1(maker, config) &&
	    !key_lacks(key))
		return pvperf_refuse(-EOPNOTSUPP, "raw event 0x%llx with config1: the host is not told config1, and would count something else; count it on the host",
				     config);
	key->model = pvperf_caps.model;
	key->config = pvperf_raw_config(maker, config);
	return 0;
}

/* Events of the vCPU's thread at the host, which is in no mode of the guest. */
static int key_software(u64 config, struct pvperf_key *key)
{
	if (key->flags & PVPERF_KEY_BRANCHES)
		return -EOPNOTSUPP;	/* as core answers for its own */
	key->type = KVM_PERF_TYPE_SOFTWARE;
	key->flags = key->sampling && key->flags & (KVM_PERF_FLAG_EXCLUDE_USER |
						    KVM_PERF_FLAG_EXCLUDE_KERNEL) ?
		     PVPERF_KEY_MODE : 0;
	return 0;
}

/* Counts what the host does in the vCPU's thread, too. */
static int key_host(struct pvperf_key *key)
{
	if (key->sampling)
		return pvperf_refuse(-EOPNOTSUPP, "samples of the host's part of a vCPU (host=1): it is only counted; use perf stat");
	key->flags |= KVM_PERF_FLAG_HOST;
	return 0;
}

/* A number, and what it is the number of. */
static int key_numbered(const struct perf_event *event, unsigned int pv,
			struct pvperf_key *key)
{
	/* In "cpu" there are generic events; else the maker's driver ignores these bits. */
	if (!event_is_own(event) && (pv != PVPERF_PV_HARDWARE || key->config >= PERF_COUNT_HW_MAX))
		pv = PVPERF_PV_RAW;
	if (pv != PVPERF_PV_RAW && (key->config & ~PVPERF_CONFIG_NUMBER))
		return -EINVAL;
	switch (pv) {
	case PVPERF_PV_RAW:
		return key_raw(key->config, event->attr.config1, key);
	case PVPERF_PV_HARDWARE:
		return key_hardware(key->config, key);
	case PVPERF_PV_SOFTWARE:
		return key_software(key->config, key);
	case PVPERF_PV_CACHE:
		return key_cache(key->config, key);
	}
	return -EINVAL;
}

/* Does the host count, too? Does one kind of core alone? */
static int key_whose(u64 config, struct pvperf_key *key)
{
	if (!(config & (PVPERF_CONFIG_HOST | PVPERF_CONFIG_KIND)))
		return 0;
	if (key->type == KVM_PERF_TYPE_SOFTWARE)
		return -EINVAL;
	key->flags |= KVM_PERF_FLAG_KIND(FIELD_GET(PVPERF_CONFIG_KIND, config));
	return config & PVPERF_CONFIG_HOST ? key_host(key) : 0;
}

/* An event in our own config format. */
static int key_config(const struct perf_event *event, struct pvperf_key *key)
{
	const u64 ours = PVPERF_CONFIG_PV |
			 (event_is_own(event) ? PVPERF_CONFIG_HOST | PVPERF_CONFIG_KIND : 0);
	const u64 config = event->attr.config;
	unsigned int pv = FIELD_GET(PVPERF_CONFIG_PV, config);
	int err;

	key->config = config & ~ours;
	err = key_numbered(event, pv, key);
	return err ?: key_whose(config & ours, key);
}

int pvperf_key_of_cpu(const struct perf_event *event, u16 cpu, struct pvperf_key *key)
{
	const u64 config = event->attr.config;
	int err;

	*key = (struct pvperf_key) {
		.cpu = cpu,
		.flags = KVM_PERF_FLAG_CPU,
		.config = config & ~PVPERF_CONFIG_PV,
	};
	err = key_numbered(event, FIELD_GET(PVPERF_CONFIG_PV, config), key);
	return err ?: key->type == KVM_PERF_TYPE_SOFTWARE ? -EINVAL : 0;
}

/* They come with samples. */
static bool key_has_branches(const struct perf_event_attr *attr)
{
	return attr->sample_type & PERF_SAMPLE_BRANCH_STACK && attr->sample_period;
}

int pvperf_key_of(const struct perf_event *event, struct pvperf_key *key)
{
	const struct perf_event_attr *attr = &event->attr;

	*key = (struct pvperf_key) {
		.flags = (attr->exclude_user ? KVM_PERF_FLAG_EXCLUDE_USER : 0) |
			 (attr->exclude_kernel ? KVM_PERF_FLAG_EXCLUDE_KERNEL : 0) |
			 (key_has_branches(attr) ? PVPERF_KEY_BRANCHES : 0) |
			 KVM_PERF_FLAG_KIND(pvperf_kinds_of(event->pmu)),
		.config = attr->config,
		.sampling = attr->sample_period,
	};
	switch (attr->type) {
	case PERF_TYPE_HARDWARE:
		return key_hardware(attr->config, key);
	case PERF_TYPE_HW_CACHE:	/* the maker's driver ignores all other bits */
		key->config &= PVPERF_CONFIG_NUMBER;
		return key_cache(key->config, key);
	default:
		return key_config(event, key);
	}
}

/* A raw code may mean something else on each kind of the host's cores. */
static bool key_is_ambiguous(const struct pvperf_key *key)
{
	return key->type == KVM_PERF_TYPE_RAW &&
	       pvperf_caps.features & KVM_PERF_FEATURE_KINDS &&
	       !(key->flags & (KVM_PERF_FLAG_KINDS | KVM_PERF_FLAG_CPU)) &&
	       !pvperf_code_is_everywhere(key->config);
}

bool pvperf_key_allowed(const struct pvperf_key *key)
{
	return !key_lacks(key) && !key_is_ambiguous(key);
}

int pvperf_key_refuse_branches(void)
{
	return pvperf_refuse(-EOPNOTSUPP, "branch stacks (perf record -b): the host gives none: that wants a CPU whose stack pvperf can give (AMD's from Zen 4 on, Intel's of Haswell to Ice Lake), and branches=addresses in the VM's policy; for call chains use -g");
}

int pvperf_key_refuse(const struct pvperf_key *key)
{
	u32 lacks = key_lacks(key);

	if (lacks & KVM_PERF_FEATURE_HOST)
		return pvperf_refuse(-EACCES, "the host's part of a vCPU (host=1): the host does not allow that; ask the host's operator for it (access=global)");
	if (lacks & KVM_PERF_FEATURE_HOST_CPUS)
		return pvperf_refuse(-EACCES, "a CPU of the host: the host does not allow that any more; ask the host's operator for it (access=global)");
	if (lacks & KVM_PERF_FEATURE_KINDS)
		return pvperf_refuse(-ENOENT, "one kind of cores (kind=, cpu_core, cpu_atom): the host's cores are alike; use pvperf/vcpu-cycles/ and so on, or, if the VM has moved, load pvperf_guest again");
	if (lacks & KVM_PERF_FEATURE_RAW)
		return pvperf_refuse(-ENOENT, "raw event 0x%llx: the host allows no raw events; use an event that perf list names, or ask the host's operator to allow raw events (raw=yes)",
				     key->config);
	if (lacks & KVM_PERF_FEATURE_BRANCHES)
		return pvperf_key_refuse_branches();
	if (lacks & KVM_PERF_FEATURE_HOST_SW)
		return -ENOENT;
	if (key->type != KVM_PERF_TYPE_RAW)
		return -EACCES;
	if (pvperf_raw_wants_config1(raw_maker(), key->config))
		return pvperf_refuse(-EACCES, "raw event 0x%llx: it needs a register besides the counter, which the CPU's hyperthreads share; count it on the host",
				     key->config);
	if (pvperf_raw_has_more(raw_maker(), key->config))
		return pvperf_refuse(-EACCES, "raw event 0x%llx: the host allows select, umask, edge, inv and cmask only; leave the other bits out",
				     key->config);
	if (key_is_ambiguous(key))
		return pvperf_refuse(-ENOENT, "raw event 0x%llx: it may mean something else on each kind of the host's cores; say which: pvperf/config=0x%llx,kind=1/ for P cores, kind=2 for E cores",
				     key->config, key->config);
	return pvperf_refuse(-EACCES, "raw event 0x%llx: the host allows only raw events that are about the hyperthread alone (raw=list); ask the host's operator for all (raw=yes)",
			     key->config);
}
