/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _PVPERF_HOST_RULE_H
#define _PVPERF_HOST_RULE_H

/*
 * One rule: which VMs, by their process, and what they may have. A line of the form
 *
 *   [comm=PATTERN] [uid=PATTERN] [cgroup=PATTERN] [pid=NUMBER] WORD=VALUE...
 *
 * Pure: the command uses this file, too, and it is tested in userspace.
 */

#include "word.h"

/* A rule's longest line. */
#define PVPERF_RULE_MAX		1023

/* What a rule can be about. */
enum pvperf_match {
	PVPERF_MATCH_COMM,
	PVPERF_MATCH_UID,
	PVPERF_MATCH_CGROUP,
	PVPERF_MATCH_PID,
	PVPERF_MATCHES
};

/**
 * struct pvperf_rule - a rule
 * @match: what must match, each a part of the line, or NULL; .._PID is a number
 * @given: bit n: @policy has word n; the others are the default's
 * @policy: the words
 */
struct pvperf_rule {
	const char *match[PVPERF_MATCHES];
	__u32 given;
	struct pvperf_policy policy;
};

/**
 * pvperf_rule_parse() - a line
 * @rule: the result, which points into @line
 * @line: is cut into words; nothing in it is a line's end
 * @why: gets a sentence if the line makes no sense; of PVPERF_WHY bytes
 *
 * Return: 1 for a rule, 0 for a line that is empty or a comment (#), -1 for one that makes no
 * sense.
 */
int pvperf_rule_parse(struct pvperf_rule *rule, char *line, char *why);

/**
 * pvperf_rule_matches() - is a VM one that a rule is about?
 * @rule: the rule; .._PID is not looked at
 * @who: what the VM's process is; NULL: not known, and nothing matches it
 *
 * Return: true if all patterns match.
 */
bool pvperf_rule_matches(const struct pvperf_rule *rule, const char *const who[PVPERF_MATCHES]);

/**
 * pvperf_rule_apply() - the policy of a VM that a rule is about
 * @rule: the rule
 * @policy: the default; then what the VM may have
 */
void pvperf_rule_apply(const struct pvperf_rule *rule, struct pvperf_policy *policy);

/**
 * pvperf_rule_print() - the rule as a line, without its end
 * @rule: the rule
 * @text: the result
 * @size: of @text; PVPERF_RULE_MAX + 1 is enough
 */
void pvperf_rule_print(const struct pvperf_rule *rule, char *text, unsigned int size);

#endif /* _PVPERF_HOST_RULE_H */
