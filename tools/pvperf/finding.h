/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PVPERF_FINDING_H
#define PVPERF_FINDING_H

#include <stdbool.h>

/*
 * The test of a condition gives a finding: whether the condition is met, is a
 * problem, or is unknown from here; why; and, unless it is met, what to do.
 */

enum fit {
	FIT_OK,
	FIT_PROBLEM,
	FIT_UNKNOWN,
};

struct finding {
	const char *name;
	enum fit fit;
	char why[384];
	char todo[384];		/* "": nothing */
	char run[192];		/* what a shell does of that, as root; "": nothing */
};

struct side;

struct condition {
	const char *name;
	void (*look)(const struct side *side, struct finding *f);
	const char *(*unknown)(void);	/* may be NULL; returns why .look can't tell, or NULL */
};

/* Host or guest: its module, and its conditions. */
struct side {
	const char *name;	/* "host" */
	const char *module;	/* "pvperf_host" */
	const char *package;	/* "pvperf-host" */
	const struct condition *conditions;	/* ends with a name of NULL */
};

extern const struct side side_host, side_guest;

const char *fit_name(enum fit fit);

__attribute__((format(printf, 3, 4)))
void finding_set(struct finding *f, enum fit fit, const char *why, ...);
#define finding_ok(f, ...)	finding_set(f, FIT_OK, __VA_ARGS__)
#define finding_problem(f, ...)	finding_set(f, FIT_PROBLEM, __VA_ARGS__)
#define finding_unknown(f, ...)	finding_set(f, FIT_UNKNOWN, __VA_ARGS__)

__attribute__((format(printf, 2, 3)))
void finding_todo(struct finding *f, const char *todo, ...);
/*
 * The command @run of a shell does it. @then is "", or has words that follow the command
 * in the text.
 */
__attribute__((format(printf, 3, 4)))
void finding_run(struct finding *f, const char *then, const char *run, ...);

/* Reading @path failed with @err: unknown, and whether root could read it. */
void finding_unread(struct finding *f, const char *path, int err);

#endif /* PVPERF_FINDING_H */
