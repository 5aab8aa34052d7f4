// SPDX-License-Identifier: GPL-2.0
/*
 * pvperf merge of text: what host and guests have recorded, in the order of the host's TSC.
 * The files are read twice: first the clock events, then everything, line by line.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "clocks.h"
#include "command.h"
#include "fault.h"
#include "grow.h"
#include "line.h"
#include "merge.h"
#include "proof.h"
#include "quote.h"
#include "rights.h"

/* The guest's pvperf_guest_clock. */
struct pair {
	unsigned int cpu;
	uint64_t tsc, local, apic;
};

/* A guest's CPU: its clock events, and how many of its events lie where the host ran it. */
struct cpu {
	struct run run;
	const struct pair *pair, *pairs_end;
	struct share share;
};

#define TEXT_MAX	(1 << 16)	/* of a line; ftrace's have two pages at most */

struct source {
	const char *path;
	FILE *file;
	char *text;
	const char *fault;	/* why it is not read further, or NULL */
	struct line line;
	bool there;		/* .line is the next line, at .time */
	uint64_t time;		/* of the host */
	uint64_t name;		/* of a guest, from its clock events */
	bool moved;		/* it has another name later */
	bool tells_apics;	/* of some CPU at least */
	uint64_t apart;		/* how near a clock event's time came to the clock in it */
	bool has_events;
	uint64_t losses;	/* times that events were lost */
	uint64_t left_out;	/* events whose time on the host is not known */
	struct pair *pairs;
	size_t nr_pairs;
	struct cpu *cpus;
};

static struct source host, guests[GUESTS_MAX];
static int nr_guests;
static struct clocks clocks;
static bool in_seconds;		/* the host's times, so that its events can't be placed */
static struct map given;	/* by -t; .ratio 0: not given */

/* ------------------------------------------------------------- the first time */

static void apart_see(struct source *s, uint64_t time, uint64_t clock)
{
	if (clock_apart(time, clock) < s->apart)
		s->apart = clock_apart(time, clock);
}

static bool clock_take(const struct line *line)
{
	const char *fields = line_event(line, "pvperf_clock");
	struct clock c = { .at = line->time };
	uint64_t frac, tsc;

	if (!fields || !line_field(fields, "clock", 16, &c.name) ||
	    !line_field(fields, "vcpu", 10, &c.vcpu) || !line_field(fields, "tid", 10, &c.tid) ||
	    !line_field(fields, "offset", 10, &c.map.offset) ||
	    !line_field(fields, "ratio", 10, &c.map.ratio) || !line_field(fields, "frac", 10, &frac))
		return true;
	c.map.frac = frac > 62 ? 63 : frac;
	clocks.by_index |= !line_field(fields, "apic", 10, &c.vcpu);
	if (line_field(fields, "tsc", 10, &tsc))
		apart_see(&host, line->time, tsc);
	return clocks_add(&clocks, &c);
}

static bool pair_take(struct source *guest, const struct line *line)
{
	const char *fields = line_event(line, "pvperf_guest_clock");
	struct pair p = { .cpu = line->cpu, .apic = APIC_UNKNOWN };
	uint64_t name;
	void *more;

	if (!fields || !line_field(fields, "clock", 16, &name) ||
	    !line_field(fields, "tsc", 10, &p.tsc) || !line_field(fields, "local", 10, &p.local))
		return true;
	apart_see(guest, line->time, line->seconds ? p.local : p.tsc);
	if (line_field(fields, "apic", 10, &p.apic))
		p.apic = apic_of(p.apic);
	guest->tells_apics |= p.apic != APIC_UNKNOWN;
	if (!guest->name)
		guest->name = name;
	guest->moved |= name && name != guest->name;
	more = grow(guest->pairs, guest->nr_pairs, sizeof(p));
	if (!more)
		return false;
	guest->pairs = more;
	guest->pairs[guest->nr_pairs++] = p;
	return true;
}

static const char merge_no_text[] = "a line has 65536 bytes or more: this is no text of ftrace or perf script";

static const char merge_no_clock_of_perf[] = "its times are not perf's own clock: record it without perf record -k";

static int source_open(struct source *s)
{
	s->apart = UINT64_MAX;
	s->file = strcmp(s->path, "-") ? fopen(s->path, "re") : stdin;
	s->text = malloc(TEXT_MAX + sizeof("\n"));
	if (!s->text)
		return merge_failed(s->path, strerror(ENOMEM));
	return s->file ? EXIT_FITS : merge_failed(s->path, strerror(errno));
}

