/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _PVPERF_HOST_HOOK_H
#define _PVPERF_HOST_HOOK_H

/*
 * A hook: a function of KVM or perf that ftrace shows to us before it runs, and that a
 * callback may divert to a function of ours. Knows ftrace, not KVM.
 *
 * Why ftrace: kernels from 7.x on export next to nothing of KVM. Why by address
 * and static call: with IBT an indirect call to the resolved address faults,
 * while a static call is a direct one.
 */

#include <linux/ftrace.h>
#include <linux/percpu.h>
#include <linux/types.h>

/* One hooked function. */
struct pvperf_hook {
	const char *name;	/* its name */
	/* Perf's, which only some kernels have, and not KVM's, which all have. */
	bool perf;
	bool intel;		/* of KVM's module for Intel */
	unsigned long ip;	/* where ftrace patches it; 0: this kernel does not have it */
};

/**
 * struct pvperf_hooks - hooks that are installed and removed together
 * @ops: ftrace's; the one callback tells the functions apart by their @ip
 * @hook: the functions
 * @n: how many
 * @inflight: diverted calls that are under way, summed over CPUs; NULL: the
 *	callback only watches
 * @live: installed
 * @stuck: ftrace could not remove them, and never will
 * @without: what a message says that fails without them
 */
struct pvperf_hooks {
	struct ftrace_ops ops;
	struct pvperf_hook *hook;
	unsigned int n;
	long __percpu *inflight;
	bool live;
	bool stuck;
	const char *without;
};

/*
 * Resolve all functions that there are; process context. Returns 0; or an error, after a
 * message, if one of KVM's is missing, or @hooks is stuck.
 */
int pvperf_hooks_find(struct pvperf_hooks *hooks);

/*
 * Have ftrace patch the functions. @hooks: were found. Returns 0 or an error, after a message.
 */
int pvperf_hooks_install(struct pvperf_hooks *hooks);

/*
 * Remove hooks, and wait for all calls that they diverted. @hooks: installed or not; @forever:
 * for as long as it takes; else for 10 s. Returns false if calls are still on their way;
 * nothing diverts others. If @hooks is stuck calls go on to enter, so they are not waited for.
 */
bool pvperf_hooks_remove(struct pvperf_hooks *hooks, bool forever);

/*
 * Does text that ftrace can't unpatch lead to the module's? Returns true if so; then the module
 * has to stay.
 */
bool pvperf_hooks_stuck(void);

/*
 * In the module's exit, before what calls need goes, and as the last step. Does not return if
 * ftrace could not remove a hook.
 */
void pvperf_hooks_keep_text(void);

/*
 * Has ftrace really patched the text? @hook: was installed. Returns true if a call stands
 * there.
 */
bool pvperf_hook_patched(const struct pvperf_hook *hook);

/* Where the hooked function goes on after ftrace's patch. @hook: was found. */
static inline unsigned long pvperf_hook_original(const struct pvperf_hook *hook)
{
	return hook->ip + MCOUNT_INSN_SIZE;
}

/*
 * In the callback: have another function run instead. @hooks: what the callback belongs to;
 * ftrace waits for it before they end; @regs: the hooked function's; @to: ends with
 * pvperf_hook_leave().
 */
static __always_inline void pvperf_hook_divert(const struct pvperf_hooks *hooks,
					       struct pt_regs *regs, void *to)
{
	this_cpu_inc(*hooks->inflight);
	instruction_pointer_set(regs, (unsigned long)to);
}

/* The last thing that a diverted call does. @hooks: what has diverted it. */
static __always_inline void pvperf_hook_leave(const struct pvperf_hooks *hooks)
{
	this_cpu_dec(*hooks->inflight);
}

#endif /* _PVPERF_HOST_HOOK_H */
