// SPDX-License-Identifier: GPL-2.0
/*
 * The PMUs that perf core sees: which events there are, and the way from core's calls
 * to event.h. "pvperf" is always there. If the guest has no PMU of its own, "cpu" is there, so
 * that perf needs no option, or "cpu_core" and "cpu_atom" where the guest's CPU has them. This
 * file knows neither the page nor a hypercall.
 * The invariant: pmu_disable() stops nothing, it opens a bracket. When the outermost
 * bracket closes the host is told, once.
 */
#define pr_fmt(fmt) "pvperf_guest: " fmt

#include <linux/atomic.h>
#include <linux/cpumask.h>
#include <linux/err.h>
#include <linux/minmax.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <asm/tsc.h>
#include "../compat/core.h"
#include "../compat/perf.h"
#include "batch.h"
#include "branches.h"
#include "caps.h"
#include "counters.h"
#include "event.h"
#include "group.h"
#include "key.h"
#include "kinds.h"
#include "period.h"
#include "pmu.h"
#include "read.h"
#include "refuse.h"
#include "state.h"
#include "sysfs.h"
#include "trial.h"
#include "watch.h"

static struct pmu *pmus[1 + KVM_PERF_KINDS];
static unsigned int nr_pmus;

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
	cpu->txn.turning = cpu->counters.used - cpu->counters.turnless;
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

/* --------------------------------------------------------- opening an event */

static u64 key_need(const struct pvperf_key *key)
{
	return pvperf_counters_need(&pvperf_caps.counters, key->type, key->config);
}

static u64 event_need(const struct perf_event *event)
{
	return pvperf_event_is(event) && pvperf_event_of(event)->hardware ?
	       key_need(&pvperf_event_of(event)->key) : 0;
}

static u16 event_kind(const struct perf_event *event)
{
	return pvperf_event_is(event) ? pvperf_event_of(event)->key.flags & KVM_PERF_FLAG_KINDS : 0;
}

static bool event_has_branches(const struct perf_event *event)
{
	return pvperf_event_is(event) && pvperf_event_of(event)->key.flags & PVPERF_KEY_BRANCHES;
}

static bool branches_fit(unsigned int n)
{
	return n <= min_t(unsigned int, PVPERF_BRANCH_SLOTS, pvperf_caps.events);
}

static int refuse_branches_in_group(void)
{
	return pvperf_refuse(-EINVAL, "a group with more than %u events that have branches: it could never count; use fewer, or no group",
			     PVPERF_BRANCH_SLOTS);
}

/*
 * In a software context core opens a sibling without the context's lock, so the list may
 * change now. All of a group are taken to have branches if @event has.
 */
static int event_check_group_unlocked(struct perf_event *event)
{
	struct perf_event *leader = event->group_leader;
	u16 kind = event_kind(event), other = event_kind(leader);

	if (event_has_branches(event) && !branches_fit(READ_ONCE(leader->nr_siblings) + 2))
		return refuse_branches_in_group();
	return kind && other && kind != other ? -EINVAL : 0;
}

static int refuse_group(u64 need)
{
	const struct pvperf_counters *has = &pvperf_caps.counters;
	u32 narrow = pvperf_counters_narrow(need);

	if (narrow > has->narrow.counters)
		return pvperf_refuse(-EINVAL, "a group with %u events that fit in only %u of the host's %u counters; make the group smaller, or weak ({...}:W)",
				     narrow, has->narrow.counters, has->general);
	return pvperf_refuse(-EINVAL, "a group that needs %u counters: the host has %u%s; make the group smaller, or weak ({...}:W)",
			     pvperf_counters_sum(need), has->general,
			     pvperf_counters_fixed(has) ? " and fixed ones for some events" : "");
}

/*
 * A group that needs more than the host's counters would wait for ever. Before 6.2 core allows a
 * group of events of several kinds, but a vCPU is on a core of one kind.
 */
