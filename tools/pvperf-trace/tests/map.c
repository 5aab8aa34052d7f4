// SPDX-License-Identifier: GPL-2.0
/* A million maps at random: there and back, with ratios of 0.25 to 4 and offsets that wrap. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include "../map.h"

static uint64_t chance(void)
{
	static uint64_t x = 88172645463325252ull;

	x ^= x << 13;
	x ^= x >> 7;
	return x ^= x << 17;
}

int main(void)
{
	for (int i = 0; i < 1000000; i++) {
		unsigned int frac = i & 1 ? 32 : 48;
		struct map map = { .offset = chance(), .frac = frac };
		uint64_t host = chance() >> 8, guest, back;

		map.ratio = (1ull << (frac - 2)) + chance() % (15ull << (frac - 2));
		if (i % 3 == 0)
			map.ratio = 1ull << frac;
		guest = map_to_guest(&map, host);
		back = map_to_host(&map, guest);
		/* The first of the host's TSCs with this TSC of the guest's. */
		if (back > host || map_to_guest(&map, back) != guest ||
		    (back && map_to_guest(&map, back - 1) == guest) ||
		    (map.ratio >= 1ull << frac && back != host)) {
			printf("%" PRIu64 ": offset %" PRIu64 " ratio %" PRIu64 " frac %u: %" PRIu64 " and back: %" PRIu64 "\n",
			       host, map.offset, map.ratio, frac, guest, back);
			return EXIT_FAILURE;
		}
	}
	return EXIT_SUCCESS;
}
