/* SPDX-License-Identifier: GPL-2.0 */
#ifndef COST_H
#define COST_H

/*
 * What an action costs the thread that does it: the instructions that the thread executes,
 * user's, kernel's and guest's, with the interrupts that hit it; and how long it sleeps.
 *
 * The emulator's CPUs take turns, and its clock runs with the instructions of all of them.
 * So the clock alone would charge the action with what other CPUs do meanwhile. A counter
 * of the thread does not; and a thread that sleeps loses nothing by the turns of others.
 */
#include <pthread.h>
#include <semaphore.h>
#include <stdbool.h>
#include <stdint.h>

/* Each runs in one new thread, in this order; only act() is measured. */
struct act {
	void (*before)(void *arg);
	int64_t (*act)(void *arg);
	void (*after)(void *arg);
};

struct cost {
	int64_t result;		/* of the act */
	uint64_t insns;
	int64_t slept;		/* ns */
	bool never;		/* it has not ended in time */

	const struct act *of;
	void *arg;
	pthread_t thread;
	sem_t done;
};

/* Waits up to @seconds for .before(), and as long for the act. */
void cost_measure(struct cost *c, const struct act *act, void *arg, int seconds);
/* Waits for the thread, and for .after(). */
void cost_end(struct cost *c);

#endif /* COST_H */
