/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PVPERF_COMMAND_H
#define PVPERF_COMMAND_H

#include <stdbool.h>

/* What main.c can be told to do; each returns the status to exit with. */

enum {
	EXIT_FITS = 0,
	EXIT_PROBLEM = 1,
	EXIT_USAGE = 2,
};

struct options {
	bool json;
	bool host, guest;	/* check: these sides only; neither: by looking */
};

int command_check(const struct options *options);
int command_list(const struct options *options);

#endif /* PVPERF_COMMAND_H */
