// SPDX-License-Identifier: GPL-2.0
/*
 * Look up kernel functions in the three files that list them. Each file is read
 * once, as it has some hundred thousand lines.
 */
#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include "root.h"
#include "symbol.h"

/* Calls @see for each line whose @field'th word, from 0, is one of @symbols. */
static int symbols_in(const char *path, int field, struct symbol *symbols, int n,
		      void (*see)(struct symbol *symbol, const char *rest))
{
	FILE *f = root_open(path);
	char *line = NULL, *rest, *word;
	size_t size = 0;
	int i;

	if (!f)
		return errno;
	while (getline(&line, &size, f) > 0) {
		rest = line;
		word = strsep(&rest, " \t\n");
		for (i = 0; word && i < field; i++)
			word = strsep(&rest, " \t\n");
		for (i = 0; word && i < n; i++) {
			if (!strcmp(word, symbols[i].name))
				see(&symbols[i], rest ? rest : "");
		}
	}
	free(line);
	fclose(f);
	return 0;
}

static void see_known(struct symbol *symbol, const char *rest)
{
	symbol->known = true;
}

static void see_traceable(struct symbol *symbol, const char *rest)
{
	symbol->traceable = true;
}

/* "[kvm] (1) R I  tramp: ...": I is IPMODIFY, which ftrace gives to one user only. */
static void see_taken(struct symbol *symbol, const char *rest)
{
	const char *flags = strchr(rest, ')');

	if (flags && memchr(flags, 'I', strcspn(flags, "\t>:t")))
		symbol->taken = true;
}

/* tracefs is mounted at its own directory, or below debugfs by older systems. */
static int symbols_tracefs(const char *file, struct symbol *symbols, int n,
			   void (*see)(struct symbol *symbol, const char *rest))
{
	static const char *const dirs[] = {
		"/sys/kernel/tracing", "/sys/kernel/debug/tracing",
	};
	char path[128];
	int err = ENOENT;
	size_t i;

	for (i = 0; i < sizeof(dirs) / sizeof(*dirs) && err == ENOENT; i++) {
		snprintf(path, sizeof(path), "%s/%s", dirs[i], file);
		err = symbols_in(path, 0, symbols, n, see);
	}
	return err;
}

int symbols_known(struct symbol *symbols, int n)
{
	return symbols_in("/proc/kallsyms", 2, symbols, n, see_known);
}

int symbols_traceable(struct symbol *symbols, int n)
{
	return symbols_tracefs("available_filter_functions", symbols, n,
			       see_traceable);
}

int symbols_taken(struct symbol *symbols, int n)
{
	return symbols_tracefs("enabled_functions", symbols, n, see_taken);
}
