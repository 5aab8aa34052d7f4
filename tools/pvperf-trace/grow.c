// SPDX-License-Identifier: GPL-2.0
#include <stdlib.h>
#include "grow.h"

/* The array has room for a power of 2. */
void *grow(void *array, size_t n, size_t each)
{
	if (n >= GROW_MAX)
		return NULL;
	return n & (n - 1) ? array : realloc(array, (n ? n * 2 : 1) * each);
}

void *tids_at(struct tids *tids, uint64_t tid)
{
	char **chunk = &tids->chunk[tid < TIDS ? tid / TIDS_CHUNK : 0];

	if (tid >= TIDS)
		return NULL;
	if (!*chunk)
		*chunk = calloc(TIDS_CHUNK, tids->each);
	return *chunk ? *chunk + tid % TIDS_CHUNK * tids->each : NULL;
}
