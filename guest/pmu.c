// SPDX-License-Identifier: GPL-2.0
/*
 * The PMUs that perf core sees: which events there are, and the way from core's calls
 * to event.h. "pvperf" is always there. "cpu" is there if the guest has no PMU of its
 * own, so that perf needs no option. This file knows neither the page nor a hypercall.
 * The invariant: pmu_disable() stops nothing, it opens a bracket. When the outermost
 * bracket closes the host is told, once.
 */
#include <linux/bitfield.h>
#include <linux/cpumask.h>
#include <linux/err.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <asm/cpufeature.h>
#include <asm/tsc.h>
#include "../compat/core.h"
#include "../compat/perf.h"
#include "batch.h"
#include "caps.h"
#include "counters.h"
#include "event.h"
#include "period.h"
#include "pmu.h"
#include "raw.h"
#include "read.h"
#include "refuse.h"
#include "state.h"
#include "sysfs.h"
#include "trial.h"
#include "watch.h"

static struct pmu *cpu_pmu;	/* NULL if the guest has a PMU of its own */
static struct pmu *own_pmu;

/* ---------------------------------------- called by perf core with IRQs off */

static void bracket_begin(struct pmu *pmu)
{
	pvperf_cpu_this()->txn.depth++;
}

static void bracket_end(struct pmu *pmu)
{
	struct pvperf_cpu *cpu = pvperf_cpu_this();

	if (!--cpu->txn.depth)
		pvperf_batch_flush(cpu);
}

/* A group is scheduled in one bracket, and read by one batch. */
static void txn_start(struct pmu *pmu, unsigned int flags)
{
	struct pvperf_cpu *cpu = pvperf_cpu_this();

	cpu->txn.flags = flags;
	cpu->txn.slots = 0;
	cpu->txn.pinned = false;
	if (flags & PERF_PMU_TXN_ADD)
		bracket_begin(pmu);
}

static unsigned int txn_end(struct pmu *pmu)
{
	struct pvperf_cpu *cpu = pvperf_cpu_this();
	unsigned int flags = cpu->txn.flags;

	cpu->txn.flags = 0;
	if (flags & PERF_PMU_TXN_ADD)
		bracket_end(pmu);
	return flags;
}

/* If this fails core takes the group out again and cancels the transaction. */
static int txn_commit(struct pmu *pmu)
{
	struct pvperf_cpu *cpu = pvperf_cpu_this();

	if ((cpu->txn.flags & PERF_PMU_TXN_ADD) && cpu->txn.pinned && !pvperf_event_commit(cpu))
		return -EAGAIN;
	if (txn_end(pmu) & PERF_PMU_TXN_READ)
		pvperf_read_deferred(pvperf_cpu_this());
	return 0;
}

static void txn_cancel(struct pmu *pmu)
{
	txn_end(pmu);
}

/* ----------------------------------------------------- which events there are */

static bool is_cpu(const struct perf_event *event)
{
	return event->pmu->type == PERF_TYPE_RAW;
}

