// SPDX-License-Identifier: GPL-2.0
/*
 * libFuzzer's mutations of a rule and of a VM's process, a line each: a rule that is parsed is
 * printed, and what is printed is parsed to the same and is about the same VMs.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "rule.h"

static void want(int good, const char *what, const char *text)
{
	if (good)
		return;
	fprintf(stderr, "%s: '%s'\n", what, text);
	abort();
}

static void again(const struct pvperf_rule *rule, const char *const who[PVPERF_MATCHES])
{
	struct pvperf_policy policy = { }, other = { };
	char text[PVPERF_RULE_MAX + 1], line[PVPERF_RULE_MAX + 1], why[PVPERF_WHY];
	struct pvperf_rule same;

	pvperf_rule_print(rule, text, sizeof(text));
	strcpy(line, text);
	want(pvperf_rule_parse(&same, line, why) == 1, "is no rule any more", text);
	want(pvperf_rule_matches(rule, who) == pvperf_rule_matches(&same, who),
	     "is about other VMs", text);
	pvperf_rule_apply(rule, &policy);
	pvperf_rule_apply(&same, &other);
	want(!memcmp(&policy, &other, sizeof(policy)), "gives something else", text);
	pvperf_rule_print(&same, line, sizeof(line));
	want(!strcmp(text, line), "is printed otherwise", text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *all = strndup((const char *)data, size), *rest = all, why[PVPERF_WHY];
	const char *who[PVPERF_MATCHES];
	struct pvperf_rule rule;
	char *line = strsep(&rest, "\n");
	int i, n;

	for (i = 0; i < PVPERF_MATCHES; i++)
		who[i] = strsep(&rest, "\n");
	memset(why, 'x', sizeof(why));
	n = pvperf_rule_parse(&rule, line, why);
	want(n >= 0 || (memchr(why, 0, sizeof(why)) && *why), "is refused without a reason", line);
	if (n == 1)
		again(&rule, who);
	free(all);
	return 0;
}
