/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _PVPERF_GUEST_TRIAL_H
#define _PVPERF_GUEST_TRIAL_H

struct pvperf_key;

/*
 * Process context. Would the host open it? 0 if so or if there's no telling, or
 * -KVM_E*. @slot: where it is open then, to be looked at first; else left as it is.
 */
int pvperf_trial_open(const struct pvperf_key *key, int *slot);

#endif /* _PVPERF_GUEST_TRIAL_H */
