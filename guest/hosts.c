// SPDX-License-Identifier: GPL-2.0
/*
 * A PMU for each CPU of the host: pvperf_host_0, pvperf_host_1 and so on. To perf they are
 * one PMU pvperf_host in several boxes, whose counts it adds. They are there from when the
 * host first lets this VM count them. One CPU of the guest opens and reads the events of all.
 * Calls pmu.h for what is alike in all PMUs. The invariant: a PMU that was registered stays
 * until the module's exit, as programs may have it open.
 */
#define pr_fmt(fmt) "pvperf_guest: " fmt

#include <linux/err.h>
#include <linux/jiffies.h>
#include <linux/minmax.h>
#include <linux/rcupdate.h>
#include <linux/slab.h>
#include <linux/workqueue.h>
#include <linux/xarray.h>
#include "../compat/perf.h"
#include "caps.h"
#include "hosts.h"
#include "key.h"
#include "pmu.h"
#include "refuse.h"
#include "state.h"
#include "sysfs.h"
#include "trial.h"

/* Deferrable: a host that allows these PMUs later is not worth waking an idle CPU. */
#define HOSTS_EVERY	(2 * HZ)
#define HOSTS_MAX	1024

struct host_cpu {
	struct pmu *pmu;
	char name[24];
};

static DEFINE_XARRAY(hosts);	/* struct host_cpu, by number; no registered one goes */
static u32 seen_online;		/* how many CPUs were online at the last whole look */
static unsigned long look_at;	/* not before; jiffies */

static int host_cpu_of(const struct pmu *pmu)
{
	struct host_cpu *host;
	int found = -ENOENT;
	unsigned long nr;

	/* By name: the first event may be opened before perf_pmu_register() has returned. */
	rcu_read_lock();
	xa_for_each(&hosts, nr, host)
		if (pmu->name == host->name)
			found = nr;
	rcu_read_unlock();
	return found;
}

static int host_event_init(struct perf_event *event)
{
	struct pvperf_key key;
	int err, nr;

	if (event->attr.type != event->pmu->type)
		return -ENOENT;
	/* perf 6.12 would try again for ever if core refused it, with -EOPNOTSUPP. */
	if (is_sampling_event(event))
		return pvperf_refuse(-EINVAL, "samples of a CPU of the host: it is only counted; use perf stat -a");
	/* An event of a task would count all others, too. */
	if (event->cpu < 0 || event->attach_state & PERF_ATTACH_TASK)
		return -EINVAL;
	nr = host_cpu_of(event->pmu);
	if (nr < 0)
		return nr;
	pvperf_trial_look_again();
	err = pvperf_key_of_cpu(event, nr, &key);
	if (err)
		return err;
	event->cpu = PVPERF_READER;
	return pvperf_pmu_event_begin(event, &key);
}

static int host_register(struct host_cpu *host)
{
	struct pmu like = pvperf_pmu_template, *pmu;

	like.task_ctx_nr = perf_invalid_context;
	like.capabilities = PERF_PMU_CAP_NO_INTERRUPT | PERF_PMU_CAP_NO_EXCLUDE;
	like.event_init = host_event_init;
	like.check_period = NULL;
	like.attr_groups = pvperf_sysfs_host;
	pmu = pvperf_compat_pmu_register(&like, host->name, -1);
	if (IS_ERR(pmu))
		return PTR_ERR(pmu);
	host->pmu = pmu;
	return 0;
}

static int host_add(u32 nr)
{
	struct host_cpu *host = kzalloc(sizeof(*host), GFP_KERNEL);
	int err;

	if (!host)
		return -ENOMEM;
	snprintf(host->name, sizeof(host->name), "pvperf_host_%u", nr);
	/* First: from when it is registered somebody may open an event. */
	err = xa_err(xa_store(&hosts, nr, host, GFP_KERNEL)) ?: host_register(host);
	if (!err)
		return 0;
	xa_erase(&hosts, nr);
	synchronize_rcu();
	kfree(host);
	return err;
}

/* 1: yes, even if no event can be opened now; 0: no; -EAGAIN: the host does not say. */
static int host_is_there(u32 nr)
{
	const struct pvperf_key key = {
		.type = KVM_PERF_TYPE_HARDWARE,
		.config = PERF_COUNT_HW_CPU_CYCLES,
		.flags = KVM_PERF_FLAG_CPU,
		.cpu = nr,
	};
	int slot;

	switch (pvperf_trial_ask(&key, &slot)) {
	case 0:
	case -KVM_ENOSPC:
	case -KVM_EUSERS:
	case -KVM_EOPNOTSUPP:
		return 1;
	case -KVM_ENOENT:
		return 0;
	default:
		return -EAGAIN;
	}
}

static int host_look(u32 nr)
{
	int there = xa_load(&hosts, nr) ? 0 : host_is_there(nr);

	return there > 0 ? host_add(nr) : there;
}

/* A look asks for CPUs that are not there, too, and each such OPEN may take a claim. */
#define HOSTS_AGAIN	(60 * HZ)

/*
 * A CPU of the host may come online later, and then the sum of all lacks it until this runs. If
 * another goes meanwhile, or the VM moves to a host with as many, until their number changes.
 */
static void host_cpus_look(void)
{
	u32 all = 0, nr, online = pvperf_caps_host_cpus(&all);
	bool whole = true;
	static int told;
	int err = 0;

	if (!online || online == seen_online || time_before(jiffies, look_at))
		return;
	for (nr = 0; nr < min_t(u32, all, HOSTS_MAX) && (!err || err == -EAGAIN); nr++) {
		err = host_look(nr);
		whole &= !err;
	}
	if (!whole)
		look_at = jiffies + HOSTS_AGAIN;
	if (err == -EAGAIN)
		err = 0;
	if (err && err != told)
		pr_err("pvperf_host_%u can't be made (error %d); trying again\n", nr - 1, err);
	told = err;
	if (!whole)
		return;
	if (all > HOSTS_MAX)
		pr_warn("of the host's %u CPUs only the first %u are there\n", all, HOSTS_MAX);
	if (!seen_online)
		pr_info("the host lets this VM count all that its CPUs do: pvperf_host/host-cycles/ and so on, in perf stat -a\n");
	seen_online = online;
}

static void hosts_work(struct work_struct *work);
static DECLARE_DEFERRABLE_WORK(next_look, hosts_work);

static void hosts_work(struct work_struct *work)
{
	pvperf_trial_look_again();
	host_cpus_look();
	schedule_delayed_work(&next_look, HOSTS_EVERY);
}

void pvperf_hosts_init(void)
{
	host_cpus_look();
	schedule_delayed_work(&next_look, HOSTS_EVERY);
}

void pvperf_hosts_exit(void)
{
	struct host_cpu *host;
	unsigned long nr;

	cancel_delayed_work_sync(&next_look);
	xa_for_each(&hosts, nr, host) {
		pvperf_compat_pmu_unregister(host->pmu);
		kfree(host);
	}
	xa_destroy(&hosts);
}
