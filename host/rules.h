/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _PVPERF_HOST_RULES_H
#define _PVPERF_HOST_RULES_H

/*
 * The list of rules: who may count what. The first rule that is about a VM holds for it; the
 * words that this rule does not have, and VMs that no rule is about, have those of
 * pvperf_rules_default, the module's parameters. While one VM has the host alone, the others have
 * nothing, whatever the rules say. Knows neither KVM nor perf.
 */

#include <linux/compiler.h>
#include <linux/types.h>
#include "policy.h"

struct pid;
struct pvperf_vm;
struct rules;
struct seq_file;
struct task_struct;

extern struct rules *pvperf_rules;
extern struct pvperf_policy pvperf_rules_default;

/* What the rules say of a VM. */
struct pvperf_verdict {
	struct pvperf_policy policy;	/* what it may have */
	u32 rule;			/* which rule says so, from 1 on; 0: none */
	u32 version;			/* of the rules */
	/* KVM_PERF_REASON_*, why it may have nothing; pvperf_rules_resolve() sets it. */
	u32 reason;
};

/* Are there any rules? Any context. Returns false: the default holds for all VMs. */
static inline bool pvperf_rules_any(void)
{
	return READ_ONCE(pvperf_rules);
}

/* Is a VM's process there? */
bool pvperf_rules_can_ask(struct pid *process);

/*
 * Which rules are these? Any context. Returns another number each time that a rule or the
 * default may have changed.
 */
u32 pvperf_rules_version(void);

/* Verdicts until now are old: the default is another one, or who is alone. */
void pvperf_rules_changed(void);

/*
 * What may a VM have, by the rules and as long as one is alone? If there are rules, and the
 * process has ended, nothing. May sleep. Returns 0 or -ENOMEM.
 */
int pvperf_rules_resolve(struct pvperf_vm *vm, struct pvperf_verdict *verdict);

/* Another VM is alone from the next judgement on. @serial: the VM's number; 0: none is. */
void pvperf_alone_set(u64 serial);

/* Which VM is alone? Any context. Returns its number; 0: none. */
u64 pvperf_alone(void);

/*
 * Replace the list, or append to it; may sleep. @text: rules, one a line; is cut into pieces;
 * @append: keep the rules that there are, and place these behind them. The caller keeps others
 * from doing the same. Returns 0; -EINVAL, -ESRCH or -ENOSPC after a message; -ENOMEM. Then
 * nothing has changed.
 */
int pvperf_rules_set(char *text, bool append);

/*
 * Print the list, and the default as a comment. A rule about a process that has ended is left
 * out: what is shown can be written again, and is about nobody else then.
 */
void pvperf_rules_show(struct seq_file *m);

/*
 * The number of a rule, as pvperf_rules_show() shows them. @rule: its number in the list, from
 * 1 on; 0: none. Returns the number; 0: none.
 */
u32 pvperf_rules_shown(u32 rule);

/* At unload. */
void pvperf_rules_exit(void);

#endif /* _PVPERF_HOST_RULES_H */
