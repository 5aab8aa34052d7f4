// SPDX-License-Identifier: GPL-2.0
/*
 * Cores of several kinds. perf's room: may know struct perf_event, not KVM.
 *
 * Each perf_event of an event has a period of its own: what was counted of it on one kind of core
 * does not count on another, and an ENABLE, or a new thread, has each begin with the same rest. So
 * where a vCPU moves, an overflow may be early or late by a period for each other kind.
 */
#include <linux/cpumask.h>
#include <linux/err.h>
#include <linux/perf_event.h>
#include <linux/sched.h>
#include <linux/string.h>
#include <asm/cpufeature.h>
#include <pvperf/codes.h>
#include "../compat/core.h"
#include "kinds.h"

/* perf's numbers of PMUs are given in turn; those of the cores' early in the boot. */
#define TYPES		64

/* Also those without a CPU, so that a kind's number is the same on all hosts of a model. */
static struct kind {
	u32 type;			/* perf's number of the PMU */
	char name[KVM_PERF_KIND_NAME];	/* not terminated if full */
	struct cpumask cpus;		/* of this kind, online at the load */
} kinds[KVM_PERF_KINDS];

static u32 nr_kinds;
static u32 kinds_there;			/* bit n: the kind n had a CPU online at the load */
DEFINE_STATIC_KEY_FALSE(pvperf_kinds_differ);

DEFINE_STATIC_CALL(pvperf_perf_create, perf_event_create_kernel_counter);
DEFINE_STATIC_CALL(pvperf_perf_release, perf_event_release_kernel);
DEFINE_STATIC_CALL(pvperf_perf_enable, perf_event_enable);
DEFINE_STATIC_CALL(pvperf_perf_disable, perf_event_disable);
DEFINE_STATIC_CALL(pvperf_perf_count, pvperf_compat_count);
DEFINE_STATIC_CALL(pvperf_perf_read_value, perf_event_read_value);

/* The other perf_events of an event; NULL behind the last one. */
static struct perf_event *other_of(const struct pvperf_host_event *event, int i)
{
	return i < ARRAY_SIZE(event->other) ? event->other[i] : NULL;
}

/* The same of the event of @perf; none, too, for the event of a CPU, which has one perf_event. */
static struct perf_event *other(const struct perf_event *perf, int i)
{
	const struct pvperf_host_event *event = perf->overflow_handler_context;

	return event ? other_of(event, i) : NULL;
}

#define for_each_other(each, what, of)	\
	for (int __i = 0; ((each) = what(of, __i)); __i++)

/* ------------------------------------------------------------------- creation */

static void attr_be_of(struct perf_event_attr *attr, const struct kind *kind)
{
	if (attr->type == PERF_TYPE_RAW)
		attr->type = kind->type;
	else
		attr->config |= (u64)kind->type << PERF_PMU_TYPE_SHIFT;
}

static struct perf_event *create(const struct perf_event_attr *generic, const struct kind *kind,
				 int cpu, struct task_struct *task,
				 perf_overflow_handler_t handler, void *context)
{
	struct perf_event_attr attr = *generic;

	attr_be_of(&attr, kind);
	return perf_event_create_kernel_counter(&attr, cpu, task, handler, context);
}

static struct perf_event *create_on_cpu(const struct perf_event_attr *attr, int cpu)
{
	struct perf_event *perf = ERR_PTR(-ENOENT);
	u32 i;

	for (i = 0; i < nr_kinds && perf == ERR_PTR(-ENOENT); i++)
		perf = create(attr, &kinds[i], cpu, NULL, NULL, NULL);
	return perf;
}

/* Bit n: kind n. */
static u32 kinds_of(const struct guest_perf_attr *attr)
{
	const u32 kind = KVM_PERF_FLAG_KIND_OF(attr->flags);

	if (kind)
		return kinds_there & BIT(kind - 1);
	return attr->type != KVM_PERF_TYPE_RAW || pvperf_code_is_everywhere(attr->config) ?
	       kinds_there : 0;
}

static void kinds_disable(struct perf_event *perf)
{
	struct perf_event *each;

	perf_event_disable(perf);
	for_each_other(each, other, perf)
		perf_event_disable(each);
}

static int kinds_release(struct perf_event *perf)
{
	struct pvperf_host_event *event = perf->overflow_handler_context;
	struct perf_event *each;
	int i;

	/* The overflow handler of each looks at all. */
	kinds_disable(perf);
	for (i = 0; (each = other(perf, i)); i++) {
		event->other[i] = NULL;
		perf_event_release_kernel(each);
	}
	return perf_event_release_kernel(perf);
}

