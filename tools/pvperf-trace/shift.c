// SPDX-License-Identifier: GPL-2.0
#include "grow.h"
#include "shift.h"

/*
 * trace-cmd multiplies how far a time is from a point by how much the shift changes until the
 * next, in 63 bits. TSCs whose ratio is 1/4 need 2 * 30 + 2.
 */
#define APART	(1ull << 30)

static bool is_scaled(const struct map *map)
{
	return map->ratio != 1ull << map->frac;
}

/*
 * The host's TSC for a line between points. A tick of a slow guest's TSC is several of the
 * host's: the line goes through its middle. trace-cmd rounds up what falls.
 */
static uint64_t middle(const struct map *map, uint64_t tsc)
{
	return is_scaled(map) ? map_to_host_middle(map, tsc) - (map->ratio >> map->frac > 0) :
				map_to_host(map, tsc);
}

static bool point_add(struct shift *shift, const struct map *map, uint64_t tsc)
{
	struct point *more = grow(shift->points, shift->nr, sizeof(*more));

	if (!more)
		return false;
	shift->points = more;
	more[shift->nr++] = (struct point){ tsc, middle(map, tsc) - tsc };
	return true;
}

/* One map holds from @first to @last. */
static bool points_add(struct shift *shift, const struct map *map, uint64_t first, uint64_t last)
{
	uint64_t apart = is_scaled(map) ? APART : last - first;

	while (last - first > apart) {
		if (!point_add(shift, map, first))
			return false;
		first += apart;
	}
	return point_add(shift, map, first) && (first == last || point_add(shift, map, last));
}

bool shift_make(struct shift *shift, struct run run, uint64_t first, uint64_t last)
{
	const struct clock *next;
	uint64_t until;

	for (; run.now; run.now = next) {
		next = run_next(&run);
		if (next == run.end)
			return points_add(shift, &run.now->map, first, last < first ? first : last);
		until = map_to_guest(&next->map, next->at);
		shift->steps++;
		shift->back += next->by_guest && until < map_to_guest(&run.now->map, next->at);
		if (until <= first)
			continue;
		if (!points_add(shift, &run.now->map, first, until - 1))
			return false;
		first = until;
	}
	return true;
}
