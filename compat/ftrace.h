/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _PVPERF_COMPAT_FTRACE_H
#define _PVPERF_COMPAT_FTRACE_H

/*
 * The registers of a traced function, as far as a hook wants them: arguments, and
 * where it goes on. Every kernel has ways to get these from struct ftrace_regs,
 * of names that change.
 */

#include <linux/ftrace.h>

/* Saving all registers costs more than all else that a hook does. */
#ifdef CONFIG_DYNAMIC_FTRACE_WITH_ARGS
#define PVPERF_FTRACE_FLAGS	0
#else
#define PVPERF_FTRACE_FLAGS	FTRACE_OPS_FL_SAVE_REGS
#endif

/* Only .di, .si and .ip are sure to be there. */
static __always_inline struct pt_regs *pvperf_ftrace_regs(struct ftrace_regs *fregs)
{
#ifdef arch_ftrace_regs
	return &arch_ftrace_regs(fregs)->regs;
#else
	return &fregs->regs;
#endif
}

#endif /* _PVPERF_COMPAT_FTRACE_H */
