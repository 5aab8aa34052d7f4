/* SPDX-License-Identifier: GPL-2.0 */
#ifndef NEED_H
#define NEED_H

#include "kselftest.h"
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/*
 * Skips the whole program where this machine lacks what the program tests. On @side of
 * the lab nothing may be lacking: there the tests run, and fail.
 */
static inline void need(const char *side, bool there, const char *why)
{
	const char *where = getenv("LAB_WHERE");

	if (there || (where && !strcmp(where, side)))
		return;
	ksft_print_header();
	ksft_exit_skip("%s\n", why);
}

#endif /* NEED_H */
