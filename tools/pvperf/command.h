/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PVPERF_COMMAND_H
#define PVPERF_COMMAND_H

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* The commands of pvperf. Each returns the exit status. */

enum {
	EXIT_FITS = 0,
	EXIT_PROBLEM = 1,
	EXIT_USAGE = 2,
	EXIT_DOUBT = 3,		/* done, but: merge is not proved, the rules wait for a VM */
};

struct options {
	bool json;
	bool host, guest;	/* sides to check; neither: find out which */
};

int command_check(const struct options *options);
int command_list(const struct options *options);
int command_refused(const struct options *options);

/* These take options of their own. */
int command_policy(int argc, char **argv);
int command_set(int argc, char **argv);
extern const char policy_help[], set_help[];

/* @help: which help to read. Returns the exit status. */
int command_usage(const char *what, const char *word, const char *help);

/* Run by the program pvperf-trace. @argv: record, merge or help, and what follows. */
int command_trace(int argc, char **argv);

/* A full disk or a closed pipe shows only when the output is flushed. Returns the exit status. */
static inline int command_finish(int status)
{
	if (!fflush(stdout) && !ferror(stdout))
		return status;
	fprintf(stderr, "pvperf: can't write the output: %s\n", strerror(errno));
	return EXIT_PROBLEM;
}

#endif /* PVPERF_COMMAND_H */
