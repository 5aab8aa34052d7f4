/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PVPERF_WHY_H
#define PVPERF_WHY_H

/* Where the time between a wake-up of a guest's task and its switch went. */

#include <stdbool.h>
#include "dat.h"

struct why {
	const char *task;	/* a name, or a pid; NULL: nobody asks */
	double over;		/* seconds: shorter times are not told */
	bool json;
};

struct copies;

void why_begin(const struct why *why, const struct copies *copies);

/* A thread that runs a vCPU. False if there is no memory. */
bool why_vcpu(uint64_t tid);

/* All events, in the order of time. */
void why_host(struct tracecmd_input *buffer, struct tep_record *record);
void why_guest(struct tracecmd_input *buffer, struct tep_record *record);

/* Events of a guest were lost, or are on a CPU whose clock is not known. */
void why_guest_forget(const struct dat *guest);

/* What is told at the end. False: the task did not wake, or the host's events don't say why. */
bool why_end(void);

#endif /* PVPERF_WHY_H */
