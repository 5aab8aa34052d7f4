/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _PVPERF_HOST_PRIORITY_H
#define _PVPERF_HOST_PRIORITY_H

/* The parameter `priority`. */

#include <linux/types.h>

/**
 * pvperf_priority_name() - the name that the parameter uses
 * @priority: an enum pvperf_priority
 *
 * Return: the name.
 */
const char *pvperf_priority_name(u32 priority);

#endif /* _PVPERF_HOST_PRIORITY_H */
