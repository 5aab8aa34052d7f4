/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PVPERF_MAP_H
#define PVPERF_MAP_H

/* From a guest's TSC to its host's, as KVM sets it. Knows nothing else. */

#include <stdint.h>

/* Guest's TSC: (host's TSC * ratio >> frac) + offset, modulo 2^64. */
struct map {
	uint64_t offset;
	uint64_t ratio;		/* not 0 */
	unsigned int frac;	/* below 64 */
};

uint64_t map_to_guest(const struct map *map, uint64_t host);

/*
 * The first TSC of the host at which the guest's is @guest, or has passed it: a guest whose
 * TSC is faster does not have one of its own for each of the guest's.
 */
uint64_t map_to_host(const struct map *map, uint64_t guest);

#endif /* PVPERF_MAP_H */
