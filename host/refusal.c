// SPDX-License-Identifier: GPL-2.0
/* Counts refusals, and lets a VM wait. Most VMs have no refusals, and no memory for them. */
#define pr_fmt(fmt) "pvperf_host: " fmt

#include <linux/atomic.h>
#include <linux/ktime.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/printk.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/time64.h>
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
	if (attr) {
		WRITE_ONCE(refusals[word].type, attr->type);
		WRITE_ONCE(refusals[word].config, attr->config);
	}
	WRITE_ONCE(refusals[word].last, ktime_get_seconds());
	/* Who reads .times finds the others; pairs with refusals_show(). */
	smp_mb__before_atomic();
	atomic64_inc(&refusals[word].times);
}

void pvperf_refusal_log(const char *why)
{
	pr_notice_ratelimited("VM of process %d (%s) is refused: %s\n",
			      current->tgid, current->group_leader->comm, why);
}

/* ns; KVM's memory slots wait meanwhile, as the vCPU is in its SRCU. */
#define PACE_MOST	(NSEC_PER_SEC / 10)

/*
 * A token bucket, as the time in ns at which the next token is there. Returns how long to wait for
 * it; if that is more than PACE_MOST none is taken.
 */
static u64 pace(atomic64_t *next, u64 now, u32 rate)
{
	s64 old = atomic64_read(next), at;

	do {
		at = max_t(s64, old, now - NSEC_PER_SEC) + div_u64(NSEC_PER_SEC, rate);
		if (unlikely(at > (s64)(now + PACE_MOST)))
			break;
	} while (!atomic64_try_cmpxchg(next, &old, at));
	return at > (s64)now ? at - now : 0;
}

int pvperf_refusal_pace(struct pvperf_vm *vm, enum pvperf_word word, atomic64_t *next, u32 rate)
{
	u64 wait = pace(next, ktime_get_ns(), rate);

	if (likely(!wait))
		return 0;
	pvperf_refusal_note(vm, word, NULL);
	if (wait > PACE_MOST)
		return -KVM_EBUSY;
	schedule_timeout_killable(nsecs_to_jiffies(wait) + 1);
	return 1;
}