static int event_check_group(struct perf_event *event)
{
	u16 kind = event_kind(event);
	bool differs = false;
	u64 need = event_need(event);
	unsigned int branches = event_has_branches(event);
	struct perf_event *member;

	if (event->group_leader == event)
		return 0;
	if (!pvperf_core_rotates(event))
		return event_check_group_unlocked(event);
	/* It was a sibling, and has left its group: core refuses that after us. */
	if (event->group_leader->group_leader != event->group_leader)
		return -EINVAL;
	pvperf_group_each(member, event->group_leader) {
		/* It has eight bits for each kind. perf has 64 counters (X86_PMC_IDX_MAX). */
		if (pvperf_counters_sum(need) < 100)
			need += event_need(member);
		branches += event_has_branches(member);
		differs |= event_kind(member) && event_kind(member) != kind;
	}
	if (!branches_fit(branches))
		return refuse_branches_in_group();
	if (kind && differs)
		return -EINVAL;
	if (!pvperf_caps.counters.general || pvperf_counters_fit(&pvperf_caps.counters, need))
		return 0;
	return refuse_group(need);
}

static int event_check_period(struct perf_event *event, u64 period)
{
	if (event->attr.freq || period >= pvperf_period_min(event))
		return 0;
	pvperf_trial_period(&pvperf_event_of(event)->key, period);
	return pvperf_refuse(-EINVAL, "a sampling period of %llu: the host's shortest is %u; use -c %u or a frequency (-F)",
			     period, pvperf_caps.min_period, pvperf_caps.min_period);
}

/*
 * The first period of a frequency. core's own, 1, would cost an exit for each of the
 * first events. The right one for a CPU that never waits would be so long that a
 * program of a few milliseconds, and a child that inherits the period, ends before
 * its first sample. So it is an eighth of that.
 */
#define PVPERF_PMU_FIRST	8

static void event_first_period(struct perf_event *event)
{
	u64 guess = 1000ULL * tsc_khz / PVPERF_PMU_FIRST;

	if (!pvperf_event_is_freq(event))
		return;
	/*
	 * In ticks newer kernels look at leaders alone: a member's overflows tell its rate. Most
	 * software events count time, for which the guess is right.
	 */
	if (event->group_leader != event && pvperf_event_of(event)->hardware)
		guess = 0;
	event->hw.sample_period = max(pvperf_period_min(event), guess / event->attr.sample_freq);
}

/*
 * Refuses for the reasons of bare metal only. Other reasons may be gone later. What the policy
 * forbids is tried as well: the host counts what it refuses, for its admin.
 */
static int key_try(const struct pvperf_key *key, int *slot)
{
	int err = pvperf_trial_open(key, slot);
	struct pvperf_key counting = *key;

	counting.sampling = false;
	if (err == -KVM_EOPNOTSUPP && key->sampling && !pvperf_trial_open(&counting, slot))
		return pvperf_refuse(-EOPNOTSUPP, "samples: the host gives none, its sysctl kernel.perf_event_max_sample_rate is at its tick's rate or below; use perf stat");
	if (err == -KVM_EPERM || !pvperf_key_allowed(key))
		return pvperf_key_refuse(key);
	if (err == -KVM_ENOENT)
		return -ENOENT;
	return err == -KVM_EINVAL ? -EINVAL : 0;
}

/* @kinds: those that a program asked for. */
static int refuse_branches_of(u64 kinds)
{
	if (kinds & PERF_SAMPLE_BRANCH_KERNEL)
		return pvperf_refuse(-EOPNOTSUPP, "branch stacks of the kernel: the host gives those of user mode; use -j any,u, or -b -e cycles:u");
	return pvperf_refuse(-EOPNOTSUPP, "branch stacks of this kind (%#llx): there are any, and if this kernel can tell them apart any_call, any_ret, ind_call, cond, ind_jmp and call, of user mode",
			     kinds);
}

