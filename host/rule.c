// SPDX-License-Identifier: GPL-2.0
/*
 * A rule of who may count what, as a line of text, and the words of its policy: the module's
 * parameters and the command take these from here, too.
 */
#ifdef __KERNEL__
#include <linux/glob.h>
#include <linux/kernel.h>
#include <linux/string.h>
#else
#include <fnmatch.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#define glob_match(pattern, text)	(!fnmatch(pattern, text, 0))
#endif
#include "rule.h"

static const char *const accesses[] = {
	[PVPERF_ACCESS_UNAVAILABLE] = "unavailable",
	[PVPERF_ACCESS_LOCAL] = "local",
	[PVPERF_ACCESS_GLOBAL] = "global",
	[PVPERF_ACCESS_EXCLUSIVE] = "exclusive",
	[PVPERF_ACCESS_FORCE] = "force",
	NULL
};

static const char *const priorities[] = {
	[PVPERF_PRIORITY_FLEXIBLE] = "flexible",
	[PVPERF_PRIORITY_PINNED] = "pinned",
	NULL
};

static const char *const answers[] = { "no", "yes", NULL };

static const char *const raws[] = {
	[PVPERF_RAW_NO] = "no",
	[PVPERF_RAW_YES] = "yes",
	[PVPERF_RAW_LIST] = "list",
	NULL
};

static const char *const branch_words[] = {
	[PVPERF_BRANCHES_OFF] = "off",
	[PVPERF_BRANCHES_ADDRESSES] = "addresses",
	[PVPERF_BRANCHES_FULL] = "full",
	NULL
};

