// SPDX-License-Identifier: GPL-2.0
/*
 * Keeps the kinds of events that guests use from being the host's first or last. perf's
 * room: may know struct perf_event, not KVM.
 *
 * Ours are bound to a CPU, disabled, and exclude guests: they take no counter, and do
 * not keep a mediated vPMU from being lent. If one is missing, for want of memory or of
 * a PMU, guests' events work all the same, and only cost more.
 *
 * A work makes them, with the kernel's rights: the process of a VM usually has none to an
 * event of a CPU, and would ask the host's security modules at each OPEN.
 */
#include <linux/err.h>
#include <linux/jiffies.h>
#include <linux/kvm_pvperf.h>
#include <linux/perf_event.h>
#include <linux/smp.h>
#include <linux/wait.h>
#include <linux/workqueue.h>
#include "keep.h"
#include "kinds.h"

/* How long after the last use of a kind its event is kept, and after a failure none made. */
#define KEEP_FOR	(10 * HZ)

/*
 * How long an OPEN waits. A process that reads an event of the CPU to memory that does not come
 * holds perf's lock of that CPU, which the work wants, too.
 */
#define KEEP_WAIT	(HZ / 10)

struct keep {
	u32 type;
	u64 config;
	atomic_t users;
	bool wanted;
	unsigned long last;		/* when somebody last wanted or used it */
	unsigned long failed;		/* when none could be made, or in KEEP_WAIT; 0: it could */
	struct perf_event *perf;	/* keep_work() makes and releases it */
};

/* All hardware events are one kind: what perf does for the first is the driver's. */
static struct keep keeps[] = {
	{ PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES },
	{ PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS },
	{ PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CONTEXT_SWITCHES },
	{ PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_MIGRATIONS },
};

/* NULL: the first and the last event of this kind are as cheap as any. */
static struct keep *keep_of(const struct guest_perf_attr *attr)
{
	int i;

	if (attr->type != KVM_PERF_TYPE_SOFTWARE)
		return &keeps[0];
	for (i = 1; i < ARRAY_SIZE(keeps); i++)
		if (keeps[i].config == attr->config)
			return &keeps[i];
	return NULL;
}

static bool keep_failed(const struct keep *keep)
{
	unsigned long failed = READ_ONCE(keep->failed);

	return failed && time_before(jiffies, failed + KEEP_FOR);
}

/* There is one, or nobody waits for one now. */
static bool keep_is_tried(const struct keep *keep)
{
	return READ_ONCE(keep->perf) || keep_failed(keep);
}

static void keep_create(struct keep *keep)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.type = keep->type,
		.config = keep->config,
		.disabled = 1,
		.exclude_guest = 1,
	};
	struct perf_event *perf;

	perf = static_call(pvperf_perf_create)(&attr, raw_smp_processor_id(), NULL, NULL, NULL);
	WRITE_ONCE(keep->failed, IS_ERR(perf) ? jiffies | 1 : 0);
	WRITE_ONCE(keep->perf, IS_ERR(perf) ? NULL : perf);
}

static void keep_release(struct keep *keep)
{
	struct perf_event *perf = keep->perf;

	if (!perf)
		return;
	WRITE_ONCE(keep->perf, NULL);
	perf_event_release_kernel(perf);
}

/* Releases an event that has not been used for long. Returns whether to look again. */
static bool keep_expire(struct keep *keep)
{
	if (!keep->perf || atomic_read(&keep->users))
		return false;
	if (time_before(jiffies, READ_ONCE(keep->last) + KEEP_FOR))
		return true;
	keep_release(keep);
	return false;
}

/* The kernel's own unbound one has another name in 7.x. */
static struct workqueue_struct *keep_works;

static DECLARE_WAIT_QUEUE_HEAD(keep_tried);

static void keep_work(struct work_struct *work);
static DECLARE_DELAYED_WORK(keep_later, keep_work);

static void keep_work(struct work_struct *work)
{
	bool again = false;
	struct keep *keep;

	for (keep = keeps; keep < keeps + ARRAY_SIZE(keeps); keep++) {
		if (xchg(&keep->wanted, false) && !keep->perf)
			keep_create(keep);
		again |= keep_expire(keep);
	}
	wake_up_all(&keep_tried);
	if (again)
		queue_delayed_work(keep_works, &keep_later, HZ);
}

/* noinline: it wants more of a stack's frame than an OPEN that finds one. */
static noinline void keep_want(struct keep *keep)
{
	WRITE_ONCE(keep->wanted, true);
	mod_delayed_work(keep_works, &keep_later, 0);
	/* So that not each OPEN of a batch waits. The work may still make the event. */
	if (!wait_event_killable_timeout(keep_tried, keep_is_tried(keep), KEEP_WAIT))
		WRITE_ONCE(keep->failed, jiffies | 1);
}

void pvperf_keep_make(const struct guest_perf_attr *attr)
{
	struct keep *keep = keep_of(attr);

	if (!keep)
		return;
	WRITE_ONCE(keep->last, jiffies);
	if (unlikely(!keep_is_tried(keep)))
		keep_want(keep);
}

void pvperf_keep_get(const struct guest_perf_attr *attr)
{
	struct keep *keep = keep_of(attr);

	if (keep)
		atomic_inc(&keep->users);
}

void pvperf_keep_put(const struct guest_perf_attr *attr)
{
	struct keep *keep = keep_of(attr);

	if (!keep)
		return;
	WRITE_ONCE(keep->last, jiffies);
	if (atomic_dec_and_test(&keep->users))
		queue_delayed_work(keep_works, &keep_later, KEEP_FOR);
}

u32 pvperf_keep_count(void)
{
	const struct keep *keep;
	u32 n = 0;

	for (keep = keeps; keep < keeps + ARRAY_SIZE(keeps); keep++)
		n += !!READ_ONCE(keep->perf);
	return n;
}

int pvperf_keep_init(void)
{
	keep_works = alloc_workqueue("pvperf_keep", WQ_UNBOUND, 1);
	return keep_works ? 0 : -ENOMEM;
}

void pvperf_keep_exit(void)
{
	struct keep *keep;

	cancel_delayed_work_sync(&keep_later);
	for (keep = keeps; keep < keeps + ARRAY_SIZE(keeps); keep++)
		keep_release(keep);
	destroy_workqueue(keep_works);
}
