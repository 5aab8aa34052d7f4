// SPDX-License-Identifier: GPL-2.0
/* A token bucket, as the time at which the next token is there. */
#include <linux/atomic.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/time64.h>
#include "pace.h"

u64 pvperf_pace(atomic64_t *next, u64 now, u32 rate)
{
	s64 old = atomic64_read(next), at;

	do {
		at = max_t(s64, old, now - NSEC_PER_SEC) + div_u64(NSEC_PER_SEC, rate);
	} while (!atomic64_try_cmpxchg(next, &old, at));
	return at > (s64)now ? at - now : 0;
}