/* In the order in which the makers' drivers look, and as they do before the config. */
static int event_check(struct perf_event *event)
{
	u64 regs = event->attr.sample_regs_user | event->attr.sample_regs_intr;

	if (!pvperf_key_is_asked(event))
		return -ENOENT;
	if (event->attr.precise_ip)
		return pvperf_refuse(-EOPNOTSUPP, "precise samples (:p): a sample is made by an NMI, which comes some instructions late; leave :p out");
	if (has_branch_stack(event) && !pvperf_branches_can(event))
		return pvperf_caps.features & KVM_PERF_FEATURE_BRANCHES ?
		       refuse_branches_of(event->attr.branch_sample_type) :
		       pvperf_key_refuse_branches();
	return regs & PERF_REG_EXTENDED_MASK ? -EINVAL : 0;
}

/* So many slots of the CPU that reads the host's CPUs, or half, are not for these. */
#define PVPERF_OWN_SLOTS	16

/* Events of the host's CPUs, which are all in slots of one CPU of the guest. */
static atomic_t nr_whole;

/* The guest's own events keep some slots. PMUs take no turns: what is more would wait for ever. */
static int whole_place(void)
{
	int all = pvperf_caps.events, most = all - min(all / 2, PVPERF_OWN_SLOTS);

	if (atomic_inc_return(&nr_whole) <= most)
		return 0;
	atomic_dec(&nr_whole);
	return pvperf_refuse(-EINVAL, "more than %d events of the host's CPUs at a time: count fewer events, or fewer CPUs (pvperf_host_0/.../)",
			     most);
}

static int event_setup(struct perf_event *event, struct pvperf_event *p)
{
	int err;

	/* This guest has no guests. */
	p->nested_only = event->attr.exclude_host;
	p->hardware = p->key.type != KVM_PERF_TYPE_SOFTWARE && !p->nested_only;
	p->tuned = event->parent;
	/* A fork would fail if this did. */
	if (event->parent)
		return 0;
	err = key_try(&p->key, &p->last);
	/* The trial may have found another host. */
	if (p->key.model)
		p->key.model = pvperf_caps.model;
	if (!err && p->hardware)
		err = event_check_group(event);
	if (err || !is_sampling_event(event))
		return err;
	return event_check_period(event, event->attr.sample_period);
}

static void event_destroy(struct perf_event *event)
{
	if (pvperf_event_of(event)->key.flags & KVM_PERF_FLAG_CPU)
		atomic_dec(&nr_whole);
	pvperf_watch_put();
	/* A flush may still look at it, with IRQs off. */
	kfree_rcu(pvperf_event_of(event), rcu);
}

int pvperf_pmu_event_begin(struct perf_event *event, const struct pvperf_key *key)
{
	struct pvperf_event *p = kzalloc(sizeof(*p), GFP_KERNEL);
	int err;

	if (!p)
		return -ENOMEM;
	p->key = *key;
	event->pmu_private = p;
	err = event_setup(event, p);
	if (!err && key->flags & KVM_PERF_FLAG_CPU)
		err = whole_place();
	if (err) {
		event->pmu_private = NULL;
		kfree(p);
		return err;
	}
	if (is_sampling_event(event))
		event_first_period(event);
	event->destroy = event_destroy;
	pvperf_watch_get();
	return 0;
}

/* A generic event that names no PMU, where there is one for each kind of cores. */
static bool event_asks_for_sum(const struct perf_event *event)
{
	return event->attr.type != event->pmu->type && event->pmu->type == PERF_TYPE_RAW &&
	       pvperf_nr_kinds;
}

static int event_init(struct perf_event *event)
{
	struct pvperf_key key;
	int err;

	/* A load that fails frees the PMUs that it has registered: no event may be open then. */
	if (THIS_MODULE->state == MODULE_STATE_COMING)
		return -ENOENT;
	/* A child counts as its parent does, whatever the host allows by now. */
	if (event->parent && !pvperf_event_is(event->parent))
		return -ENOENT;
	if (event->parent)
		return pvperf_pmu_event_begin(event, &pvperf_event_of(event->parent)->key);
	pvperf_trial_look_again();
	err = event_check(event) ?: pvperf_key_of(event, &key);
	if (err)
		return err;
	if (!(key.flags & PVPERF_KEY_APART))
		key.need = key_need(&key);
	err = pvperf_pmu_event_begin(event, &key);
	/* Next core would ask the PMUs of the kinds, which count a part. */
	return err == -ENOENT && event_asks_for_sum(event) ? -EOPNOTSUPP : err;
}

