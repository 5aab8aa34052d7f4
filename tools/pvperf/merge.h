/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PVPERF_MERGE_H
#define PVPERF_MERGE_H

/* What pvperf merge is to merge, and the two ways to do it. */

#include "map.h"
#include "why.h"

#define GUESTS_MAX	64

struct merge {
	const char *host, *guests[GUESTS_MAX];
	uint64_t vms[GUESTS_MAX];	/* by --vm: the guests' processes; 0: not given */
	int nr_guests;
	struct map given;	/* by -t; .ratio 0: not given */
	const char *dir;	/* by -o */
	struct why why;
};

/* As text, on standard output. */
int merge_text(const struct merge *merge);

/* As copies of trace.dat files, in .dir. */
int merge_dat(const struct merge *merge);

/* Says why a file can't be merged, and returns the exit status. */
int merge_failed(const char *path, const char *why);

extern const char merge_no_name[], merge_moved[], merge_no_tsc[], merge_no_rights[];
int merge_no_clock(const struct merge *merge, const char *guest, uint64_t name);

#endif /* PVPERF_MERGE_H */
