/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _PVPERF_GUEST_CPU_H
#define _PVPERF_GUEST_CPU_H

/* All in process context. */

int pvperf_cpu_init(void);
void pvperf_cpu_exit(void);

/* Attaches each CPU that is online or comes online; pvperf_cpu_stop() undoes that. */
int pvperf_cpu_start(void);
void pvperf_cpu_stop(void);

/* Takes the memory of all CPUs back from the host, until pvperf_cpu_resume(). */
void pvperf_cpu_suspend(void);
void pvperf_cpu_resume(void);

#endif /* _PVPERF_GUEST_CPU_H */
