// SPDX-License-Identifier: GPL-2.0
/*
 * Walks at random with the descriptors of perf_event_open(), the same in each run: a line
 * for each. Knows nothing of the PMU; walk.sh compares a guest with its host.
 *
 *   pmu_walk N               the walks 0 to N - 1
 *   pmu_walk WALK:MASK...    these walks, only the steps whose bits are in MASK, which is
 *                            hexadecimal
 */
#include "chance.h"
#include "walk.h"
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define ALL	((1u << WALK_STEPS) - 1)

static struct walk walk;

static void step_open(struct walk *w)
{
	int slot = below(2) ? below(3) : below(WALK_EVENTS);

	say(w, "open(%d)=", slot);
	walk_open(w, &w->events[slot]);
}

/* Of no event, rarely. */
static void step_operate(struct walk *w)
{
	int i, slot = below(WALK_EVENTS);

	for (i = 0; i < WALK_EVENTS; i++)
		if (w->events[(slot + i) % WALK_EVENTS].fd >= 0)
			break;
	walk_operate(w, &w->events[(slot + i) % WALK_EVENTS]);
}

static void step_tasks(struct walk *w)
{
	walk_tasks(w);
	walk_look(w);
}

/* Each step has a seed of its own: it does the same without those before it. */
static void step(struct walk *w, uint32_t k, int i)
{
	chance_seed((k + 1) * 0xbf58476d1ce4e5b9ull + i);
	switch (i < 3 ? 0 : below(8)) {
	case 0:
	case 1:
		step_open(w);
		break;
	case 2:
	case 3:
	case 4:
		step_tasks(w);
		break;
	default:
		step_operate(w);
	}
}

static void walk_steps(struct walk *w, uint32_t k, uint32_t mask)
{
	int i;

	say(w, "%u:%x", k, mask);
	for (i = 0; i < WALK_STEPS; i++) {
		if (!(mask & 1u << i))
			continue;
		say(w, "; ");
		step(w, k, i);
	}
}

static void walk_alone(uint32_t k, uint32_t mask)
{
	struct walk *w = &walk;
	int i;

	alarm(60);
	for (i = 0; i < WALK_EVENTS; i++)
		w->events[i].fd = -1;
	walk_signals_catch();
	walk_priority(1);
	walk_child_start(w);
	walk_steps(w, k, mask);
	for (i = 0; i < WALK_EVENTS; i++)
		walk_close(w, &w->events[(i + k) % WALK_EVENTS]);
	walk_child_end(w);
	puts(w->said);
	fflush(stdout);
	_exit(0);
}

/* In a process of its own, so that nothing is left for the next walk. */
static void walk_run(uint32_t k, uint32_t mask)
{
	pid_t pid;
	int status = 0;

	fflush(stdout);
	pid = fork();
	if (!pid)
		walk_alone(k, mask);
	waitpid(pid, &status, 0);
	if (status)
		printf("%u:%x; ended with status %#x\n", k, mask, status);
}

int main(int argc, char **argv)
{
	unsigned int k, mask;
	int i;

	signal(SIGPIPE, SIG_IGN);
	if (argc == 4 && !strcmp(argv[1], "child"))
		return walk_child_main(argv + 2);
	if (argc == 2 && !strchr(argv[1], ':')) {
		for (i = 0; i < atoi(argv[1]); i++)
			walk_run(i, ALL);
		return 0;
	}
	for (i = 1; i < argc; i++) {
		if (sscanf(argv[i], "%u:%x", &k, &mask) != 2) {
			fprintf(stderr, "usage: pmu_walk N | WALK:MASK...\n");
			return 1;
		}
		walk_run(k, mask);
	}
	return argc < 2;
}
