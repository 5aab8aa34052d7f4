/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _PVPERF_GUEST_TRIAL_H
#define _PVPERF_GUEST_TRIAL_H

struct pvperf_key;

/*
 * Would the host open an event for @key? Returns 0 if it would or if that is not
 * known, else -KVM_E*. Stores in @slot the number of the slot that has the event
 * open, for ->add() to look at first; leaves @slot alone if no slot was looked for: the host
 * has answered before. Process context.
 */
int pvperf_trial_open(const struct pvperf_key *key, int *slot);

/* The same, but returns 1 if that is not known. */
int pvperf_trial_ask(const struct pvperf_key *key, int *slot);

/*
 * Has the host refuse @period, which is not 0 and below its limit, so that its admin sees that.
 * Once a second: it takes a turn of all OPENs of the VM. Process context.
 */
void pvperf_trial_period(const struct pvperf_key *key, u32 period);

/* Looks for a new host side if the last one has gone, or allows something else now. */
void pvperf_trial_look_again(void);

/* At the module's exit. */
void pvperf_trial_exit(void);

#endif /* _PVPERF_GUEST_TRIAL_H */
