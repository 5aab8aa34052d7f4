/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PVPERF_LINE_H
#define PVPERF_LINE_H

/* A line of text that ftrace or `perf script` has printed of an event. */

#include <stdbool.h>
#include <stdint.h>

struct line {
	const char *text;
	int stamp, rest;	/* where the time and what follows it begin in .text */
	uint64_t time;		/* TSC, or nanoseconds */
	bool seconds;		/* the time was printed as seconds: it is perf's clock */
	bool us;		/* ... with six places, the rest cut off */
	unsigned int pid, cpu;
	bool filled;		/* names are filled up, in this line or one before */
};

/* False if @text is no event. @line: that of the line before in the file, at first all 0. */
bool line_parse(struct line *line, const char *text);

/* What follows "NAME: " of the event, or NULL if it is another one. */
const char *line_event(const struct line *line, const char *name);

/* The number after "KEY=" of an event's fields. */
bool line_field(const char *fields, const char *key, int base, uint64_t *value);

#endif /* PVPERF_LINE_H */
