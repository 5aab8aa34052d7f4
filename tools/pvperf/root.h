/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PVPERF_ROOT_H
#define PVPERF_ROOT_H

#include <stdbool.h>
#include <stdio.h>

/*
 * The files of the machine that pvperf examines: this machine, or for tests the one
 * below the directory $PVPERF_ROOT; pvperf then reads nothing else of this machine.
 */

/* $PVPERF_ROOT, or NULL for this machine. */
const char *root_prefix(void);

bool root_exists(const char *path);
bool root_matches(const char *pattern);

/*
 * What @pattern's one "*" stands for in the last of the paths that match, in @part, which has
 * room for @size. False if none does.
 */
bool root_part(const char *pattern, char *part, size_t size);

/* Returns NULL and sets errno on failure. */
FILE *root_open(const char *path);

/*
 * Reads the first line of a file into @line, without the newline. Returns 0 or an
 * errno value; an empty file gives an empty line.
 */
int root_line(const char *path, char *line, size_t size);

/*
 * Replaces what a file has by @text, in one write. Returns 0 or an errno value. The only
 * function here that changes anything.
 */
int root_write(const char *path, const char *text);

/* uname -r of the machine, or "unknown". */
const char *root_release(void);

#endif /* PVPERF_ROOT_H */
