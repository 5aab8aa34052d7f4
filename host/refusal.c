// SPDX-License-Identifier: GPL-2.0
/* Counts refusals, and lets a VM wait. Most VMs have no refusals, and no memory for them. */
#include <linux/atomic.h>
#include <linux/ktime.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include "pace.h"
#include "refusal.h"
#include "state.h"

static struct pvperf_refusal *refusals_of(struct pvperf_vm *vm)
{
	struct pvperf_refusal *refusals = READ_ONCE(vm->refusals), *fresh;

	if (refusals)
		return refusals;
	fresh = kcalloc(PVPERF_WORDS, sizeof(*fresh), GFP_KERNEL_ACCOUNT);
	refusals = fresh ? cmpxchg(&vm->refusals, NULL, fresh) : NULL;
	if (refusals)
		kfree(fresh);
	return refusals ?: fresh;
}

void pvperf_refusal_note(struct pvperf_vm *vm, enum pvperf_word word,
			 const struct guest_perf_attr *attr)
{
	struct pvperf_refusal *refusals = refusals_of(vm);

	if (!refusals)
		return;
	atomic64_inc(&refusals[word].times);
	if (!attr)
		return;
	WRITE_ONCE(refusals[word].type, attr->type);
	WRITE_ONCE(refusals[word].config, attr->config);
}

void pvperf_refusal_pace(struct pvperf_vm *vm, enum pvperf_word word, atomic64_t *next, u32 rate)
{
	u64 wait = pvperf_pace(next, ktime_get_ns(), rate);

	if (!wait)
		return;
	pvperf_refusal_note(vm, word, NULL);
	schedule_timeout_killable(nsecs_to_jiffies(wait) + 1);
}
