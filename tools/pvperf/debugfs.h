/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PVPERF_DEBUGFS_H
#define PVPERF_DEBUGFS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/*
 * A line of the host module's debugfs files: a word, and key=value pairs. A record
 * keeps keys that this program does not know.
 */

#define RECORD_FIELDS	24

struct record {
	char *line;		/* the other fields point into it */
	const char *kind;	/* "vm", "vcpu", "event" */
	int n;
	struct {
		const char *key, *value;
	} field[RECORD_FIELDS];
};

/*
 * Returns 1 for a record, 0 at the end of the file, and -1 for a line that is no
 * record, which @r->line then holds. The caller frees the record unless it is 0.
 */
int record_read(FILE *f, struct record *r);
void record_free(struct record *r);

/* The value of @key: "" if the key is absent, 0 if the value is no number. */
const char *record_word(const struct record *r, const char *key);
uint64_t record_number(const struct record *r, const char *key);

#endif /* PVPERF_DEBUGFS_H */
