// SPDX-License-Identifier: GPL-2.0
/*
 * Parse the lines of debugfs files into records.
 */
#include <stdlib.h>
#include <string.h>
#include "debugfs.h"

static bool record_parse(struct record *r)
{
	char *rest = r->line, *word, *value;

	rest += strspn(rest, " ");
	r->kind = strsep(&rest, " ");
	r->n = 0;
	while ((word = strsep(&rest, " "))) {
		value = strchr(word, '=');
		if (!value || value == word || r->n == RECORD_FIELDS)
			return false;
		*value++ = '\0';
		r->field[r->n].key = word;
		r->field[r->n++].value = value;
	}
	return *r->kind;
}

int record_read(FILE *f, struct record *r)
{
	size_t size = 0;
	char *whole;
	bool good;

	r->line = NULL;
	if (getline(&r->line, &size, f) <= 0) {
		free(r->line);
		return 0;
	}
	r->line[strcspn(r->line, "\n")] = '\0';
	whole = strdup(r->line);
	good = whole && record_parse(r);
	if (good) {
		free(whole);
		return 1;
	}
	free(r->line);
	r->line = whole;
	return -1;
}

void record_free(struct record *r)
{
	free(r->line);
}

const char *record_word(const struct record *r, const char *key)
{
	int i;

	for (i = 0; i < r->n; i++) {
		if (!strcmp(r->field[i].key, key))
			return r->field[i].value;
	}
	return "";
}

uint64_t record_number(const struct record *r, const char *key)
{
	return strtoull(record_word(r, key), NULL, 0);
}