/* ------------------------------------------------------------- registration */

struct pmu pvperf_pmu_template = {
	.module		= THIS_MODULE,
	.task_ctx_nr	= perf_hw_context,
	.pmu_enable	= bracket_end,
	.pmu_disable	= bracket_begin,
	.event_init	= event_init,
	.add		= pvperf_event_add,
	.del		= pvperf_event_del,
	.start		= pvperf_event_start,
	.stop		= pvperf_event_stop,
	.read		= pvperf_read_event,
	.start_txn	= txn_start,
	.commit_txn	= txn_commit,
	.cancel_txn	= txn_cancel,
	.check_period	= event_check_period,
};

/* 1 or 0; -ENOMEM or -EINTR: it can't be told. Other errors are those of a PMU that is in use. */
static int guest_has_pmu(void)
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
	if (event == ERR_PTR(-ENOMEM) || event == ERR_PTR(-EINTR))
		return PTR_ERR(event);
	return event != ERR_PTR(-ENOENT);
}

static int pmu_register(const char *name, int type, const struct attribute_group **groups)
{
	struct pmu *pmu;

	pvperf_pmu_template.attr_groups = groups;
	pmu = pvperf_compat_pmu_register(&pvperf_pmu_template, name, type);
	if (IS_ERR(pmu))
		return PTR_ERR(pmu);
	pmus[nr_pmus++] = pmu;
	return 0;
}

/* What programs ask for without a PMU's name, cycles and the like, is of the PMU of this type. */
static int pmus_register_cpu(void)
{
	int err = pmu_register("cpu", PERF_TYPE_RAW, pvperf_sysfs_cpu);

	/* So that events of "pvperf" may be in a group with events of "cpu". */
	pvperf_pmu_template.task_ctx_nr = perf_sw_context;
	return err ?: pmu_register("pvperf", -1, pvperf_sysfs_pvperf);
}

/* perf asks each PMU of a kind, as on such a machine. Other programs get the sum. */
static int pmus_register_kinds(void)
{
	int err = pmu_register("pvperf", PERF_TYPE_RAW, pvperf_sysfs_pvperf);
	unsigned int kind;

	pvperf_pmu_template.capabilities |= PERF_PMU_CAP_EXTENDED_HW_TYPE;
	for (kind = 1; kind <= KVM_PERF_KINDS && !err; kind++)
		if (pvperf_kinds_name(kind))
			err = pmu_register(pvperf_kinds_name(kind), -1, pvperf_sysfs_kind);
	return err;
}

static int pmus_register(bool has)
{
	if (has)
		return pmu_register("pvperf", -1, pvperf_sysfs_pvperf);
	return pvperf_nr_kinds ? pmus_register_kinds() : pmus_register_cpu();
}

int pvperf_pmu_init(void)
{
	int err, has = guest_has_pmu();

	if (has < 0)
		return has;
	if (!(pvperf_caps.features & KVM_PERF_FEATURE_SAMPLING))
		pvperf_pmu_template.capabilities = PERF_PMU_CAP_NO_INTERRUPT;
	if (pvperf_caps.features & KVM_PERF_FEATURE_KINDS) {
		pvperf_pmu_template.add = pvperf_event_add_kind;
		pvperf_pmu_template.del = pvperf_event_del_kind;
	}
	if (has)
		pr_info("this VM has a PMU of its own (vPMU), and perf takes that for cycles and the like; ours are pvperf/vcpu-cycles/ and so on. A VM without a vPMU: -cpu ...,pmu=off, in libvirt <pmu state='off'/>, or kvm.enable_pmu=0 on the host\n");
	else
		pvperf_kinds_init();
	pvperf_sysfs_init();
	err = pmus_register(has);
	if (err)
		pvperf_pmu_exit();
	return err;
}

void pvperf_pmu_exit(void)
{
	while (nr_pmus)
		pvperf_compat_pmu_unregister(pmus[--nr_pmus]);
}
