/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _PVPERF_COMPAT_FTRACE_H
#define _PVPERF_COMPAT_FTRACE_H

/*
 * The registers of a traced function that a hook needs: its arguments, and where it
 * goes on. Every kernel can get them from struct ftrace_regs, under names that
 * change.
 */

#include <linux/ftrace.h>

/* To save all registers costs more than everything else that a hook does. */
#ifdef CONFIG_DYNAMIC_FTRACE_WITH_ARGS
#define PVPERF_FTRACE_FLAGS	0
#else
#define PVPERF_FTRACE_FLAGS	FTRACE_OPS_FL_SAVE_REGS
#endif

/*
 * The registers of a traced function. @fregs: what the callback was given. Returns the registers,
 * of which only .di, .si and .ip are always valid.
 */
static __always_inline struct pt_regs *pvperf_ftrace_regs(struct ftrace_regs *fregs)
{
#ifdef arch_ftrace_regs
	return &arch_ftrace_regs(fregs)->regs;
#else
	return &fregs->regs;
#endif
}

#endif /* _PVPERF_COMPAT_FTRACE_H */
