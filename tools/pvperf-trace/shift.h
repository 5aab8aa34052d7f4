/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PVPERF_SHIFT_H
#define PVPERF_SHIFT_H

/*
 * A vCPU's clocks as trace-cmd wants them: what to add to the guest's TSC from which of its
 * values on, with straight lines between. Its own way of TSC scaling, a factor for each, is
 * not used: it multiplies in 64 bits, which overflows.
 */

#include "clocks.h"

struct point {
	uint64_t tsc;	/* of the guest */
	int64_t shift;
};

struct shift {
	struct point *points;
	size_t nr;
	unsigned int steps;	/* changes of the clock */
	unsigned int back;	/* in which the guest set its TSC back: no exact shift exists */
};

/* For a guest's TSC from @first to @last. False if there is no room. */
bool shift_make(struct shift *shift, struct run run, uint64_t first, uint64_t last);

#endif /* PVPERF_SHIFT_H */
