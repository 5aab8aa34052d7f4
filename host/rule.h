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

#include "policy.h"

/* Long enough for any message of parsing. */
#define PVPERF_WHY	192

/* A word. */
struct pvperf_word_kind {
	const char *name;		/* as written */
	/* The names of the values from 0 on, ends with a NULL; NULL: it is a number. */
	const char *const *values;
	__u32 min, max;			/* of numbers */
};

extern const struct pvperf_word_kind pvperf_words[PVPERF_WORDS];

/*
 * Which word is it? @name: its name, or the beginning of a text; @len: how long the name is.
 * Returns enum pvperf_word; PVPERF_WORDS: there is none of this name.
 */
enum pvperf_word pvperf_word_find(const char *name, unsigned int len);

/*
 * Parses a word's value. @why: gets a sentence if the text makes no sense; of PVPERF_WHY bytes.
 * Returns false if it makes none.
 */
bool pvperf_word_parse(enum pvperf_word word, const char *text, __u32 *value, char *why);

/* A decimal number, with nothing behind it. Returns false if it is none, or above 2^32 - 1. */
bool pvperf_word_number(const char *text, __u32 *value);

/* "NAME=VALUE". Returns its length. */
int pvperf_word_print(enum pvperf_word word, __u32 value, char *text, unsigned int size);

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

/* A rule. */
struct pvperf_rule {
	/* What must match, each a part of the line, or NULL; .._PID is a number. */
	const char *match[PVPERF_MATCHES];
	/* Bit n: .policy has word n; the others are the default's. */
	__u32 given;
	struct pvperf_policy policy;		/* the words */
};

/*
 * Parses a line. @rule: the result, which points into @line; @line: is cut into words; nothing in
 * it is a line's end; @why: gets a sentence if the line makes no sense; of PVPERF_WHY bytes.
 * Returns 1 for a rule, 0 for a line that is empty or a comment (#), -1 for one that makes no
 * sense.
 */
int pvperf_rule_parse(struct pvperf_rule *rule, char *line, char *why);

/*
 * Is a VM one that a rule is about? @rule: the rule; .._PID is not looked at; @who: what the
 * VM's process is; NULL: not known, and nothing matches it. Returns true if all patterns match.
 */
bool pvperf_rule_matches(const struct pvperf_rule *rule, const char *const who[PVPERF_MATCHES]);

/* The policy of a VM that a rule is about. @policy: the default; then what the VM may have. */
void pvperf_rule_apply(const struct pvperf_rule *rule, struct pvperf_policy *policy);

/* The rule as a line, without its end. @size: of @text; PVPERF_RULE_MAX + 1 is enough. */
void pvperf_rule_print(const struct pvperf_rule *rule, char *text, unsigned int size);

#endif /* _PVPERF_HOST_RULE_H */
