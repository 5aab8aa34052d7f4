/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PVPERF_SYMBOL_H
#define PVPERF_SYMBOL_H

#include <stdbool.h>

/* Functions of the running kernel, by name. */

struct symbol {
	const char *name;
	bool known;		/* in /proc/kallsyms */
	bool traceable;		/* ftrace can patch it */
	bool taken;		/* a user of ftrace diverts it already */
};

/*
 * Each function sets one field of all @n symbols, and returns 0 or an errno value.
 * The last two read files of tracefs, which only root may read.
 */
int symbols_known(struct symbol *symbols, int n);
int symbols_traceable(struct symbol *symbols, int n);
int symbols_taken(struct symbol *symbols, int n);

#endif /* PVPERF_SYMBOL_H */
