/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PVPERF_ROOT_H
#define PVPERF_ROOT_H

#include <stdbool.h>
#include <stdio.h>

/*
 * Files of the machine that is looked at: this one, or one that lies below the
 * directory $PVPERF_ROOT (for tests; then nothing else of this machine counts).
 */

/* NULL: this machine. */
const char *root_prefix(void);

bool root_exists(const char *path);
bool root_matches(const char *pattern);

/* NULL and errno if it can't be opened. */
FILE *root_open(const char *path);

/*
 * The first line of a file, without its newline, into @line. Returns 0 or an
 * errno value; an empty file is an empty line.
 */
int root_line(const char *path, char *line, size_t size);

/* uname -r of the machine; "unknown" if nobody says so. */
const char *root_release(void);

#endif /* PVPERF_ROOT_H */
