// SPDX-License-Identifier: GPL-2.0
/*
 * For checks/selects: reads lines of a vendor and a raw event's config, and says what the
 * module's policy says with raw=list, and if that is no, with raw=yes.
 */
#include <stdio.h>
#include <string.h>
#include "policy.h"
#include "selects.h"

static bool may(const struct pvperf_offer *offer, __u32 raw, __u64 config)
{
	const struct pvperf_policy policy = { .word = {
		[PVPERF_WORD_ACCESS] = PVPERF_ACCESS_LOCAL, [PVPERF_WORD_RAW] = raw,
	} };
	const struct guest_perf_attr attr = { .type = KVM_PERF_TYPE_RAW, .config = config };

	return !pvperf_policy_check(&policy, offer, &attr);
}

int main(void)
{
	const struct pvperf_offer intel = {
		.hardware = true, .extra_msr = true, .raw_mask = PVPERF_RAW_MASK_INTEL,
		.selects = pvperf_selects_intel,
	}, amd = {
		.hardware = true, .raw_mask = PVPERF_RAW_MASK_AMD, .selects = pvperf_selects_amd,
	};
	unsigned long long config;
	char vendor[16];

	while (scanf("%15s %llx", vendor, &config) == 2) {
		const struct pvperf_offer *offer = strcmp(vendor, "amd") ? &intel : &amd;

		puts(may(offer, PVPERF_RAW_LIST, config) ? "allowed" :
		     may(offer, PVPERF_RAW_YES, config) ? "refused" : "never");
	}
	return 0;
}
