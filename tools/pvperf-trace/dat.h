/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PVPERF_DAT_H
#define PVPERF_DAT_H

/* trace.dat files, read by libtracecmd. Nothing in them is trusted. */

#include <stdbool.h>
#include <stdint.h>
#include <trace-cmd.h>
#include "clocks.h"
#include "proof.h"
#include "shift.h"

#define GUESTS_MAX	64	/* of a merge */
#define BUFFERS_MAX	64	/* of a file: trace-cmd record -B */

struct dat {
	const char *path;
	char *copy, *part;	/* its copy, and until all copies are made */
	int fd;			/* of the copy */
	bool is_guest;
	struct tracecmd_input *buffers[BUFFERS_MAX];
	int nr_buffers;
	/* Identifiers of events; -1: not in the file. */
	int clock, entry, exit, print, write_offset;
	uint64_t id;		/* of the trace */
	uint64_t name;		/* of a guest's VM, from its clock events */
	bool moved;		/* the name changes later */
	uint64_t first, last;	/* TSC of its events */
	uint64_t losses;	/* times that events were lost */
	uint64_t strange;	/* events of CPUs whose clock is not known */
	uint64_t apart;		/* how near a clock event's time came to the TSC in it */
	unsigned int cpus;	/* of a guest: as the file says, or more if they have events */
	uint64_t apics[CPUS_MAX];
	bool tells_apics;	/* of some CPU at least */
	struct run *runs;
	struct shift *shifts;
	struct share *shares;
};

/* Begins to read; @clock is the name of its clock event. Says why not, and returns the status. */
int dat_begin(struct dat *dat, const char *clock);
void dat_end(struct dat *dat);

/*
 * Calls @each for the events of @n files that have begun, in the order of time. Not 0: libtracecmd
 * has ended that before all was read.
 */
typedef int (*dat_fn)(struct tracecmd_input *buffer, struct tep_record *record, int cpu, void *arg);
int dats_read(struct dat **dats, int n, dat_fn each, void *arg);

/* A buffer's file. */
struct dat *dat_of(struct tracecmd_input *buffer);

struct tep_event *dat_event(struct tracecmd_input *buffer, struct tep_record *record);

/* A number of an event. The file says where it lies, so it may lie outside: then false. */
bool dat_number(struct tep_event *event, struct tep_record *record, const char *name,
		uint64_t *value);

/* The text at an event's end. */
void dat_rest(struct tep_event *event, struct tep_record *record, const char *name, char *text,
	      size_t size);

/* A text of an event, of @size bytes at most with its end: "" if there is none. */
void dat_text(struct tep_event *event, struct tep_record *record, const char *name, char *text,
	      size_t size);

#endif /* PVPERF_DAT_H */
