// SPDX-License-Identifier: GPL-2.0
/* Reads events and their rings, and tells what does not depend on the time. */
#include "walk.h"
#include <errno.h>
#include <linux/perf_event.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define WORDS	(3 + 3 * WALK_EVENTS)
#define PAGE	4096ul
#define TYPES	32

void say(struct walk *w, const char *format, ...)
{
	size_t used = strlen(w->said);
	va_list args;

	if (w->quiet)
		return;
	va_start(args, format);
	vsnprintf(w->said + used, sizeof(w->said) - used, format, args);
	va_end(args);
}

void say_result(struct walk *w, long result)
{
	if (result < 0)
		say(w, "=%s", strerrorname_np(errno));
	else
		say(w, "=%ld", result);
}

static bool takes_turns(struct walk *w)
{
	int i, hardware = 0, fit = WALK_FIT;

	for (i = 0; i < WALK_EVENTS; i++) {
		if (w->events[i].fd < 0)
			continue;
		hardware += w->events[i].hardware;
		if (w->events[i].exclusive)
			fit = 1;
	}
	return hardware > fit;
}

static void say_grown(struct walk *w, uint64_t before, uint64_t now)
{
	say(w, "%s", now > before ? "+" : now < before ? "-" : "0");
}

/* In halves of one work. A group has members of all kinds: those are not exact. */
static void say_count(struct walk *w, struct walk_event *e, int i, uint64_t now)
{
	uint64_t before = e->seen[i];

	e->seen[i] = now;
	if (e->exact && !(e->format & PERF_FORMAT_GROUP) && now > before)
		say(w, "%llu", (unsigned long long)(now - before + WALK_WORK / 4) / (WALK_WORK / 2));
	else
		say_grown(w, before, now);
}

static void say_times(struct walk *w, struct walk_event *e, const uint64_t **at)
{
	uint64_t enabled = e->enabled, running = e->running;

	if (e->format & PERF_FORMAT_TOTAL_TIME_ENABLED)
		enabled = *(*at)++;
	if (e->format & PERF_FORMAT_TOTAL_TIME_RUNNING)
		running = *(*at)++;
	say(w, " t");
	say_grown(w, e->enabled, enabled);
	say_grown(w, e->running, running);
	if ((e->format & 3) == 3)
		say(w, "%s", running == enabled ? "=" : running < enabled ? "<" : ">");
	e->enabled = enabled;
	e->running = running;
}

/* The slot of the event with this id; -1: closed, but still in the group. */
static int slot_of(struct walk *w, uint64_t id)
{
	uint64_t other;
	int i;

	for (i = 0; i < WALK_EVENTS; i++)
		if (w->events[i].fd >= 0 && !ioctl(w->events[i].fd, PERF_EVENT_IOC_ID, &other) &&
		    other == id)
			return i;
	return -1;
}

static void say_values(struct walk *w, struct walk_event *e, const uint64_t *at)
{
	bool group = e->format & PERF_FORMAT_GROUP;
	uint64_t i, n = group ? *at++ : 1;

	if (group)
		say_times(w, e, &at);
	for (i = 0; i < n && i < WALK_EVENTS; i++) {
		say(w, " ");
		say_count(w, e, i, *at++);
		if (!group)
			say_times(w, e, &at);
		if (e->format & PERF_FORMAT_ID)
			say(w, " i%d", slot_of(w, *at++));
		if (e->format & PERF_FORMAT_LOST)
			say(w, " l%llu", (unsigned long long)*at++);
	}
}

static void look_at_count(struct walk *w, struct walk_event *e)
{
	uint64_t values[WORDS];
	long n = read(e->fd, values, sizeof(values));

	say(w, " %d:", (int)(e - w->events));
	if (n <= 0) {
		say_result(w, n);
		return;
	}
	say(w, "%ld", n);
	w->quiet += e->hardware && takes_turns(w);
	say_values(w, e, values);
	w->quiet -= e->hardware && takes_turns(w);
}

static void say_types(struct walk *w, const uint32_t *records)
{
	int type;

	for (type = 0; type < TYPES; type++)
		if (records[type] || type == PERF_RECORD_SAMPLE)
			say(w, " %ux%d", records[type], type);
}

/* The header of the record at @at, which may lie across the ring's end. */
static struct perf_event_header record_at(struct walk_event *e, uint64_t at)
{
	struct perf_event_header header;
	size_t size = (e->pages - 1) * PAGE, i;

	for (i = 0; i < sizeof(header); i++)
		((char *)&header)[i] = ((char *)e->ring)[PAGE + (at + i) % size];
	return header;
}

/* How many records of each type; reads all that there are. */
static void look_at_records(struct walk *w, struct walk_event *e)
{
	struct perf_event_mmap_page *page = e->ring;
	uint64_t head = __atomic_load_n(&page->data_head, __ATOMIC_ACQUIRE), at = page->data_tail;
	uint32_t records[TYPES] = { 0 };

	while (at < head) {
		struct perf_event_header header = record_at(e, at);

		if (!header.size)
			break;
		records[header.type % TYPES]++;
		at += header.size;
	}
	__atomic_store_n(&page->data_tail, head, __ATOMIC_RELEASE);
	say_types(w, records);
}

static void look_at_ring(struct walk *w, struct walk_event *e)
{
	struct perf_event_mmap_page *page = e->ring;

	say(w, " ring");
	if (e->pages < 2)
		return;
	w->quiet += e->everybody || takes_turns(w);
	if (e->overwrite)
		say(w, "%s", page->data_head ? "+" : "0");
	else
		look_at_records(w, e);
	w->quiet -= e->everybody || takes_turns(w);
}

void walk_look(struct walk *w)
{
	int i;

	for (i = 0; i < WALK_EVENTS; i++) {
		if (w->events[i].fd < 0)
			continue;
		look_at_count(w, &w->events[i]);
		if (w->events[i].ring)
			look_at_ring(w, &w->events[i]);
	}
	i = walk_signals();
	if (!takes_turns(w))
		say(w, " signals=%d", i);
}

void walk_forget(struct walk *w)
{
	w->quiet++;
	walk_look(w);
	w->quiet--;
}
