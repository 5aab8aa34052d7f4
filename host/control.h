/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _PVPERF_HOST_CONTROL_H
#define _PVPERF_HOST_CONTROL_H

/* What the admin writes: the rules (/dev/pvperf_policy), and the parameters that are words. */

/* At load, when guests may call. Without the device only the rules are missing. */
void pvperf_control_init(void);

/* At unload. */
void pvperf_control_exit(void);

#endif /* _PVPERF_HOST_CONTROL_H */
