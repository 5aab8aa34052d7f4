/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _PVPERF_GUEST_REFUSE_H
#define _PVPERF_GUEST_REFUSE_H

#include <linux/types.h>

/*
 * An event is refused: perf has an error number for that, the guest's log has the
 * reason and the way out. Each returns the error for perf core. Process context.
 */
int pvperf_refuse_precise(void);
int pvperf_refuse_branches(void);
int pvperf_refuse_period(u64 period);
/* @n hardware events, to count at the same time. */
int pvperf_refuse_group(int n);
/* @config: as the program gave it. */
int pvperf_refuse_config1(u64 config);
/* The host allows no raw events at all, or not this one. */
int pvperf_refuse_raw(u64 config);
int pvperf_refuse_raw_bits(u64 config);

#endif /* _PVPERF_GUEST_REFUSE_H */
