// SPDX-License-Identifier: GPL-2.0
#include <stdarg.h>
#include <stdio.h>
#include "failure.h"

char failure_why[512];

void failure(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(failure_why, sizeof(failure_why), format, args);
	va_end(args);
	fprintf(stderr, "pvperf: %s\n", failure_why);
}
