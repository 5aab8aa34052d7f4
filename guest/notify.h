/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _PVPERF_GUEST_NOTIFY_H
#define _PVPERF_GUEST_NOTIFY_H

/* Both in process context. */
int pvperf_notify_init(void);
void pvperf_notify_exit(void);

#endif /* _PVPERF_GUEST_NOTIFY_H */
