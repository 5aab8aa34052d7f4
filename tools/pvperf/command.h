/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PVPERF_COMMAND_H
#define PVPERF_COMMAND_H

#include <stdbool.h>

/* The commands. Each returns the exit status. */

enum {
	EXIT_FITS = 0,
	EXIT_PROBLEM = 1,
	EXIT_USAGE = 2,
	EXIT_DOUBT = 3,		/* merge is done, and what it read does not prove it */
};

struct options {
	bool json;
	bool host, guest;	/* sides to check; neither: find out which */
};

int command_check(const struct options *options);
int command_list(const struct options *options);
int command_refused(const struct options *options);

/* These take options of their own. */
int command_merge(int argc, char **argv);
int command_record(int argc, char **argv);
int command_policy(int argc, char **argv);
int command_set(int argc, char **argv);
extern const char merge_help[], record_help[], policy_help[], set_help[];


#endif /* PVPERF_COMMAND_H */
