/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _PVPERF_GUEST_KEY_H
#define _PVPERF_GUEST_KEY_H

#include <linux/types.h>

struct perf_event;
struct pvperf_key;

/* perf core offers an event of a type that no PMU has to each of them: is @event one of ours? */
bool pvperf_key_is_asked(const struct perf_event *event);

/* Makes the key of @event but for .need. Returns 0, or the error of perf_event_open(). */
int pvperf_key_of(const struct perf_event *event, struct pvperf_key *key);

/* The same for an event of a PMU that is a CPU of the host. */
int pvperf_key_of_cpu(const struct perf_event *event, u16 cpu, struct pvperf_key *key);

/* Does the policy that the guest has read allow @key? */
bool pvperf_key_allowed(const struct pvperf_key *key);

/* The host's policy forbids @key: says so in the log, and returns the error. */
int pvperf_key_refuse(const struct pvperf_key *key);
/* The same for branches, which the host does not give. */
int pvperf_key_refuse_branches(void);

#endif /* _PVPERF_GUEST_KEY_H */
