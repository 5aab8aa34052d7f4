// SPDX-License-Identifier: GPL-2.0
/*
 * The words of a policy: names, values, ranges. The module's parameters, the rules and the
 * command take them from here.
 */
#ifdef __KERNEL__
#include <linux/kernel.h>
#include <linux/string.h>
#else
#include <limits.h>
#include <stdio.h>
#include <string.h>
#endif
#include "word.h"

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

const struct pvperf_word_kind pvperf_words[PVPERF_WORDS] = {
	[PVPERF_WORD_ACCESS] = { "access", accesses },
	[PVPERF_WORD_PRIORITY] = { "priority", priorities },
	[PVPERF_WORD_RAW] = { "raw", raws },
	[PVPERF_WORD_HOST_EVENTS] = { "host_events", answers },
	[PVPERF_WORD_MAX_EVENTS] = { "max_events", NULL, 1, KVM_PERF_EVENTS_MAX },
	[PVPERF_WORD_MAX_VM_EVENTS] = { "max_vm_events", NULL, 1, 65536 },
	[PVPERF_WORD_MAX_OPENS] = { "max_opens", NULL, 1, 1000000 },
	[PVPERF_WORD_MAX_CALLS] = { "max_calls", NULL, 100, PVPERF_CALLS_UNBOUNDED },
	[PVPERF_WORD_MAX_OVERFLOWS] = { "max_overflows", NULL, 1000, 16000 },
	[PVPERF_WORD_MAX_PAGES] = { "max_pages", NULL, 1, 65536 },
	[PVPERF_WORD_MIN_PERIOD] = { "min_period", NULL, 100, INT_MAX },
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
