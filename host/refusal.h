/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _PVPERF_HOST_REFUSAL_H
#define _PVPERF_HOST_REFUSAL_H

/* For the admin: what the words of a VM's policy refuse. Knows neither KVM nor perf. */

#include <linux/atomic.h>
#include "policy.h"

struct pvperf_vm;

/* A word has refused something, or lets the VM wait; may sleep. @attr: the event, or NULL. */
void pvperf_refusal_note(struct pvperf_vm *vm, enum pvperf_word word,
			 const struct guest_perf_attr *attr);

/* For what the admin can change; in the VM's process. @why: and what to do. */
void pvperf_refusal_log(const char *why);

/*
 * Let the VM wait until its turn, killable; in a vCPU's thread. @word: why; @next: when the
 * next turn is, of all its threads or vCPUs that take one; @rate: turns in a second. Returns 0;
 * 1: after a wait; -KVM_EBUSY: it would have been longer than 0.1 s.
 */
int pvperf_refusal_pace(struct pvperf_vm *vm, enum pvperf_word word, atomic64_t *next, u32 rate);

#endif /* _PVPERF_HOST_REFUSAL_H */
