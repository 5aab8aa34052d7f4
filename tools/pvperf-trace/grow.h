/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PVPERF_GROW_H
#define PVPERF_GROW_H

#include <stddef.h>
#include <stdint.h>

#define GROW_MAX	1000000		/* clock events of a file: two weeks of one vCPU */

/*
 * Room for one more in an array of @n that began as NULL and only grows so. Returns NULL if
 * there is no memory, or no more than GROW_MAX.
 */
void *grow(void *array, size_t n, size_t each);

#define TIDS		(1 << 22)	/* as many as Linux has: PID_MAX_LIMIT */
#define TIDS_CHUNK	1024

/* Something of each thread. */
struct tids {
	size_t each;
	char *chunk[TIDS / TIDS_CHUNK];
};

/* That of one thread, at first all 0. NULL: Linux has no such thread, or there is no memory. */
void *tids_at(struct tids *tids, uint64_t tid);

#endif /* PVPERF_GROW_H */
