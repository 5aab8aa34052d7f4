/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _PVPERF_HOST_HOOK_H
#define _PVPERF_HOST_HOOK_H

/*
 * A hook: a function of KVM that ftrace shows to us before it runs, and that a
 * callback may divert to a function of ours. Knows ftrace, not KVM.
 *
 * Why ftrace: kernels from 7.x on export next to nothing of KVM. Why by address
 * and static call: with IBT an indirect call to the resolved address faults,
 * while a static call is a direct one.
 */

#include <linux/ftrace.h>
#include <linux/percpu.h>
#include <linux/types.h>

struct pvperf_hook {
	const char *name;
	unsigned long ip;		/* where ftrace patches */
};

/* Hooks that come and go together, with one callback: it tells them by @ip. */
struct pvperf_hooks {
	struct ftrace_ops ops;
	struct pvperf_hook *hook;
	unsigned int n;
	long __percpu *inflight;	/* diverted calls, summed over CPUs;
					 * NULL: these only watch */
	bool live;
};

/* Resolve all of them, or none; process context. */
int pvperf_hooks_find(struct pvperf_hooks *hooks);
int pvperf_hooks_install(struct pvperf_hooks *hooks);
/* Returns when no call that these diverted is under way any more. */
void pvperf_hooks_remove(struct pvperf_hooks *hooks);
/* Last of all, once: not even a diverted call's last instructions remain. */
void pvperf_hooks_settle(void);
/* Did ftrace really patch the text? */
bool pvperf_hook_patched(const struct pvperf_hook *hook);

/* Where the hooked function goes on behind ftrace's patch. */
static inline unsigned long pvperf_hook_original(const struct pvperf_hook *hook)
{
	return hook->ip + MCOUNT_INSN_SIZE;
}

/* In the callback, which ftrace waits for before it lets its ops go. */
static __always_inline void pvperf_hook_divert(const struct pvperf_hooks *hooks,
					       struct pt_regs *regs, void *to)
{
	this_cpu_inc(*hooks->inflight);
	instruction_pointer_set(regs, (unsigned long)to);
}

/* The last thing that a diverted call does. */
static __always_inline void pvperf_hook_leave(const struct pvperf_hooks *hooks)
{
	this_cpu_dec(*hooks->inflight);
}

#endif /* _PVPERF_HOST_HOOK_H */
