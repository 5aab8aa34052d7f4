// SPDX-License-Identifier: GPL-2.0
/* Knuth's linear congruential generator; its upper bits. Each thread has its own. */
#include "chance.h"

static __thread uint64_t state;

static uint32_t chance_next(void)
{
	state = state * 6364136223846793005ull + 1442695040888963407ull;
	return state >> 33;
}

/* The first number hardly depends on a small seed. */
void chance_seed(uint64_t seed)
{
	state = seed;
	chance_next();
}

uint32_t below(uint32_t n)
{
	return chance_next() % n;
}

uint64_t one_of(const uint64_t *values, int n)
{
	return values[below(n)];
}
