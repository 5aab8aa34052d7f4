/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PVPERF_MAP_H
#define PVPERF_MAP_H

/* From a guest's TSC to its host's, as KVM sets it. Knows nothing else. */

#include <stdbool.h>
#include <stdint.h>

/* Guest's TSC: (host's TSC * ratio >> frac) + offset, modulo 2^64. */
struct map {
	uint64_t offset;
	uint64_t ratio;		/* not 0 */
	unsigned int frac;	/* below 63 */
};

bool map_same(const struct map *a, const struct map *b);
uint64_t map_to_guest(const struct map *map, uint64_t host);

/*
 * The first TSC of the host at which the guest's is @guest, or has passed it: a guest whose
 * TSC is faster does not have one of its own for each of the guest's.
 */
uint64_t map_to_host(const struct map *map, uint64_t guest);

/* The middle, rounded, of the time in which the guest's TSC is @guest. */
uint64_t map_to_host_middle(const struct map *map, uint64_t guest);

#endif /* PVPERF_MAP_H */
