// SPDX-License-Identifier: GPL-2.0
/*
 * The names of events.
 */
#include <inttypes.h>
#include <linux/kvm_pvperf.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <string.h>
#include "event_name.h"

#define N(array)	(sizeof(array) / sizeof(*(array)))

static const char *const hardware[] = {
	[PERF_COUNT_HW_CPU_CYCLES] = "cycles",
	[PERF_COUNT_HW_INSTRUCTIONS] = "instructions",
	[PERF_COUNT_HW_CACHE_REFERENCES] = "cache-references",
	[PERF_COUNT_HW_CACHE_MISSES] = "cache-misses",
	[PERF_COUNT_HW_BRANCH_INSTRUCTIONS] = "branches",
	[PERF_COUNT_HW_BRANCH_MISSES] = "branch-misses",
	[PERF_COUNT_HW_BUS_CYCLES] = "bus-cycles",
	[PERF_COUNT_HW_STALLED_CYCLES_FRONTEND] = "stalled-cycles-frontend",
	[PERF_COUNT_HW_STALLED_CYCLES_BACKEND] = "stalled-cycles-backend",
	[PERF_COUNT_HW_REF_CPU_CYCLES] = "ref-cycles",
};

/* The software events that a guest may open. */
static const char *const software[] = {
	[PERF_COUNT_SW_CPU_CLOCK] = "host-cpu-clock",
	[PERF_COUNT_SW_PAGE_FAULTS] = "host-page-faults",
	[PERF_COUNT_SW_CONTEXT_SWITCHES] = "host-context-switches",
	[PERF_COUNT_SW_CPU_MIGRATIONS] = "host-migrations",
};

static const char *const caches[] = {
	[PERF_COUNT_HW_CACHE_L1D] = "L1-dcache",
	[PERF_COUNT_HW_CACHE_L1I] = "L1-icache",
	[PERF_COUNT_HW_CACHE_LL] = "LLC",
	[PERF_COUNT_HW_CACHE_DTLB] = "dTLB",
	[PERF_COUNT_HW_CACHE_ITLB] = "iTLB",
	[PERF_COUNT_HW_CACHE_BPU] = "branch",
	[PERF_COUNT_HW_CACHE_NODE] = "node",
};

static const char *const cache_ops[][2] = {
	[PERF_COUNT_HW_CACHE_OP_READ] = { "loads", "load-misses" },
	[PERF_COUNT_HW_CACHE_OP_WRITE] = { "stores", "store-misses" },
	[PERF_COUNT_HW_CACHE_OP_PREFETCH] = { "prefetches", "prefetch-misses" },
};

static int event_cache(uint64_t config, char *name, size_t size)
{
	uint64_t cache = config & 0xff, op = config >> 8 & 0xff, result = config >> 16;

	if (cache >= N(caches) || op >= N(cache_ops) || result > 1)
		return 0;
	return snprintf(name, size, "%s-%s", caches[cache], cache_ops[op][result]);
}

static int event_listed(const char *const *names, size_t n, uint64_t config,
			char *name, size_t size)
{
	if (config >= n || !names[config])
		return 0;
	return snprintf(name, size, "%s", names[config]);
}

void event_name(const char *type, uint64_t config, uint64_t flags, unsigned int cpu, char *name,
		size_t size)
{
	size_t used = 0;

	if (!strcmp(type, "hardware"))
		used = event_listed(hardware, N(hardware), config, name, size);
	else if (!strcmp(type, "software"))
		used = event_listed(software, N(software), config, name, size);
	else if (!strcmp(type, "cache"))
		used = event_cache(config, name, size);
	else if (!strcmp(type, "raw"))
		used = snprintf(name, size, "r%" PRIx64, config);
	if (!used)
		used = snprintf(name, size, "%s/0x%" PRIx64, type, config);
	if (used < size && flags & KVM_PERF_FLAG_EXCLUDE_USER)
		used += snprintf(name + used, size - used, ":k");
	if (used < size && flags & KVM_PERF_FLAG_EXCLUDE_KERNEL)
		used += snprintf(name + used, size - used,
				 flags & KVM_PERF_FLAG_EXCLUDE_USER ? "u" : ":u");
	if (used < size && flags & KVM_PERF_FLAG_HOST)
		used += snprintf(name + used, size - used, "+host");
	if (used < size && flags & KVM_PERF_FLAG_KINDS)
		used += snprintf(name + used, size - used, "+kind%u", (unsigned int)KVM_PERF_FLAG_KIND_OF(flags));
	if (used < size && flags & KVM_PERF_FLAG_CPU)
		snprintf(name + used, size - used, "+cpu%u", cpu);
}
