/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _PVPERF_GUEST_CPU_H
#define _PVPERF_GUEST_CPU_H

/* Process context. */
int pvperf_cpu_init(void);
void pvperf_cpu_exit(void);
/* Attaches all CPUs, now and as they come online; and the reverse. */
int pvperf_cpu_start(void);
void pvperf_cpu_stop(void);

/* Of all CPUs, until pvperf_cpu_resume(): the host has none of our memory then. */
void pvperf_cpu_suspend(void);
void pvperf_cpu_resume(void);

#endif /* _PVPERF_GUEST_CPU_H */
