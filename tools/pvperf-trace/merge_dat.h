/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PVPERF_MERGE_DAT_H
#define PVPERF_MERGE_DAT_H

/* The trace.dat files of a host and its guests, and what they tell of their clocks. */

#include "dat.h"

/* Of the host's recording: from the last event before it to the first behind it. */
struct gap {
	uint64_t from, to;
};

struct copies {
	struct dat host, guests[GUESTS_MAX];
	int nr_guests;
	struct clocks clocks;
	struct gap *gaps;	/* in the order of their begin */
	size_t nr_gaps;
	double per_second;	/* ticks of the host's TSC; 0: not known */
};

#endif /* PVPERF_MERGE_DAT_H */
