/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PVPERF_STAMP_H
#define PVPERF_STAMP_H

/*
 * More options for a trace.dat, whose format is in trace-cmd.dat.v7(5). They become a section
 * of their own, before the file's first: nothing else in the file changes, or is read, so it
 * may be compressed. Of an option that the file has, too, the file's own wins.
 */

#include <stdint.h>
#include <stdio.h>
#include "shift.h"

/* Whether @fd is a trace.dat, of any version. */
bool stamp_is_dat(int fd);

/* Why its options can't be given: what to do, for "pvperf: FILE: ...". NULL if they can. */
const char *stamp_refuses(int fd);

struct stamp {
	FILE *options;
	char *data;
	size_t size;
};

bool stamp_begin(struct stamp *stamp);

/* The trace's identifier. */
void stamp_id(struct stamp *stamp, uint64_t id);

/* In a guest's file: the shift of each of its @cpus; @host is the host's identifier. */
void stamp_shifts(struct stamp *stamp, uint64_t host, const struct shift *shifts, uint32_t cpus);

/* In the host's file: a guest, and the thread of each of its @cpus. */
void stamp_guest(struct stamp *stamp, const char *name, uint64_t id, const uint32_t *tids,
		 uint32_t cpus);

/* Writes them. False sets errno. */
bool stamp_end(struct stamp *stamp, int fd);

/* How many ticks of the TSC are a second: the tools show nanoseconds then. */
void stamp_speed(struct stamp *stamp, double per_second);

/* Is it a file that stamp_end() has stamped last? */
bool stamp_is_ours(int fd);

#endif /* PVPERF_STAMP_H */
