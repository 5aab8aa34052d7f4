/* SPDX-License-Identifier: GPL-2.0 */
/* The trace event, under pvperf: in tracefs. */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM pvperf

#if !defined(_PVPERF_GUEST_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define _PVPERF_GUEST_TRACE_H

#include <linux/sched/clock.h>
#include <linux/timekeeping.h>
#include <linux/tracepoint.h>
#include <asm/msr.h>

/* clock.c */
int pvperf_clock_begin(void);
void pvperf_clock_end(void);

/*
 * Not pvperf_clock: a host that is a guest itself has both modules, and an event's name is
 * that of a folder.
 */
TRACE_EVENT_FN(pvperf_guest_clock,
	TP_PROTO(u64 clock),
	TP_ARGS(clock),
	TP_STRUCT__entry(
		__field(u64, clock)
		__field(u64, tsc)
		__field(u64, local)
		__field(u64, boot)
		__field(u32, apic)
	),
	TP_fast_assign(
		__entry->clock = clock;
		__entry->tsc = rdtsc_ordered();
		__entry->local = local_clock();
		__entry->boot = ktime_get_boot_fast_ns();
		__entry->apic = cpu_physical_id(smp_processor_id());
	),
	TP_printk("clock=%016llx apic=%u tsc=%llu local=%llu boot=%llu", __entry->clock,
		  __entry->apic, __entry->tsc, __entry->local, __entry->boot),
	pvperf_clock_begin, pvperf_clock_end
);

#endif /* _PVPERF_GUEST_TRACE_H */

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE trace
#include <trace/define_trace.h>
