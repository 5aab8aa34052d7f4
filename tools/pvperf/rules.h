/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PVPERF_RULES_H
#define PVPERF_RULES_H

/* Rules as text: from files, to and from the host's module. */

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#define RULES_DEVICE	"/dev/pvperf_policy"
#define POLICY_D	"/etc/pvperf/policy.d"

struct rules {
	char **line;		/* as the module prints them, without comments */
	int n;
};

void rules_free(struct rules *rules);

bool rules_same(const struct rules *a, const struct rules *b);

/*
 * Adds the rules of a file, or of all files *.conf of a folder in the order of their names.
 * Prints a line for each mistake on stderr. Returns false if there was one.
 */
bool rules_add(struct rules *rules, const char *path);

/*
 * What the module has: its rules, and the default's words as a line. Returns false after
 * failure().
 */
bool rules_read(struct rules *rules, char *standard, size_t size);

/*
 * Keeps others from changing the rules until pvperf ends, as far as they ask, too. Returns false
 * after failure().
 */
bool rules_lock(void);

/* Would the module take as many? Returns false after failure(). */
bool rules_fit(const struct rules *rules);

/*
 * Gives the module these rules. Lines from @first to before @end are those that it had: where
 * their process ends meanwhile, they go. Returns the exit status, after failure() if it is not 0.
 */
int rules_write(struct rules *rules, int first, int end);

/* The number after pid=, 0 without; @alone, which may be NULL: nothing else is asked of a VM. */
pid_t rule_pid(const char *line, bool *alone);

/* Do both ask the same of a VM, whatever they give it? */
bool rules_ask_alike(const char *a, const char *b);

/* Takes out the lines that ask for this process alone; 0: all that ask for a process. */
void rules_drop(struct rules *rules, pid_t pid);

/* Puts a line before all others. */
bool rules_put_first(struct rules *rules, const char *line);

#endif /* PVPERF_RULES_H */
