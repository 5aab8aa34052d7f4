/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PVPERF_RECORD_H
#define PVPERF_RECORD_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/*
 * A line of the host module's debugfs files: a word, and key=value pairs. Keys
 * that this program does not know are kept.
 */

#define RECORD_FIELDS	24

struct record {
	char *line;		/* what the rest points into */
	const char *kind;	/* "vm", "vcpu", "event" */
	int n;
	struct {
		const char *key, *value;
	} field[RECORD_FIELDS];
};

/* 1: a record, to be freed; 0: no more; -1: that is none, @r->line says what. */
int record_read(FILE *f, struct record *r);
void record_free(struct record *r);

/* "" if there is no such key, 0 if it is no number. */
const char *record_word(const struct record *r, const char *key);
uint64_t record_number(const struct record *r, const char *key);

#endif /* PVPERF_RECORD_H */
