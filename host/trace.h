/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Trace events, under pvperf: in tracefs. Numbers only: nothing that a guest hands
 * in is ever printed as text. A VM goes by the id of its userspace process.
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM pvperf

#if !defined(_PVPERF_HOST_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define _PVPERF_HOST_TRACE_H

#include <linux/sched.h>
#include <linux/timekeeping.h>
#include <linux/tracepoint.h>
#include <asm/msr.h>

#define pvperf_show_op(op) __print_symbolic(op,				\
	{ 1, "open" }, { 2, "close" }, { 3, "enable" },			\
	{ 4, "disable" }, { 5, "read" }, { 6, "probe" },		\
	{ 7, "attach" }, { 8, "detach" }, { 9, "batch" },		\
	{ 10, "reset" })

DECLARE_EVENT_CLASS(pvperf_op,
	TP_PROTO(pid_t vm, u32 vcpu, u32 op, u32 arg, long result),
	TP_ARGS(vm, vcpu, op, arg, result),
	TP_STRUCT__entry(
		__field(pid_t, vm)
		__field(u32, vcpu)
		__field(u32, op)
		__field(u32, arg)
		__field(long, result)
	),
	TP_fast_assign(
		__entry->vm = vm;
		__entry->vcpu = vcpu;
		__entry->op = op;
		__entry->arg = arg;
		__entry->result = result;
	),
	TP_printk("vm=%d vcpu=%u op=%s arg=0x%x result=%ld",
		  __entry->vm, __entry->vcpu, pvperf_show_op(__entry->op),
		  __entry->arg, __entry->result)
);

/* A call, or an operation of a batch, that succeeded. */
DEFINE_EVENT(pvperf_op, pvperf_call,
	TP_PROTO(pid_t vm, u32 vcpu, u32 op, u32 arg, long result),
	TP_ARGS(vm, vcpu, op, arg, result));

#define pvperf_show_error(err) __print_symbolic(err,			\
	{ -1000, "ENOSYS" }, { -1, "EPERM" }, { -2, "ENOENT" },		\
	{ -7, "E2BIG" }, { -12, "ENOMEM" }, { -14, "EFAULT" },		\
	{ -16, "EBUSY" }, { -17, "EEXIST" }, { -22, "EINVAL" },		\
	{ -28, "ENOSPC" }, { -87, "EUSERS" }, { -95, "EOPNOTSUPP" })

/* A call, or an operation of a batch, that failed, with the name of its error. */
DEFINE_EVENT_PRINT(pvperf_op, pvperf_refuse,
	TP_PROTO(pid_t vm, u32 vcpu, u32 op, u32 arg, long result),
	TP_ARGS(vm, vcpu, op, arg, result),
	TP_printk("vm=%d vcpu=%u op=%s arg=0x%x error=%s",
		  __entry->vm, __entry->vcpu, pvperf_show_op(__entry->op),
		  __entry->arg, pvperf_show_error(__entry->result)));

TRACE_EVENT(pvperf_overflow,
	TP_PROTO(pid_t vm, u32 vcpu, s32 id, u64 count, u64 period),
	TP_ARGS(vm, vcpu, id, count, period),
	TP_STRUCT__entry(
		__field(pid_t, vm)
		__field(u32, vcpu)
		__field(s32, id)
		__field(u64, count)
		__field(u64, period)
	),
	TP_fast_assign(
		__entry->vm = vm;
		__entry->vcpu = vcpu;
		__entry->id = id;
		__entry->count = count;
		__entry->period = period;
	),
	TP_printk("vm=%d vcpu=%u id=%d count=%llu next_period=%llu",
		  __entry->vm, __entry->vcpu, __entry->id, __entry->count,
		  __entry->period)
);

TRACE_EVENT(pvperf_inject,
	TP_PROTO(pid_t vm, u32 vcpu, u32 nmis),
	TP_ARGS(vm, vcpu, nmis),
	TP_STRUCT__entry(
		__field(pid_t, vm)
		__field(u32, vcpu)
		__field(u32, nmis)
	),
	TP_fast_assign(
		__entry->vm = vm;
		__entry->vcpu = vcpu;
		__entry->nmis = nmis;
	),
	TP_printk("vm=%d vcpu=%u nmis=%u", __entry->vm, __entry->vcpu,
		  __entry->nmis)
);

TRACE_EVENT(pvperf_teardown,
	TP_PROTO(pid_t vm, u32 vcpu, u32 events, u32 why),
	TP_ARGS(vm, vcpu, events, why),
	TP_STRUCT__entry(
		__field(pid_t, vm)
		__field(u32, vcpu)
		__field(u32, events)
		__field(u32, why)
	),
	TP_fast_assign(
		__entry->vm = vm;
		__entry->vcpu = vcpu;
		__entry->events = events;
		__entry->why = why;
	),
	TP_printk("vm=%d vcpu=%u events=%u why=%s", __entry->vm, __entry->vcpu,
		  __entry->events,
		  __print_symbolic(__entry->why, { 0, "closed" },
				   { 1, "host side ends" },
				   { 2, "reset or end of VM" }))
);

/* clock.c. */
int pvperf_clock_begin(void);
void pvperf_clock_end(void);

/* Guest's TSC: (host's TSC * ratio >> frac) + offset, modulo 2^64. */
TRACE_EVENT_FN(pvperf_clock,
	TP_PROTO(u64 clock, pid_t vm, u32 vcpu, u32 apic, pid_t tid, u64 offset, u64 ratio,
		 u8 frac),
	TP_ARGS(clock, vm, vcpu, apic, tid, offset, ratio, frac),
	TP_STRUCT__entry(
		__field(u64, clock)
		__field(u64, offset)
		__field(u64, ratio)
		__field(u64, tsc)
		__field(u64, boot)
		__field(pid_t, vm)
		__field(u32, vcpu)
		__field(u32, apic)
		__field(pid_t, tid)
		__field(u8, frac)
	),
	TP_fast_assign(
		__entry->clock = clock;
		__entry->offset = offset;
		__entry->ratio = ratio;
		__entry->tsc = rdtsc_ordered();
		__entry->boot = ktime_get_boot_fast_ns();
		__entry->vm = vm;
		__entry->vcpu = vcpu;
		__entry->apic = apic;
		__entry->tid = tid;
		__entry->frac = frac;
	),
	TP_printk("clock=%016llx vm=%d vcpu=%u apic=%u tid=%d offset=%llu ratio=%llu frac=%u tsc=%llu boot=%llu",
		  __entry->clock, __entry->vm, __entry->vcpu, __entry->apic, __entry->tid,
		  __entry->offset, __entry->ratio, __entry->frac, __entry->tsc,
		  __entry->boot),
	pvperf_clock_begin, pvperf_clock_end
);

#endif /* _PVPERF_HOST_TRACE_H */

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE trace
#include <trace/define_trace.h>