const struct pvperf_word_kind pvperf_words[PVPERF_WORDS] = {
	[PVPERF_WORD_ACCESS] = { "access", accesses },
#define PVPERF_WORD(ID, name, values, least, most, ...) \
	[PVPERF_WORD_##ID] = { #name, values, least, most },
#include "words.h"
};

enum pvperf_word pvperf_word_find(const char *name, unsigned int len)
{
	int i;

	for (i = 0; i < PVPERF_WORDS; i++)
		if (strlen(pvperf_words[i].name) == len &&
		    !memcmp(pvperf_words[i].name, name, len))
			break;
	return i;
}

bool pvperf_word_number(const char *text, __u32 *value)
{
	__u64 n = 0;

	if (!*text)
		return false;
	for (; *text; text++) {
		if (*text < '0' || *text > '9')
			return false;
		n = n * 10 + (*text - '0');
		if (n > ~0u)
			return false;
	}
	*value = n;
	return true;
}

/* For yes and no also what the kernel takes for a bool. */
static bool word_named(const struct pvperf_word_kind *kind, const char *text, __u32 *value)
{
	int i;

	for (i = 0; kind->values[i]; i++) {
		if (strcmp(kind->values[i], text))
			continue;
		*value = i;
		return true;
	}
	if ((kind->values != answers && kind->values != raws) || strlen(text) != 1 ||
	    !strchr("01nyNY", *text))
		return false;
	*value = *text == '1' || *text == 'y' || *text == 'Y';
	return true;
}

static void values_print(const char *const *values, char *text, unsigned int size)
{
	unsigned int used = 0;
	int i;

	*text = '\0';
	for (i = 0; values[i] && used < size; i++)
		used += snprintf(text + used, size - used, "%s%s",
				 i ? values[i + 1] ? ", " : " and " : "", values[i]);
}

static void word_why(const struct pvperf_word_kind *kind, const char *text, char *why)
{
	char all[64];

	if (!kind->values) {
		snprintf(why, PVPERF_WHY, "%s=%.64s is not between %u and %u", kind->name, text,
			 kind->min, kind->max);
		return;
	}
	values_print(kind->values, all, sizeof(all));
	snprintf(why, PVPERF_WHY, "%s=%.64s is none of %s", kind->name, text, all);
}

bool pvperf_word_parse(enum pvperf_word word, const char *text, __u32 *value, char *why)
{
	const struct pvperf_word_kind *kind = &pvperf_words[word];
	__u32 got;

	if (kind->values ? word_named(kind, text, &got) :
			   pvperf_word_number(text, &got) && got >= kind->min &&
			   got <= kind->max) {
		*value = got;
		return true;
	}
	word_why(kind, text, why);
	return false;
}

int pvperf_word_print(enum pvperf_word word, __u32 value, char *text, unsigned int size)
{
	const struct pvperf_word_kind *kind = &pvperf_words[word];

	if (kind->values)
		return snprintf(text, size, "%s=%s", kind->name, kind->values[value]);
	return snprintf(text, size, "%s=%u", kind->name, value);
}

static const char *const matches[PVPERF_MATCHES] = {
	[PVPERF_MATCH_COMM] = "comm",
	[PVPERF_MATCH_UID] = "uid",
	[PVPERF_MATCH_CGROUP] = "cgroup",
	[PVPERF_MATCH_PID] = "pid",
};

static const char blanks[] = " \t\r";

static int rule_find_match(const char *name, unsigned int len)
{
	int i;

	for (i = 0; i < PVPERF_MATCHES; i++)
		if (strlen(matches[i]) == len && !memcmp(matches[i], name, len))
			break;
	return i;
}

static bool rule_take_match(struct pvperf_rule *rule, int match, const char *value, char *why)
{
	__u32 pid;

	if (rule->match[match]) {
		snprintf(why, PVPERF_WHY, "%s= stands twice", matches[match]);
	} else if (!*value) {
		snprintf(why, PVPERF_WHY, "%s= has no pattern; * matches all", matches[match]);
	} else if (match == PVPERF_MATCH_COMM && strlen(value) > 15 && !strpbrk(value, "*?[")) {
		snprintf(why, PVPERF_WHY, "comm=%.64s has more than 15 characters, and no process's name has; the name is cut, use *",
			 value);
	} else if (match == PVPERF_MATCH_UID && value[strspn(value, "0123456789*?[]-!")]) {
		snprintf(why, PVPERF_WHY, "uid=%.64s is no number, nor a pattern of one", value);
	} else if (match == PVPERF_MATCH_CGROUP && *value != '/') {
		snprintf(why, PVPERF_WHY, "cgroup=%.64s does not begin with /, as a path does; any user can make a cgroup of any name",
			 value);
	} else if (match == PVPERF_MATCH_PID && !pvperf_word_number(value, &pid)) {
		snprintf(why, PVPERF_WHY, "pid=%.64s is no number", value);
	} else {
		rule->match[match] = value;
		return true;
	}
	return false;
}

static bool rule_take_word(struct pvperf_rule *rule, enum pvperf_word word, const char *value,
			   char *why)
{
	if (rule->given & 1u << word) {
		snprintf(why, PVPERF_WHY, "%s= stands twice", pvperf_words[word].name);
		return false;
	}
	rule->given |= 1u << word;
	return pvperf_word_parse(word, value, &rule->policy.word[word], why);
}

static bool rule_take(struct pvperf_rule *rule, const char *item, char *why)
{
	unsigned int len = strcspn(item, "=");
	int match = rule_find_match(item, len);
	enum pvperf_word word = pvperf_word_find(item, len);

	if (item[len] && match < PVPERF_MATCHES)
		return rule_take_match(rule, match, item + len + 1, why);
	if (item[len] && word < PVPERF_WORDS)
		return rule_take_word(rule, word, item + len + 1, why);
	snprintf(why, PVPERF_WHY, "'%.64s' is neither a match (comm=, uid=, cgroup=, pid=) nor a word of a policy (access=, raw=, max_events=, ...)",
		 item);
	return false;
}

/* Where a part of a path ends, or NULL: it is a pattern, whose characters match / as well. */
static const char *part_end(const char *part)
{
	const char *end = part + 1 + strcspn(part + 1, "/*?[\\");

	return end > part + 1 && (*end == '/' || !*end) ? end : NULL;
}

/* Is it the admin's choice which users' cgroups the path is about? */
static bool path_is_bound(const char *path)
{
	static const char users[] = "/user.slice/";	/* a user's own begin in the next part */
	const char *end = part_end(path);

	if (end && !strncmp(path, users, strlen(users)))
		end = part_end(end);
	return end;
}

static bool uid_is_bound(const char *uid)
{
	return !strpbrk(uid, "*?[");
}

/* A process names itself as it likes, and a user's processes their cgroup below the user's own. */
static bool rule_anybody_matches(const struct pvperf_rule *rule)
{
	const char *const *match = rule->match;

	if (match[PVPERF_MATCH_PID] ||
	    (match[PVPERF_MATCH_UID] && uid_is_bound(match[PVPERF_MATCH_UID])) ||
	    (match[PVPERF_MATCH_CGROUP] && path_is_bound(match[PVPERF_MATCH_CGROUP])))
		return false;
	return match[PVPERF_MATCH_UID] || match[PVPERF_MATCH_CGROUP] || match[PVPERF_MATCH_COMM];
}

/* Does it give a VM what it could use against the host's other users? */
static bool rule_trusts(const struct pvperf_rule *rule)
{
	const __u32 *word = rule->policy.word;

	return word[PVPERF_WORD_ACCESS] >= PVPERF_ACCESS_GLOBAL ||
	       word[PVPERF_WORD_PRIORITY] == PVPERF_PRIORITY_PINNED;
}

/* As pvperf_rule_print() prints it. */
static unsigned int rule_length(const struct pvperf_rule *rule)
{
	unsigned int len = 0;
	char word[64];
	int i;

	for (i = 0; i < PVPERF_MATCHES; i++)
		if (rule->match[i])
			len += strlen(matches[i]) + strlen(rule->match[i]) + 2;
	for (i = 0; i < PVPERF_WORDS; i++)
		if (rule->given & 1u << i)
			len += pvperf_word_print(i, rule->policy.word[i], word, sizeof(word)) + 1;
	return len - 1;
}

/* A line that has been taken whole. */
static int rule_check(const struct pvperf_rule *rule, char *why)
{
	if (!rule->given) {
		snprintf(why, PVPERF_WHY, "no word of a policy: say what these VMs may have, as access=unavailable");
		return -1;
	}
	if (rule_trusts(rule) && rule_anybody_matches(rule)) {
		snprintf(why, PVPERF_WHY, "any user's process could match, and get access=global or more, or priority=pinned: add uid= without pattern, pid=, or cgroup= with a path that begins without one (below /user.slice: 2 parts)");
		return -1;
	}
	/* The command reads rules, and writes them again. */
	if (rule_length(rule) > PVPERF_RULE_MAX) {
		snprintf(why, PVPERF_WHY, "more than %u characters, with its words written out", PVPERF_RULE_MAX);
		return -1;
	}
	return 1;
}

int pvperf_rule_parse(struct pvperf_rule *rule, char *line, char *why)
{
	char *item = line;
	unsigned int len;

	memset(rule, 0, sizeof(*rule));
	if (strlen(line) > PVPERF_RULE_MAX) {
		snprintf(why, PVPERF_WHY, "more than %u characters", PVPERF_RULE_MAX);
		return -1;
	}
	item += strspn(item, blanks);
	if (!*item || *item == '#')
		return 0;
	while (*item) {
		len = strcspn(item, blanks);
		line = item + len + strspn(item + len, blanks);
		item[len] = 0;
		if (!rule_take(rule, item, why))
			return -1;
		item = line;
	}
	return rule_check(rule, why);
}

bool pvperf_rule_matches(const struct pvperf_rule *rule, const char *const who[PVPERF_MATCHES])
{
	int i;

	for (i = 0; i < PVPERF_MATCHES; i++) {
		if (i == PVPERF_MATCH_PID || !rule->match[i])
			continue;
		if (!who[i] || !glob_match(rule->match[i], who[i]))
			return false;
	}
	return true;
}

void pvperf_rule_apply(const struct pvperf_rule *rule, struct pvperf_policy *policy)
{
	int i;

	for (i = 0; i < PVPERF_WORDS; i++)
		if (rule->given & 1u << i)
			policy->word[i] = rule->policy.word[i];
}

void pvperf_rule_print(const struct pvperf_rule *rule, char *text, unsigned int size)
{
	unsigned int len = 0;
	int i;

	*text = 0;
	for (i = 0; i < PVPERF_MATCHES && len < size; i++)
		if (rule->match[i])
			len += snprintf(text + len, size - len, "%s%s=%s", len ? " " : "",
					matches[i], rule->match[i]);
	for (i = 0; i < PVPERF_WORDS && len + 1 < size; i++) {
		if (!(rule->given & 1u << i))
			continue;
		if (len)
			text[len++] = ' ';
		len += pvperf_word_print(i, rule->policy.word[i], text + len, size - len);
	}
}
