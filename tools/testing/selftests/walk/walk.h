/* SPDX-License-Identifier: GPL-2.0 */
#ifndef WALK_H
#define WALK_H

/*
 * A walk: steps taken at random with a handful of events and with the tasks that they
 * count. Each step says what it did and what came of it; what is said must not depend on
 * the time, and only on the PMU where PMUs must agree.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define WALK_EVENTS	9
#define WALK_STEPS	20
/* User instructions that a task works at a time; more than all else that it does then. */
#define WALK_WORK	400000
/* With more hardware events than these, perf takes turns, whose times differ. */
#define WALK_FIT	4

struct walk_event {
	int fd;			/* -1: not open */
	bool hardware, exclusive;
	bool everybody;		/* a CPU's, not a task's */
	uint64_t format;	/* attr.read_format */
	bool exact;		/* user instructions of tasks */
	void *ring;		/* NULL: not mapped */
	size_t pages;		/* of the ring, with the first one */
	bool overwrite;
	uint64_t enabled, running;
	uint64_t seen[WALK_EVENTS];	/* the counts that the last read told */
};

struct walk {
	struct walk_event events[WALK_EVENTS];
	pid_t child;
	int to_child, from_child;
	int quiet;		/* above 0: say() says nothing */
	char said[16384];
};

__attribute__((format(printf, 2, 3)))
void say(struct walk *w, const char *format, ...);
/* What a system call returned. */
void say_result(struct walk *w, long result);

/* An event at random, in the slot @e. */
void walk_open(struct walk *w, struct walk_event *e);
void walk_close(struct walk *w, struct walk_event *e);

/* Any operation on the descriptor of @e, but read(). */
void walk_operate(struct walk *w, struct walk_event *e);

void walk_map(struct walk *w, struct walk_event *e);

/* What each event counted since the last look, and wrote into its ring. */
void walk_look(struct walk *w);

/* Look, but say nothing: counts may have gone back. */
void walk_forget(struct walk *w);

/* Another task, which does what it is told. */
void walk_child_start(struct walk *w);
void walk_child_end(struct walk *w);
/* The walk's task leaves the CPU, and comes back. */
void walk_pause(struct walk *w);
/* Some task works, or begins and ends. */
void walk_tasks(struct walk *w);
/* The main() of a child that has called exec() */
int walk_child_main(char **argv);

/* Of the walk: 1 */
void walk_priority(int priority);

/* Signals since the last call. */
int walk_signals(void);
void walk_signals_catch(void);

#endif /* WALK_H */
