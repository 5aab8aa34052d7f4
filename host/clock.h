/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _PVPERF_HOST_CLOCK_H
#define _PVPERF_HOST_CLOCK_H

/*
 * The guests' clocks, told by the trace event pvperf_clock: for each vCPU when the event is
 * enabled, at each step of the TSC's offset, and once a second. Any recording that has the
 * event can so put what guests recorded in the order of the host's TSC. Nothing happens
 * while the event is disabled.
 */

/* A vCPU has a page, and so its guest the VM's name. */
void pvperf_clock_attached(void);

/* At load. */
void pvperf_clock_init(void);

/* At unload. The event may still be enabled; it is disabled later, while the module is freed. */
void pvperf_clock_exit(void);

#endif /* _PVPERF_HOST_CLOCK_H */
