/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PVPERF_QUOTE_H
#define PVPERF_QUOTE_H

/* Names that somebody else may have chosen. */

#include <stdio.h>

/* As a word for a shell; without what a terminal would obey. */
void quote(FILE *f, const char *text);

/* Puts "?" for what a terminal would obey, but for tabs. */
void quote_plain(char *text);

/* "pvperf: PATH: ", as messages about a file begin. */
void quote_begin(const char *path);

#endif /* PVPERF_QUOTE_H */
