// SPDX-License-Identifier: GPL-2.0
#include "map.h"

typedef unsigned __int128 u128;

bool map_same(const struct map *a, const struct map *b)
{
	return a->offset == b->offset && a->ratio == b->ratio && a->frac == b->frac;
}

uint64_t map_to_guest(const struct map *map, uint64_t host)
{
	return (uint64_t)((u128)host * map->ratio >> map->frac) + map->offset;
}

uint64_t map_to_host(const struct map *map, uint64_t guest)
{
	u128 scaled = (u128)(guest - map->offset) << map->frac;

	return (scaled + map->ratio - 1) / map->ratio;
}

uint64_t map_to_host_middle(const struct map *map, uint64_t guest)
{
	u128 scaled = ((u128)(guest - map->offset) * 2 + 1) << map->frac;

	return (scaled + map->ratio) / map->ratio / 2;
}
