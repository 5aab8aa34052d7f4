/* SPDX-License-Identifier: GPL-2.0 */
#ifndef CHANCE_H
#define CHANCE_H

/* Numbers at random, but after one seed the same in each run, on each machine. */
#include <stdint.h>

void chance_seed(uint64_t seed);
/* 0 to @n - 1 */
uint32_t below(uint32_t n);
uint64_t one_of(const uint64_t *values, int n);

#define N(array)	((int)(sizeof(array) / sizeof(*(array))))
#define ONE_OF(...) one_of((const uint64_t[]){ __VA_ARGS__ }, \
			   N(((const uint64_t[]){ __VA_ARGS__ })))

#endif /* CHANCE_H */
