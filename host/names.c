// SPDX-License-Identifier: GPL-2.0
/*
 * The list of names. Readers are under RCU and see one list or the next, whole. Knows
 * neither KVM nor perf.
 */
#define pr_fmt(fmt) "pvperf_host: " fmt

#include <linux/glob.h>
#include <linux/kernel.h>
#include <linux/mutex.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/sysfs.h>
#include "names.h"

/* A VM that is left out has its name compared in each call, in its own time. */
#define NAMES_MAX	1023

struct pvperf_names {
	struct rcu_head rcu;
	char pattern[];		/* each ends with a 0, the last one with two */
};

static DEFINE_MUTEX(names_lock);	/* of writers */
struct pvperf_names __rcu *pvperf_names;

bool pvperf_names_match(const char *name)
{
	const struct pvperf_names *names;
	const char *pattern;
	bool match = false;

	rcu_read_lock();
	names = rcu_dereference(pvperf_names);
	for (pattern = names ? names->pattern : ""; *pattern && !match;
	     pattern += strlen(pattern) + 1)
		match = glob_match(pattern, name);
	rcu_read_unlock();
	return match;
}

/* Patterns that are empty are left out: they would end the list. */
static void names_split(char *pattern, const char *value, size_t len)
{
	const char *end = value + len;
	size_t n;

	for (; value < end; value += n + 1) {
		n = min_t(size_t, strcspn(value, ","), end - value);
		if (!n)
			continue;
		memcpy(pattern, value, n);
		pattern += n + 1;
	}
}

int pvperf_names_set(const char *value)
{
	struct pvperf_names *names = NULL;
	size_t len = strcspn(value, "\n");

	if (len > NAMES_MAX) {
		pr_err("parameter leave_out has more than %d characters\n", NAMES_MAX);
		return -EINVAL;
	}
	if (strspn(value, ",") < len) {
		names = kzalloc(sizeof(*names) + len + 2, GFP_KERNEL);
		if (!names)
			return -ENOMEM;
		names_split(names->pattern, value, len);
	}
	mutex_lock(&names_lock);
	names = rcu_replace_pointer(pvperf_names, names, lockdep_is_held(&names_lock));
	mutex_unlock(&names_lock);
	if (names)
		kfree_rcu(names, rcu);
	return 0;
}

int pvperf_names_get(char *buffer)
{
	const struct pvperf_names *names;
	const char *pattern;
	int len = 0;

	mutex_lock(&names_lock);
	names = rcu_dereference_protected(pvperf_names, lockdep_is_held(&names_lock));
	for (pattern = names ? names->pattern : ""; *pattern; pattern += strlen(pattern) + 1)
		len += sysfs_emit_at(buffer, len, "%s%s", len ? "," : "", pattern);
	mutex_unlock(&names_lock);
	return len + sysfs_emit_at(buffer, len, "\n");
}