/*
 * While all CPUs of a kind are offline its driver says that there is no memory. The threads run on
 * the others; an event of that kind alone may be opened later, as one that had no memory.
 */
static bool kind_is_offline(const struct kind *kind, const struct perf_event *perf)
{
	return perf == ERR_PTR(-ENOMEM) && !cpumask_intersects(&kind->cpus, cpu_online_mask);
}

static struct perf_event *create_on_thread(const struct perf_event_attr *attr,
					   struct task_struct *task,
					   perf_overflow_handler_t handler,
					   struct pvperf_host_event *event)
{
	struct perf_event *first = NULL, *skipped = ERR_PTR(-ENOENT), *perf;
	u32 of = kinds_of(&event->attr), i, n = 0;

	for (i = 0; i < nr_kinds; i++) {
		if (!(of & BIT(i)))
			continue;
		perf = create(attr, &kinds[i], -1, task, handler, event);
		if (kind_is_offline(&kinds[i], perf)) {
			skipped = perf;
			continue;
		}
		if (IS_ERR(perf)) {
			if (first)
				kinds_release(first);
			/* Some tables say "not here" by the one, some by the other. */
			return perf == ERR_PTR(-EINVAL) ? ERR_PTR(-ENOENT) : perf;
		}
		if (first)
			event->other[n++] = perf;
		else
			first = perf;
	}
	return first ?: skipped;
}

static struct perf_event *kinds_create(struct perf_event_attr *attr, int cpu,
				       struct task_struct *task,
				       perf_overflow_handler_t handler, void *context)
{
	if (attr->type == PERF_TYPE_SOFTWARE)
		return perf_event_create_kernel_counter(attr, cpu, task, handler, context);
	if (cpu >= 0)
		return create_on_cpu(attr, cpu);
	return create_on_thread(attr, task, handler, context);
}

/* ------------------------------------------------------------------- counting */

/* .perf last: its enabled time is the shortest, see kinds_count(). */
static void kinds_enable(struct perf_event *perf)
{
	struct perf_event *each;

	for_each_other(each, other, perf) {
		if (perf->attr.sample_period)
			pvperf_core_arm(each, perf->hw.sample_period, pvperf_core_left(perf));
		perf_event_enable(each);
	}
	perf_event_enable(perf);
}

/*
 * The thread runs on one kind of core at a time, so the running times are added; where one of the
 * others ran alone, that sum is a moment longer than .perf was enabled. Leaves @now as it is, so
 * that the next event is read here, too.
 */
static int kinds_count(struct perf_event *perf, struct pvperf_compat_now *now, u64 *count,
		       u64 *enabled, u64 *running)
{
	struct pvperf_compat_now unused;
	u64 counted, one, ran;
	struct perf_event *each;
	int err = pvperf_compat_count(perf, &unused, count, enabled, running);

	for_each_other(each, other, perf) {
		err = err ?: pvperf_compat_count(each, &unused, &counted, &one, &ran);
		if (err)
			return err;
		*count += counted;
		*running += ran;
	}
	*enabled = max(*enabled, *running);
	return err;
}

static u64 kinds_read_value(struct perf_event *perf, u64 *enabled, u64 *running)
{
	u64 one, ran, count = perf_event_read_value(perf, enabled, running);
	struct perf_event *each;

	for_each_other(each, other, perf) {
		count += perf_event_read_value(each, &one, &ran);
		*running += ran;
	}
	*enabled = max(*enabled, *running);
	return count;
}

u64 pvperf_kinds_count_nmi(const struct pvperf_host_event *event)
{
	u64 count = pvperf_core_count_nmi(event->perf);
	struct perf_event *each;

	for_each_other(each, other_of, event)
		count += pvperf_core_count_nmi(each);
	return count;
}

void pvperf_kinds_period_nmi(const struct pvperf_host_event *event, const struct perf_event *perf,
			     u64 period)
{
	struct perf_event *each = event->perf;
	s64 left;
	int i;

	for (i = 0; each; each = other_of(event, i++)) {
		left = pvperf_core_left(each);
		if (each != perf)
			pvperf_core_arm(each, period, left > 0 && left < period ? left : period);
	}
}

