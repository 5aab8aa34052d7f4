/* SPDX-License-Identifier: GPL-2.0 */
#ifndef ADMIN_H
#define ADMIN_H

/* Somebody who must not wait, in a thread of his own; and what the host's admin does. */
#include <pthread.h>
#include <semaphore.h>
#include <stdbool.h>
#include <stdint.h>

struct runner {
	void (*run)(struct runner *r);	/* sets .result */
	void *arg;
	pthread_t thread;
	sem_t done;
	int64_t result;
};

void runner_start(struct runner *r, void (*run)(struct runner *r), void *arg);
/* It has ended, or does so within @seconds. */
bool runner_ends(struct runner *r, int seconds);

/* Functions for .run; .result is 0 or -errno. */
void admin_shows_vms(struct runner *r);
void admin_unloads(struct runner *r);
/* Writes .arg, "PARAMETER=VALUE", to a parameter of the host's module. */
void admin_writes(struct runner *r);
/* Sets the priority of this process's VMs. */
void admin_sets_priority(struct runner *r);
/* Writes the rules .arg. */
void admin_writes_rules(struct runner *r);

#endif /* ADMIN_H */
