/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PVPERF_MERGE_H
#define PVPERF_MERGE_H

/* What pvperf merge is to merge, and the two ways to do it. */

#include "dat.h"
#include "map.h"
#include "why.h"

struct merge {
	const char *host, *guests[GUESTS_MAX];
	uint64_t vms[GUESTS_MAX];	/* by --vm: the guests' processes; 0: not given */
	bool vms_given;
	int nr_guests;
	struct map given;	/* by -t; .ratio 0: not given */
	const char *dir;	/* by -o */
	struct why why;
};

/* As text, on standard output. */
int merge_text(const struct merge *merge);

/* As copies of trace.dat files, in .dir. */
int merge_dat(const struct merge *merge);

#endif /* PVPERF_MERGE_H */
