// SPDX-License-Identifier: GPL-2.0
/*
 * The kinds of the host's cores for which this guest has a PMU. The PMU has the name that the
 * host's kernel has for it, cpu_core or cpu_atom: perf looks for these names where the CPU's
 * model has P and E cores. The invariant: a PMU of a kind has its name from this table, so the
 * kind is known from when perf core knows the PMU.
 */
#include <linux/perf_event.h>
#include <linux/string.h>
#include "caps.h"
#include "kinds.h"

static char names[KVM_PERF_KINDS][KVM_PERF_KIND_NAME + 1];
unsigned int pvperf_nr_kinds;

void pvperf_kinds_init(void)
{
	unsigned int i;

	/* A guest of another model has perf look for "cpu". */
	if (!(pvperf_caps.features & KVM_PERF_FEATURE_KINDS) || !pvperf_caps_cpu_is_ours())
		return;
	for (i = 0; i < KVM_PERF_KINDS; i++) {
		pvperf_caps_kind(i + 1, names[i]);
		if (strstarts(names[i], "cpu_") && !strchr(names[i], '/'))
			pvperf_nr_kinds++;
		else
			names[i][0] = '\0';
	}
}

const char *pvperf_kinds_name(unsigned int kind)
{
	return names[kind - 1][0] ? names[kind - 1] : NULL;
}

unsigned int pvperf_kinds_find(const struct pmu *pmu)
{
	unsigned int i;

	for (i = 0; i < KVM_PERF_KINDS; i++)
		if (pmu->name == names[i])
			return i + 1;
	return 0;
}
