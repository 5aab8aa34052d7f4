/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _PVPERF_GUEST_CLOCK_H
#define _PVPERF_GUEST_CLOCK_H

/*
 * This guest's clock, told by the trace event pvperf_guest_clock: on each CPU when the event
 * is enabled, and once a second. It has the name under which the host's pvperf_clock tells
 * the offset, which a guest does not learn. Nothing happens while the event is disabled.
 */

/* Process context, when the CPUs have begun, and before they end. */
void pvperf_clock_init(void);
void pvperf_clock_exit(void);

#endif /* _PVPERF_GUEST_CLOCK_H */