/* perf core asks each PMU about an event of a type that none has registered. */
static bool is_ours(const struct perf_event *event)
{
	u32 type = event->attr.type;

	return type == event->pmu->type ||
	       (is_cpu(event) && (type == PERF_TYPE_HARDWARE || type == PERF_TYPE_HW_CACHE));
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

static int key_raw(u64 config, u64 config1, struct pvperf_key *key)
{
	enum pvperf_raw_maker maker = raw_maker();

	if (!(pvperf_caps.features & KVM_PERF_FEATURE_RAW))
		return pvperf_refuse_raw(config);
	if (config1 && pvperf_raw_wants_config1(maker, config))
		return pvperf_refuse_config1(config);
	key->type = KVM_PERF_TYPE_RAW;
	key->model = pvperf_caps.model;
	key->config = pvperf_raw_config(maker, config);
	return 0;
}

/* Events of the vCPU's thread at the host, which is in no mode of the guest. */
static int key_software(u64 config, struct pvperf_key *key)
{
	if (!(pvperf_caps.features & KVM_PERF_FEATURE_HOST_SW))
		return -ENOENT;
	key->type = KVM_PERF_TYPE_SOFTWARE;
	key->flags = 0;
	return 0;
}

/* An event in our own config format. */
static int key_config(const struct perf_event *event, struct pvperf_key *key)
{
	const struct perf_event_attr *attr = &event->attr;
	unsigned int pv = FIELD_GET(PVPERF_CONFIG_PV, attr->config);

	key->config = attr->config & ~PVPERF_CONFIG_PV;
	/* In "cpu" there are generic events; else the maker's driver ignores these bits. */
	if (is_cpu(event) && (pv != PVPERF_PV_HARDWARE || key->config >= PERF_COUNT_HW_MAX))
		pv = PVPERF_PV_RAW;
	if (pv != PVPERF_PV_RAW && (key->config & ~PVPERF_CONFIG_NUMBER))
		return -EINVAL;
	switch (pv) {
	case PVPERF_PV_RAW:
		return key_raw(key->config, attr->config1, key);
	case PVPERF_PV_HARDWARE:
		return key_hardware(key->config, key);
	case PVPERF_PV_SOFTWARE:
		return key_software(key->config, key);
	case PVPERF_PV_CACHE:
		return key_cache(key->config, key);
	}
	return -EINVAL;
}

static int key_of(const struct perf_event *event, struct pvperf_key *key)
{
	const struct perf_event_attr *attr = &event->attr;

	*key = (struct pvperf_key) {
		.flags = (attr->exclude_user ? KVM_PERF_FLAG_EXCLUDE_USER : 0) |
			 (attr->exclude_kernel ? KVM_PERF_FLAG_EXCLUDE_KERNEL : 0),
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

/* --------------------------------------------------------- opening an event */

static u64 need_of(const struct perf_event *event)
{
	return pvperf_event_is(event) && pvperf_event_of(event)->hardware ?
	       pvperf_event_of(event)->key.need : 0;
}

/* A group that needs more than the host's counters would wait for ever. */
static int check_group(struct perf_event *event)
{
	struct perf_event *leader = event->group_leader, *sibling;
	u64 need = need_of(event);

	if (leader == event || !pvperf_core_rotates(event) ||
	    !pvperf_caps.counters.general)
		return 0;
	need += need_of(leader);
	for_each_sibling_event(sibling, leader)
		need += need_of(sibling);
	return pvperf_counters_fit(&pvperf_caps.counters, need) ?
	       0 : pvperf_refuse_group(need);
}

static int check_period(struct perf_event *event, u64 period)
{
	return event->attr.freq || period >= pvperf_period_min(event) ?
	       0 : pvperf_refuse_period(period);
}

/*
 * The first period of a frequency. core's own, 1, would cost an exit for each of the
 * first events. The right one for a CPU that never waits would be so long that a
 * program of a few milliseconds, and a child that inherits the period, ends before
 * its first sample. So it is an eighth of that.
 */
#define PVPERF_PMU_FIRST	8

static void first_period(struct perf_event *event)
{
	if (pvperf_event_is_freq(event))
		event->hw.sample_period =
			max(pvperf_period_min(event),
			    1000ULL * tsc_khz / PVPERF_PMU_FIRST /
			    event->attr.sample_freq);
}

/* The host's policy forbids it. */
static int refuse_key(const struct pvperf_key *key)
{
	if (key->type != KVM_PERF_TYPE_RAW)
		return -EACCES;
	return pvperf_raw_wants_config1(raw_maker(), key->config) ?
	       pvperf_refuse_msr(key->config) : pvperf_refuse_raw_bits(key->config);
}

/* Refuses for the reasons of bare metal only. Other reasons may be gone later. */
static int try_key(const struct pvperf_key *key, int *slot)
{
	switch (pvperf_trial_open(key, slot)) {
	case -KVM_ENOENT:
		return -ENOENT;
	case -KVM_EPERM:
		return refuse_key(key);
	case -KVM_EINVAL:
		return -EINVAL;
	}
	return 0;
}

/* In the order in which the makers' drivers look, and as they do before the config. */
static int check_event(struct perf_event *event)
{
	u64 regs = event->attr.sample_regs_user | event->attr.sample_regs_intr;

	if (!is_ours(event))
		return -ENOENT;
	if (event->attr.precise_ip)
		return pvperf_refuse_precise();
	if (has_branch_stack(event))
		return pvperf_refuse_branches();
	return regs & PERF_REG_EXTENDED_MASK ? -EINVAL : 0;
}

/* A child counts as its parent does; a trial may have found another host. */
static u8 model_of(const struct perf_event *event)
{
	const struct pvperf_key *key = &pvperf_event_of(event)->key;

	if (event->parent)
		key = &pvperf_event_of(event->parent)->key;
	else if (key->model)
		return pvperf_caps.model;
	return key->model;
}

static int setup_event(struct perf_event *event, struct pvperf_event *p)
{
	int err;

	/* This guest has no guests. */
	p->nested_only = event->attr.exclude_host;
	p->hardware = p->key.type != KVM_PERF_TYPE_SOFTWARE && !p->nested_only;
	p->tuned = event->parent;
	/* Saves a call at each fork: the host has opened the parent. */
	err = event->parent ? 0 : try_key(&p->key, &p->last);
	p->key.model = model_of(event);
	if (!err && p->hardware)
		err = check_group(event);
	if (!err && is_sampling_event(event))
		err = check_period(event, event->attr.sample_period);
	return err;
}

static void destroy_event(struct perf_event *event)
{
	pvperf_watch_put();
	/* A flush may still look at it, with IRQs off. */
	kfree_rcu(pvperf_event_of(event), rcu);
}

static int init_event(struct perf_event *event)
{
	struct pvperf_event *p;
	struct pvperf_key key;
	int err;

	err = check_event(event) ?: key_of(event, &key);
	if (err)
		return err;
	key.need = pvperf_counters_need(&pvperf_caps.counters, key.type, key.config);
	p = kzalloc(sizeof(*p), GFP_KERNEL);
	if (!p)
		return -ENOMEM;
	p->key = key;
	event->pmu_private = p;
	err = setup_event(event, p);
	if (err) {
		event->pmu_private = NULL;
		kfree(p);
		return err;
	}
	if (is_sampling_event(event))
		first_period(event);
	event->destroy = destroy_event;
	pvperf_watch_get();
	return 0;
}

/* ------------------------------------------------------------- registration */

static struct pmu pmu_template = {
	.module		= THIS_MODULE,
	.task_ctx_nr	= perf_hw_context,
	.pmu_enable	= bracket_end,
	.pmu_disable	= bracket_begin,
	.event_init	= init_event,
	.add		= pvperf_event_add,
	.del		= pvperf_event_del,
	.start		= pvperf_event_start,
	.stop		= pvperf_event_stop,
	.read		= pvperf_read_event,
	.start_txn	= txn_start,
	.commit_txn	= txn_commit,
	.cancel_txn	= txn_cancel,
	.check_period	= check_period,
};

static bool guest_has_pmu(void)
{
	struct perf_event_attr attr = {
		.type		= PERF_TYPE_HARDWARE,
		.config		= PERF_COUNT_HW_CPU_CYCLES,
		.size		= sizeof(attr),
		.disabled	= 1,
	};
	struct perf_event *event;

	event = perf_event_create_kernel_counter(&attr, cpumask_first(cpu_online_mask),
						 NULL, NULL, NULL);
	if (!IS_ERR(event))
		perf_event_release_kernel(event);
	return PTR_ERR(event) != -ENOENT;
}

static int register_pmu(struct pmu **pmu, const char *name, int type,
			const struct attribute_group **groups)
{
	struct pmu *registered;

	pmu_template.attr_groups = groups;
	registered = pvperf_compat_pmu_register(&pmu_template, name, type);
	if (IS_ERR(registered))
		return PTR_ERR(registered);
	*pmu = registered;
	return 0;
}

int pvperf_pmu_init(void)
{
	int err;

	if (!(pvperf_caps.features & KVM_PERF_FEATURE_SAMPLING))
		pmu_template.capabilities = PERF_PMU_CAP_NO_INTERRUPT;
	pvperf_sysfs_init();
	/* Closes the host events that pvperf_sysfs_init() opened on trial. */
	pvperf_watch_once();
	if (!guest_has_pmu()) {
		err = register_pmu(&cpu_pmu, "cpu", PERF_TYPE_RAW,
				   pvperf_sysfs_cpu);
		if (err)
			return err;
		/* So that events of "pvperf" may be in a group with events of "cpu". */
		pmu_template.task_ctx_nr = perf_sw_context;
	} else {
		pr_info("this VM has a PMU of its own (vPMU), and perf takes that for cycles and the like; ours are pvperf/vcpu-cycles/ and so on. A VM without a vPMU: -cpu ...,pmu=off, in libvirt <pmu state='off'/>, or kvm.enable_pmu=0 on the host\n");
	}
	err = register_pmu(&own_pmu, "pvperf", -1,
			   pvperf_sysfs_pvperf);
	if (err && cpu_pmu)
		pvperf_compat_pmu_unregister(cpu_pmu);
	return err;
}

void pvperf_pmu_exit(void)
{
	pvperf_compat_pmu_unregister(own_pmu);
	if (cpu_pmu)
		pvperf_compat_pmu_unregister(cpu_pmu);
}
