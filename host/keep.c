// SPDX-License-Identifier: GPL-2.0
/*
 * Keeps the kinds of events that guests use from being the host's first or last. perf's
 * room: may know struct perf_event, not KVM.
 *
 * Ours are bound to a CPU, disabled, and exclude guests: they take no counter, and do
 * not keep a mediated vPMU from being lent. If one is missing, for want of memory or of
 * a PMU, guests' events work all the same, and only cost more.
 */
#include <linux/err.h>
#include <linux/jiffies.h>
#include <linux/kvm_pvperf.h>
#include <linux/mutex.h>
#include <linux/perf_event.h>
#include <linux/smp.h>
#include <linux/workqueue.h>
#include "keep.h"

/* How long after the last use of a kind its event is kept. */
#define KEEP_FOR	(10 * HZ)

struct keep {
	u32 type;
	u64 config;
	atomic_t users;
	unsigned long last;		/* when the last user went */
	struct perf_event *perf;	/* created and released under keep_lock */
};

/* All hardware events are one kind: what perf does for the first is the driver's. */
static struct keep keeps[] = {
	{ PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES },
	{ PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS },
	{ PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CONTEXT_SWITCHES },
	{ PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_MIGRATIONS },
};

static DEFINE_MUTEX(keep_lock);

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

	mutex_lock(&keep_lock);
	if (!keep->perf) {
		perf = perf_event_create_kernel_counter(&attr, raw_smp_processor_id(),
							NULL, NULL, NULL);
		if (!IS_ERR(perf))
			WRITE_ONCE(keep->perf, perf);
	}
	mutex_unlock(&keep_lock);
}

static void keep_release(struct keep *keep)
{
	struct perf_event *perf = keep->perf;

	lockdep_assert_held(&keep_lock);
	if (!perf)
		return;
	WRITE_ONCE(keep->perf, NULL);
	perf_event_release_kernel(perf);
}

static void keep_work(struct work_struct *work);
static DECLARE_DELAYED_WORK(keep_later, keep_work);

/* A guest that begins to use a kind just now finds none kept, and is slow once. */
static void keep_work(struct work_struct *work)
{
	bool again = false;
	struct keep *keep;

	mutex_lock(&keep_lock);
	for (keep = keeps; keep < keeps + ARRAY_SIZE(keeps); keep++) {
		if (!keep->perf || atomic_read(&keep->users))
			continue;
		if (time_before(jiffies, READ_ONCE(keep->last) + KEEP_FOR))
			again = true;
		else
			keep_release(keep);
	}
	mutex_unlock(&keep_lock);
	if (again)
		schedule_delayed_work(&keep_later, HZ);
}

void pvperf_keep_get(const struct guest_perf_attr *attr)
{
	struct keep *keep = keep_of(attr);

	if (!keep)
		return;
	atomic_inc(&keep->users);
	if (!READ_ONCE(keep->perf))
		keep_create(keep);
}

void pvperf_keep_put(const struct guest_perf_attr *attr)
{
	struct keep *keep = keep_of(attr);

	if (!keep)
		return;
	WRITE_ONCE(keep->last, jiffies);
	if (atomic_dec_and_test(&keep->users))
		schedule_delayed_work(&keep_later, KEEP_FOR);
}

u32 pvperf_keep_count(void)
{
	const struct keep *keep;
	u32 n = 0;

	for (keep = keeps; keep < keeps + ARRAY_SIZE(keeps); keep++)
		n += !!READ_ONCE(keep->perf);
	return n;
}

void pvperf_keep_exit(void)
{
	struct keep *keep;

	cancel_delayed_work_sync(&keep_later);
	mutex_lock(&keep_lock);
	for (keep = keeps; keep < keeps + ARRAY_SIZE(keeps); keep++)
		keep_release(keep);
	mutex_unlock(&keep_lock);
}
