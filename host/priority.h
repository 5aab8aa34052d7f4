/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _PVPERF_HOST_PRIORITY_H
#define _PVPERF_HOST_PRIORITY_H

#include <linux/types.h>

/* Of an enum pvperf_priority, as the parameter has it. */
const char *pvperf_priority_name(u32 priority);

#endif /* _PVPERF_HOST_PRIORITY_H */
