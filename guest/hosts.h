/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _PVPERF_GUEST_HOSTS_H
#define _PVPERF_GUEST_HOSTS_H

/* Both in process context. */

/* From now on each CPU of the host is a PMU, as soon as the host allows that. */
void pvperf_hosts_init(void);
void pvperf_hosts_exit(void);

#endif /* _PVPERF_GUEST_HOSTS_H */