/* The next line, with its end. A guest names its tasks: what a terminal would obey is left out. */
static bool source_line(struct source *s)
{
	size_t n = 0;
	int c = EOF;

	while (n < TEXT_MAX && (c = getc_unlocked(s->file)) != EOF && c != '\n')
		s->text[n++] = c ?: '?';
	if (n == TEXT_MAX)
		s->fault = merge_no_text;
	else if (c == EOF && ferror(s->file))
		s->fault = strerror(errno);
	s->text[n] = '\0';
	quote_plain(s->text);
	strcpy(s->text + n, "\n");
	return !s->fault && (n || c != EOF);
}

static int source_learn(struct source *s)
{
	bool good = true;

	while (good && source_line(s)) {
		if (!line_parse(&s->line, s->text))
			continue;
		if (s == &host && s->line.seconds)
			return merge_failed(s->path, merge_no_tsc);
		if (s->line.us)
			return merge_failed(s->path, "its times are whole microseconds, too coarse for an order: use perf script --ns, or record with the trace clock x86-tsc");
		good = s == &host ? clock_take(&s->line) : pair_take(s, &s->line);
	}
	if (s->fault)
		return merge_failed(s->path, s->fault);
	if (!good)
		return merge_failed(s->path, "too many clock events");
	if (s->apart != UINT64_MAX && s->apart > CLOCK_APART_MAX)
		return merge_failed(s->path, s->line.seconds ? merge_no_clock_of_perf : merge_no_tsc);
	if (fseek(s->file, 0, SEEK_SET))
		return merge_failed(s->path, "can't be read twice; without -t it must be a file");
	return EXIT_FITS;
}

static int pair_compare(const void *a, const void *b)
{
	const struct pair *one = a, *two = b;

	return compare(one->cpu, two->cpu) ?: compare(one->local, two->local);
}

/* Gives each CPU of the guest its clock events. */
static void cpus_begin(struct source *guest)
{
	const struct pair *p;
	unsigned int cpu;

	for (p = guest->pairs; p < guest->pairs + guest->nr_pairs; p++) {
		if (p->cpu >= CPUS_MAX)
			continue;
		if (!guest->cpus[p->cpu].pair)
			guest->cpus[p->cpu].pair = p;
		guest->cpus[p->cpu].pairs_end = p + 1;
	}
	for (cpu = 0; cpu < CPUS_MAX; cpu++) {
		p = guest->cpus[cpu].pair;
		guest->cpus[cpu].run = clocks_run(&clocks, guest->name, cpu, p ? p->apic :
						  guest->tells_apics ? APIC_LOST : APIC_UNKNOWN);
	}
}

static int clocks_find(const struct merge *merge, struct source *guest)
{
	if (!guest->name)
		return merge_failed(guest->path, merge_no_name);
	if (guest->moved)
		return merge_failed(guest->path, merge_moved);
	if (!clocks_first(&clocks, guest->name))
		return merge_no_clock(merge->host, guest->path, guest->name);
	if (guest->nr_pairs)
		qsort(guest->pairs, guest->nr_pairs, sizeof(*guest->pairs), pair_compare);
	cpus_begin(guest);
	return EXIT_FITS;
}

/* ------------------------------------------------------------ the second time */

/* perf's clock to the TSC, by the two clock events around it, or the two that are next. */
static bool tsc_of(struct source *guest, const struct line *line, uint64_t *tsc)
{
	struct cpu *cpu = &guest->cpus[line->cpu];
	const struct pair *a, *b;

	*tsc = line->time;
	if (!line->seconds)
		return true;
	if (!cpu->pair || cpu->pair + 1 >= cpu->pairs_end)
		return false;
	while (cpu->pair + 2 < cpu->pairs_end && cpu->pair[1].local < line->time)
		cpu->pair++;
	a = cpu->pair;
	b = a + 1;
	if (b->local == a->local)
		return false;
	*tsc = a->tsc + (__int128)(int64_t)(line->time - a->local) * (int64_t)(b->tsc - a->tsc) /
			(int64_t)(b->local - a->local);
	return true;
}

static bool guest_time(struct source *guest)
{
	const struct clock *c;
	uint64_t tsc;

	if (guest->line.cpu >= CPUS_MAX || !tsc_of(guest, &guest->line, &tsc))
		return false;
	c = given.ratio ? NULL : run_at(&guest->cpus[guest->line.cpu].run, tsc);
	if (!given.ratio && !c)
		return false;
	guest->time = map_to_host(c ? &c->map : &given, tsc);
	return true;
}

static void host_see(const struct line *line)
{
	if (line_event(line, "kvm_entry"))
		proof_entry(line->pid);
	else if (line_event(line, "kvm_exit"))
		proof_exit(line->pid, line->time);
}

static void guest_judge(const struct source *guest)
{
	struct cpu *cpu = &guest->cpus[guest->line.cpu];

	if (cpu->run.now)
		proof_judge(&cpu->share, cpu->run.now->tid, guest->time);
}

