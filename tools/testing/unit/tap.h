/* SPDX-License-Identifier: GPL-2.0 */
#ifndef UNIT_TAP_H
#define UNIT_TAP_H

/* TAP: one line for each result, and a verdict at the end. */

#include <stdarg.h>
#include <stdio.h>

static int tap_number, tap_failed;

__attribute__((format(printf, 2, 3)))
static inline void tap(int good, const char *name, ...)
{
	va_list args;

	printf("%s %d - ", good ? "ok" : "not ok", ++tap_number);
	va_start(args, name);
	vprintf(name, args);
	va_end(args);
	putchar('\n');
	tap_failed += !good;
}

static inline int tap_end(void)
{
	printf("1..%d\n", tap_number);
	return tap_failed ? 1 : 0;
}

#endif /* UNIT_TAP_H */
