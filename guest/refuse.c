// SPDX-License-Identifier: GPL-2.0
/*
 * The words of refusals. The invariant: no program can fill the log, as each reason
 * gets one line a minute at most.
 */
#define pr_fmt(fmt) "pvperf_guest: " fmt

#include <linux/jiffies.h>
#include <linux/perf_event.h>
#include <linux/printk.h>
#include <linux/ratelimit.h>
#include <linux/sched.h>
#include "caps.h"
#include "refuse.h"

#define PVPERF_REFUSE_EVERY	(60 * HZ)

/* Does not print how many lines were left out: programs try the same again and again. */
#define refuse(err, fmt, ...) ({						\
	static struct ratelimit_state _rs =					\
		RATELIMIT_STATE_INIT_FLAGS(_rs, PVPERF_REFUSE_EVERY, 1,		\
					   RATELIMIT_MSG_ON_RELEASE);		\
	if (__ratelimit(&_rs))							\
		pr_notice("%s[%d]: refused: " fmt "\n", current->comm,		\
			  current->pid, ##__VA_ARGS__);			\
	err; })

int pvperf_refuse_precise(void)
{
	return refuse(-EOPNOTSUPP, "precise samples (:p): a sample is made by an NMI, which comes some instructions late; leave :p out");
}

int pvperf_refuse_samples(void)
{
	return refuse(-EOPNOTSUPP, "samples: the host gives none, its sysctl kernel.perf_event_max_sample_rate is at its tick's rate or below; use perf stat");
}

int pvperf_refuse_branches(void)
{
	return refuse(-EOPNOTSUPP, "branch stacks (perf record -b): the host gives none: that wants a CPU whose stack pvperf can give (AMD's from Zen 4 on, Intel's of Haswell to Ice Lake), and branches=addresses in the VM's policy; for call chains use -g");
}

int pvperf_refuse_branches_of(u64 kinds)
{
	if (kinds & PERF_SAMPLE_BRANCH_KERNEL)
		return refuse(-EOPNOTSUPP, "branch stacks of the kernel: the host gives those of user mode; use -j any,u, or -b -e cycles:u");
	return refuse(-EOPNOTSUPP, "branch stacks of this kind (%#llx): there are any, and if this kernel can tell them apart any_call, any_ret, ind_call, cond, ind_jmp and call, of user mode",
		      kinds);
}

int pvperf_refuse_group_branches(unsigned int most)
{
	return refuse(-EINVAL, "a group with more than %u events that have branches: it could never count; use fewer, or no group",
		      most);
}

int pvperf_refuse_period(u64 period)
{
	return refuse(-EINVAL, "a sampling period of %llu: the host's shortest is %u; use -c %u or a frequency (-F)",
		      period, pvperf_caps.min_period, pvperf_caps.min_period);
}

int pvperf_refuse_group(u64 need)
{
	const struct pvperf_counters *has = &pvperf_caps.counters;
	u32 narrow = pvperf_counters_narrow(need);

	if (narrow > has->narrow.counters)
		return refuse(-EINVAL, "a group with %u events that fit in only %u of the host's %u counters; make the group smaller, or weak ({...}:W)",
			      narrow, has->narrow.counters, has->general);
	return refuse(-EINVAL, "a group that needs %u counters: the host has %u%s; make the group smaller, or weak ({...}:W)",
		      pvperf_counters_sum(need), has->general,
		      pvperf_counters_fixed(has) ? " and fixed ones for some events" : "");
}

int pvperf_refuse_config1(u64 config)
{
	return refuse(-EOPNOTSUPP, "raw event 0x%llx with config1: the host is not told config1, and would count something else; count it on the host",
		      config);
}

int pvperf_refuse_msr(u64 config)
{
	return refuse(-EACCES, "raw event 0x%llx: it needs a register besides the counter, which the CPU's hyperthreads share; count it on the host",
		      config);
}

int pvperf_refuse_raw(u64 config)
{
	return refuse(-ENOENT, "raw event 0x%llx: the host allows no raw events; use an event that perf list names, or ask the host's operator to allow raw events (raw=yes)",
		      config);
}

int pvperf_refuse_raw_bits(u64 config)
{
	return refuse(-EACCES, "raw event 0x%llx: the host allows select, umask, edge, inv and cmask only; leave the other bits out",
		      config);
}

int pvperf_refuse_raw_listed(u64 config)
{
	return refuse(-EACCES, "raw event 0x%llx: the host allows only raw events that are about the hyperthread alone (raw=list); ask the host's operator for all (raw=yes)",
		      config);
}

int pvperf_refuse_raw_kind(u64 config)
{
	return refuse(-ENOENT, "raw event 0x%llx: it may mean something else on each kind of the host's cores; say which: pvperf/config=0x%llx,kind=1/ for P cores, kind=2 for E cores",
		      config, config);
}

int pvperf_refuse_kind(void)
{
	return refuse(-ENOENT, "one kind of cores (kind=, cpu_core, cpu_atom): the host's cores are alike; use pvperf/vcpu-cycles/ and so on, or, if the VM has moved, load pvperf_guest again");
}

int pvperf_refuse_host(void)
{
	return refuse(-EACCES, "the host's part of a vCPU (host=1): the host does not allow that; ask the host's operator for it (access=global)");
}

int pvperf_refuse_host_samples(void)
{
	return refuse(-EOPNOTSUPP, "samples of the host's part of a vCPU (host=1): it is only counted; use perf stat");
}

int pvperf_refuse_host_cpu(void)
{
	return refuse(-EACCES, "a CPU of the host: the host does not allow that any more; ask the host's operator for it (access=global)");
}

int pvperf_refuse_host_cpu_many(int most)
{
	return refuse(-EINVAL, "more than %d events of the host's CPUs at a time: count fewer events, or fewer CPUs (pvperf_host_0/.../)",
		      most);
}

int pvperf_refuse_host_cpu_samples(void)
{
	return refuse(-EINVAL, "samples of a CPU of the host: it is only counted; use perf stat -a");
}
