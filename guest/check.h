/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _PVPERF_GUEST_CHECK_H
#define _PVPERF_GUEST_CHECK_H

/*
 * What has to hold after each flush and each read. Only in a module that is built with
 * PVPERF_CHECK=1, as that for the selftests is; the others have nothing of it.
 */

#include <linux/types.h>

struct perf_event;
struct pvperf_cpu;

#ifdef PVPERF_CHECK
/* With IRQs off, on @cpu. */
void pvperf_check_flush(struct pvperf_cpu *cpu);
/* @event was read: its times are what a reader gets. IRQs are off. */
void pvperf_check_read(const struct perf_event *event);
/* So many more events, and runs of the watch to come. */
void pvperf_check_watch(int more);
/* No flush and no read comes any more. */
void pvperf_check_end(void);
#else
static inline void pvperf_check_flush(struct pvperf_cpu *cpu) { }
static inline void pvperf_check_read(const struct perf_event *event) { }
static inline void pvperf_check_watch(int more) { }
static inline void pvperf_check_end(void) { }
#endif

#endif /* _PVPERF_GUEST_CHECK_H */