int pvperf_kinds_state(const struct pvperf_host_event *event)
{
	int now, state = READ_ONCE(event->perf->state);
	struct perf_event *each;

	for_each_other(each, other_of, event) {
		now = READ_ONCE(each->state);
		if (now == PERF_EVENT_STATE_ACTIVE || state == PERF_EVENT_STATE_INACTIVE)
			state = now;
	}
	return state;
}

bool pvperf_kinds_failed(const struct pvperf_host_event *event)
{
	bool failed = pvperf_core_failed(event->perf);
	struct perf_event *each;

	for_each_other(each, other_of, event)
		failed |= pvperf_core_failed(each);
	return failed;
}

void pvperf_kinds_retry(struct pvperf_host_event *event)
{
	struct perf_event *each;

	for_each_other(each, other_of, event)
		pvperf_core_retry(each);
}

/* ------------------------------------------------------------------------ load */

/* Of the host alone, so a PMU that is lent to a VM is no reason to fail. */
static struct perf_event *create_cycles(const struct kind *kind, int cpu)
{
	const struct perf_event_attr attr = {
		.size = sizeof(attr),
		.type = PERF_TYPE_HARDWARE,
		.config = PERF_COUNT_HW_CPU_CYCLES,
		.disabled = 1,
		.exclude_guest = 1,
	};

	return create(&attr, kind, cpu, cpu < 0 ? current : NULL, NULL, NULL);
}

static void kind_find_cpus(struct kind *kind)
{
	struct perf_event *perf;
	int cpu;

	for_each_online_cpu(cpu) {
		perf = create_cycles(kind, cpu);
		if (!IS_ERR(perf))
			perf_event_release_kernel(perf);
		/* Any other error is about who loads the module, or about the moment. */
		if (perf != ERR_PTR(-ENOENT) && perf != ERR_PTR(-ENODEV))
			cpumask_set_cpu(cpu, &kind->cpus);
	}
}

static void kind_add(u32 type)
{
	struct kind *kind = &kinds[nr_kinds];
	struct perf_event *perf;

	kind->type = type;
	perf = create_cycles(kind, -1);
	if (perf == ERR_PTR(-ENOMEM))	/* it may really have had none */
		perf = create_cycles(kind, -1);
	/* The driver's answer for a PMU without a CPU, which has a number, too. */
	if (perf == ERR_PTR(-ENOMEM))
		nr_kinds++;
	if (IS_ERR(perf))
		return;
	/* perf asks all PMUs about a type that it does not know. */
	if (perf->pmu->type == type) {
		memcpy(kind->name, perf->pmu->name,
		       min(strlen(perf->pmu->name), sizeof(kind->name)));
		kind_find_cpus(kind);
		if (!cpumask_empty(&kind->cpus))
			kinds_there |= BIT(nr_kinds);
		nr_kinds++;
	}
	perf_event_release_kernel(perf);
}

u32 pvperf_kinds_init(void)
{
	u32 type;

	if (!boot_cpu_has(X86_FEATURE_HYBRID_CPU))
		return 0;
	kind_add(PERF_TYPE_RAW);
	for (type = PERF_TYPE_MAX; type < TYPES && nr_kinds < KVM_PERF_KINDS; type++)
		kind_add(type);
	/* The type RAW's alone is what perf takes by itself. */
	if (!kinds_there || (kinds_there == BIT(0) && kinds[0].type == PERF_TYPE_RAW))
		return kinds_there = 0;
	static_call_update(pvperf_perf_create, kinds_create);
	static_call_update(pvperf_perf_release, kinds_release);
	static_call_update(pvperf_perf_enable, kinds_enable);
	static_call_update(pvperf_perf_disable, kinds_disable);
	static_call_update(pvperf_perf_count, kinds_count);
	static_call_update(pvperf_perf_read_value, kinds_read_value);
	static_branch_enable(&pvperf_kinds_differ);
	return nr_kinds;
}

void pvperf_kinds_cpuid(u32 leaf, u32 *eax, u32 *ebx, u32 *ecx, u32 *edx)
{
	const u32 i = leaf - KVM_PERF_CPUID_KINDS;
	const char *name = kinds[i].name;

	*eax = *ebx = *ecx = *edx = 0;
	if (!(kinds_there & BIT(i)))
		return;
	*eax = KVM_PERF_FLAG_KIND(i + 1);
	memcpy(ebx, name, 4);
	memcpy(ecx, name + 4, 4);
	memcpy(edx, name + 8, 4);
}