/* A line that is no event: ftrace says so if some are missing. */
static void source_lost(struct source *s)
{
	if (!strstr(s->text, "LOST"))
		return;
	s->losses++;
	if (s == &host)
		proof_forget();
}

/* The next event of a file. */
static void source_next(struct source *s)
{
	s->there = false;
	while (source_line(s)) {
		if (!line_parse(&s->line, s->text)) {
			source_lost(s);
			continue;
		}
		s->has_events = true;
		if (s == &host && s->line.seconds) {
			in_seconds = true;
			continue;
		}
		if (s == &host) {
			s->time = s->line.time;
		} else if (!guest_time(s)) {
			s->left_out++;
			continue;
		}
		s->there = true;
		return;
	}
}

/* At the same time: an exit comes after, all else before the guest's event. */
static bool host_is_first(const struct source *guest)
{
	if (!guest || host.time != guest->time)
		return !guest || host.time < guest->time;
	return !line_event(&host.line, "kvm_exit");
}

static struct source *first_guest(void)
{
	struct source *first = NULL, *g;

	for (g = guests; g < guests + nr_guests; g++)
		if (g->there && (!first || g->time < first->time))
			first = g;
	return first;
}

static void guest_print(const struct source *g)
{
	char which[16] = "g";

	if (nr_guests > 1)
		snprintf(which, sizeof(which), "g%d", (int)(g - guests) + 1);
	printf("%s %.*s%" PRIu64 "%s", which, g->line.stamp, g->text, g->time,
	       g->text + g->line.rest);
}

static void merge_all(void)
{
	struct source *g;

	source_next(&host);
	for (g = guests; g < guests + nr_guests; g++)
		source_next(g);
	while ((g = first_guest()) || host.there) {
		if (host.there && host_is_first(g)) {
			host_see(&host.line);
			printf("h %s", host.text);
			source_next(&host);
		} else {
			guest_judge(g);
			guest_print(g);
			source_next(g);
		}
	}
}

static int source_tell(const struct source *s)
{
	if (s->fault)
		return merge_failed(s->path, s->fault);
	if (!s->has_events) {
		merge_failed(s->path, "has no line of ftrace or perf script");
		return EXIT_DOUBT;
	}
	if (s->losses) {
		quote_begin(s->path);
		fprintf(stderr, "gaps in which events were lost: %" PRIu64 ": record with greater buffers\n", s->losses);
	}
	return EXIT_FITS;
}

static int worse(int status, int other)
{
	return status == EXIT_PROBLEM || !other ? status : other;
}

/* Tells how many events lie where their vCPU ran; all should. */
static int proof_say(void)
{
	int status = in_seconds ? merge_failed(host.path, merge_no_tsc) : source_tell(&host);
	unsigned int cpu;
	struct source *g;

	for (g = guests; g < guests + nr_guests; g++) {
		status = worse(status, source_tell(g));
		if (g->left_out) {
			quote_begin(g->path);
			fprintf(stderr, "%" PRIu64 " events are left out: no clock event tells their CPU's clock\n",
				g->left_out);
			status = worse(status, EXIT_DOUBT);
		}
		for (cpu = 0; cpu < CPUS_MAX; cpu++)
			if (!proof_tell(g->path, cpu, &g->cpus[cpu].share))
				status = worse(status, EXIT_DOUBT);
	}
	return status;
}

static int guest_open(struct source *g, const char *path)
{
	g->path = path;
	g->cpus = calloc(CPUS_MAX, sizeof(*g->cpus));
	return g->cpus ? source_open(g) : merge_failed(g->path, strerror(ENOMEM));
}

static int all_open(const struct merge *merge)
{
	int status;

	host.path = merge->host;
	status = source_open(&host);
	while (!status && nr_guests < merge->nr_guests) {
		status = guest_open(&guests[nr_guests], merge->guests[nr_guests]);
		nr_guests++;
	}
	/* Who recorded them need not be trusted. */
	if (!status && !rights_give_up())
		status = merge_broke(merge_no_rights);
	return status;
}

/* What both sides' clock events say. */
static int all_learn(const struct merge *merge)
{
	int status = source_learn(&host);
	struct source *g;

	clocks_sort(&clocks);
	for (g = guests; !status && g < guests + nr_guests; g++)
		status = source_learn(g) ?: clocks_find(merge, g);
	return status;
}

int merge_text(const struct merge *merge)
{
	int status = all_open(merge);

	given = merge->given;
	if (!status && given.ratio)
		fprintf(stderr, "%s", merge_no_proof);
	else if (!status)
		status = all_learn(merge);
	if (status)
		return status;
	merge_all();
	return proof_say();
}
