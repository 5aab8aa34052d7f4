// SPDX-License-Identifier: GPL-2.0
/*
 * What the guest module needs from perf core and core does not export. Calls perf
 * core and pvperf_symbol(), knows nothing of slots, pages or hypercalls. The
 * invariant: on a kernel that lacks something the module refuses to load; nothing
 * fails later.
 */
#define pr_fmt(fmt) "pvperf_guest: " fmt

#include <linux/cpumask.h>
#include <linux/err.h>
#include <linux/hrtimer.h>
#include <linux/module.h>
#include <linux/slab.h>
#include "perf.h"
#include "symbol.h"

DEFINE_STATIC_CALL_RET0(pvperf_overflow, perf_event_overflow);
DEFINE_STATIC_CALL_NULL(pvperf_sample_took, perf_sample_event_took);
/* The drivers' own: they decode the instruction. No header has their types. */
DEFINE_STATIC_CALL_RET0(pvperf_branch_type, int (unsigned long, unsigned long, int, int *));
DEFINE_STATIC_CALL_RET0(pvperf_common_type, int (int));

static bool has_branch_types;

bool pvperf_compat_has_branch_types(void)
{
	return has_branch_types;
}

int pvperf_compat_branch_type_nmi(unsigned long from, unsigned long to, int *offset)
{
	int type = static_call(pvperf_branch_type)(from, to, 0, offset);

	return static_call(pvperf_common_type)(type);
}

static void branch_types_init(void)
{
	unsigned long type = pvperf_symbol("branch_type_fused");
	unsigned long common = pvperf_symbol("common_branch_type");

	if (!type || !common)
		return;
	static_call_update(pvperf_branch_type, (void *)type);
	static_call_update(pvperf_common_type, (void *)common);
	has_branch_types = true;
}

/*
 * Up to 6.1 (told by the capability, whose bit later got another meaning) contexts
 * of tasks use a struct pmu after it was unregistered: its disable count and its
 * functions for brackets and transactions, also around events of the PMU that came after it. So
 * on these kernels the struct pmu is never freed, and is given what these contexts need: a
 * count, and core's own empty functions. Between perf's free of the count and that, a switch
 * to such a task adds 1 to freed memory, and takes it off again.
 */
#ifdef PERF_PMU_CAP_HETEROGENEOUS_CPUS

struct kept_pmu {
	struct pmu pmu;
	int __percpu *disable_count;	/* used after the PMU was unregistered */
};

static struct {
	void (*bracket)(struct pmu *pmu);
	void (*start)(struct pmu *pmu, unsigned int flags);
	int (*commit)(struct pmu *pmu);
} core_nop;

static int kept_pmu_init(void)
{
	core_nop.bracket = (void *)pvperf_symbol("perf_pmu_nop_void");
	core_nop.start = (void *)pvperf_symbol("perf_pmu_nop_txn");
	core_nop.commit = (void *)pvperf_symbol("perf_pmu_nop_int");
	return core_nop.bracket && core_nop.start && core_nop.commit ? 0 : -ENOENT;
}

static struct pmu *kept_pmu_alloc(void)
{
	struct kept_pmu *c = kzalloc(sizeof(*c), GFP_KERNEL);

	if (!c)
		return NULL;
	c->disable_count = alloc_percpu(int);
	if (c->disable_count)
		return &c->pmu;
	kfree(c);
	return NULL;
}

/* Without the capability only one PMU ever may have the tasks' hardware context. */
static void kept_pmu_prepare(struct pmu *pmu)
{
	pmu->capabilities |= PERF_PMU_CAP_HETEROGENEOUS_CPUS;
}

static void kept_pmu_free(struct pmu *pmu)
{
	struct kept_pmu *c = container_of(pmu, typeof(*c), pmu);

	free_percpu(c->disable_count);
	kfree(c);
}

static void kept_pmu_leave(struct pmu *pmu)
{
	struct kept_pmu *c = container_of(pmu, typeof(*c), pmu);

	pmu->pmu_disable_count = c->disable_count;
	pmu->pmu_enable = core_nop.bracket;
	pmu->pmu_disable = core_nop.bracket;
	pmu->start_txn = core_nop.start;
	pmu->commit_txn = core_nop.commit;
	pmu->cancel_txn = core_nop.bracket;
	pmu->name = NULL;
	pmu->attr_groups = NULL;
}

#else

static int kept_pmu_init(void)
{
	return 0;
}

static struct pmu *kept_pmu_alloc(void)
{
	return kzalloc(sizeof(struct pmu), GFP_KERNEL);
}

static void kept_pmu_prepare(struct pmu *pmu)
{
}

static void kept_pmu_free(struct pmu *pmu)
{
	kfree(pmu);
}

#define kept_pmu_leave	kept_pmu_free

#endif

struct pmu *pvperf_compat_pmu_register(const struct pmu *like, const char *name,
				       int type)
{
	struct pmu *pmu = kept_pmu_alloc();
	int err;

	if (!pmu)
		return ERR_PTR(-ENOMEM);
	*pmu = *like;
	kept_pmu_prepare(pmu);
	err = perf_pmu_register(pmu, name, type);
	if (!err)
		return pmu;
	kept_pmu_free(pmu);
	return ERR_PTR(err);
}

#ifdef PERF_PMU_CAP_HETEROGENEOUS_CPUS
/* PMUs share perf's timers, which are never freed. */
static void pmu_timers_retire(struct pmu *pmu)
{
}
#else
/* Each CPU has one; on newer kernels, a pointer to one. */
static struct perf_cpu_pmu_context *pmu_context(struct pmu *pmu, int cpu)
{
	void *there = per_cpu_ptr(pmu->cpu_pmu_context, cpu);

	return __same_type(*pmu->cpu_pmu_context, struct perf_cpu_pmu_context) ?
	       there : *(void **)there;
}

/*
 * perf frees the timers by which it rotates a PMU's events, and does not cancel them: one
 * may be armed for perf_event_mux_interval_ms after the last event. perf arms none that it
 * believes to be active.
 */
static void pmu_timers_retire(struct pmu *pmu)
{
	struct perf_cpu_pmu_context *context;
	unsigned long flags;
	int cpu;

	for_each_possible_cpu(cpu) {
		context = pmu_context(pmu, cpu);
		if (!context)
			continue;
		hrtimer_cancel(&context->hrtimer);
		raw_spin_lock_irqsave(&context->hrtimer_lock, flags);
		context->hrtimer_active = 1;
		raw_spin_unlock_irqrestore(&context->hrtimer_lock, flags);
		hrtimer_cancel(&context->hrtimer);
	}
}
#endif

void pvperf_compat_pmu_unregister(struct pmu *pmu)
{
	pmu_timers_retire(pmu);
	perf_pmu_unregister(pmu);
	kept_pmu_leave(pmu);
}

int pvperf_compat_init(void)
{
	unsigned long overflow = pvperf_symbol("perf_event_overflow");
	unsigned long took = pvperf_symbol("perf_sample_event_took");

	if (!overflow || !took || kept_pmu_init()) {
		pr_err("this kernel hides a function of perf; not loading\n");
		return -ENOENT;
	}
	static_call_update(pvperf_overflow, (void *)overflow);
	static_call_update(pvperf_sample_took, (void *)took);
	branch_types_init();
	return 0;
}
