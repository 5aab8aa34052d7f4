/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _PVPERF_HOST_NAMES_H
#define _PVPERF_HOST_NAMES_H

/*
 * The names of processes whose VMs are left out (the parameter leave_out). A name is the
 * comm of the thread group's leader, which a process can set itself.
 */

#include <linux/rcupdate.h>
#include <linux/types.h>

struct pvperf_names;
extern struct pvperf_names __rcu *pvperf_names;

/**
 * pvperf_names_any() - are there any names? Any context
 *
 * Return: false: no name matches.
 */
static inline bool pvperf_names_any(void)
{
	return rcu_access_pointer(pvperf_names);
}

/**
 * pvperf_names_match() - is a name in the list? Any context
 * @name: the name
 *
 * Return: true if a pattern of the list matches it.
 */
bool pvperf_names_match(const char *name);

/**
 * pvperf_names_set() - replace the list; may sleep
 * @value: patterns as glob_match() knows them, separated by commas
 *
 * Return: 0, or -EINVAL after a message, or -ENOMEM.
 */
int pvperf_names_set(const char *value);

/**
 * pvperf_names_get() - the list as text; may sleep
 * @buffer: of a page
 *
 * Return: its length.
 */
int pvperf_names_get(char *buffer);

#endif /* _PVPERF_HOST_NAMES_H */
