/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PVPERF_GROW_H
#define PVPERF_GROW_H

#include <stddef.h>

#define GROW_MAX	1000000		/* clock events of a file: two weeks of one vCPU */

/*
 * Room for one more in an array of @n that began as NULL and only grows so. Returns NULL if
 * there is no memory, or no more than GROW_MAX.
 */
void *grow(void *array, size_t n, size_t each);

#endif /* PVPERF_GROW_H */
