/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _PVPERF_COMPAT_SYMBOL_H
#define _PVPERF_COMPAT_SYMBOL_H

/*
 * The address of a kernel function or variable that is not exported. kallsyms_lookup_name() has
 * not been exported since 5.7; a kprobe still looks names up. Both modules use it at load, and
 * the host's before it hooks what is not always there. With IBT the address lies behind the
 * function's ENDBR: ftrace wants this address, and a static call may call it, but an indirect
 * call would fault.
 */

#include <linux/kprobes.h>

/*
 * Never armed. Arming and disarming patch the kernel's text and allocate memory for it, and
 * a kprobe that can't be disarmed stays in the kernel's table: this one is on the stack.
 */
#define PVPERF_SYMBOL_PROBE(name)	\
	{ .symbol_name = (name), .flags = KPROBE_FLAG_DISABLED }

/*
 * Look up a kernel function; process context. @name: its name. Returns its address, or 0 if there
 * is none, or none that can be probed.
 */
static inline unsigned long pvperf_symbol(const char *name)
{
	struct kprobe kp = PVPERF_SYMBOL_PROBE(name);
	unsigned long addr;

	if (register_kprobe(&kp))
		return 0;
	addr = (unsigned long)kp.addr;
	unregister_kprobe(&kp);
	return addr;
}

/*
 * Look up a variable of the kernel; process context. @name: its name. register_kprobe() looks the
 * name up before it refuses what is no text. Returns its address, or NULL if there is none.
 */
static inline const void *pvperf_symbol_data(const char *name)
{
	struct kprobe kp = PVPERF_SYMBOL_PROBE(name);

	if (!register_kprobe(&kp)) {
		unregister_kprobe(&kp);
		return NULL;
	}
	return kp.addr;
}

#endif /* _PVPERF_COMPAT_SYMBOL_H */
