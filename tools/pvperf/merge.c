// SPDX-License-Identifier: GPL-2.0
/*
 * pvperf merge: what host and guests have recorded, as text, in the order of the host's TSC.
 * The files are read twice: first the clock events, then everything, line by line.
 */
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "command.h"
#include "line.h"
#include "map.h"

#define GUESTS_MAX	64
#define KNOWN_MAX	1000000	/* clock events of a file: two weeks of one vCPU */

/* The host's pvperf_clock. */
struct clock {
	uint64_t name, at;	/* .at: the host's TSC */
	uint64_t vcpu, tid;
	struct map map;
};

/* The guest's pvperf_guest_clock. */
struct pair {
	unsigned int cpu;
	uint64_t tsc, local;
};

/* A guest's CPU: its clock events, and how many of its events lie where the host ran it. */
struct cpu {
	const struct clock *clock, *clocks_end;	/* the one that holds now; NULL: none */
	const struct pair *pair, *pairs_end;
	uint64_t judged, inside;
};

#define CPUS_MAX	4096

struct source {
	const char *path;
	FILE *file;
	char *text;
	size_t size;
	struct line line;
	bool there;		/* .line is the next line, at .time */
	uint64_t time;		/* of the host */
	uint64_t name;		/* of a guest, from its clock events */
	bool moved;		/* it has another name later */
	uint64_t left_out;	/* events whose time on the host is not known */
	struct pair *pairs;
	size_t nr_pairs;
	struct cpu *cpus;
};

/* Whether a thread of the host runs its vCPU: from kvm_entry and kvm_exit. */
struct thread {
	unsigned int tid;
	bool known, in_guest;
};

static struct source host, guests[GUESTS_MAX];
static int nr_guests;
static struct clock *clocks;
static size_t nr_clocks;
static struct thread *threads;
static size_t nr_threads;
static struct map given;	/* by -t; .ratio 0: not given */

static int failed(const char *path, const char *why)
{
	fprintf(stderr, "pvperf: %s: %s\n", path, why);
	return EXIT_PROBLEM;
}

/* Room for one more in an array whose size is a power of 2, or NULL. */
static void *grow(void *array, size_t n, size_t each)
{
	if (n >= KNOWN_MAX)
		return NULL;
	return n & (n - 1) ? array : realloc(array, (n ? n * 2 : 1) * each);
}

/* ------------------------------------------------------------- the first time */

static bool clock_take(const struct line *line)
{
	const char *fields = line_event(line, "pvperf_clock");
	struct clock c = { .at = line->time };
	uint64_t frac;
	void *more;

	if (!fields)
		return true;
	if (!line_field(fields, "clock", 16, &c.name) || !line_field(fields, "vcpu", 10, &c.vcpu) ||
	    !line_field(fields, "tid", 10, &c.tid) || !line_field(fields, "offset", 10, &c.map.offset) ||
	    !line_field(fields, "ratio", 10, &c.map.ratio) || !line_field(fields, "frac", 10, &frac) ||
	    !c.map.ratio || frac > 63)
		return true;
	c.map.frac = frac;
	more = grow(clocks, nr_clocks, sizeof(*clocks));
	if (!more)
		return false;
	clocks = more;
	clocks[nr_clocks++] = c;
	return true;
}

static bool pair_take(struct source *guest, const struct line *line)
{
	const char *fields = line_event(line, "pvperf_guest_clock");
	struct pair p = { .cpu = line->cpu };
	uint64_t name;
	void *more;

	if (!fields || !line_field(fields, "clock", 16, &name) ||
	    !line_field(fields, "tsc", 10, &p.tsc) || !line_field(fields, "local", 10, &p.local))
		return true;
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

static int source_open(struct source *s)
{
	s->file = strcmp(s->path, "-") ? fopen(s->path, "re") : stdin;
	return s->file ? EXIT_FITS : failed(s->path, strerror(errno));
}

static int source_learn(struct source *s)
{
	bool good = true;

	while (good && getline(&s->text, &s->size, s->file) > 0) {
		if (!line_parse(&s->line, s->text))
			continue;
		good = s == &host ? clock_take(&s->line) : pair_take(s, &s->line);
	}
	if (!good)
		return failed(s->path, "too many clock events");
	if (fseek(s->file, 0, SEEK_SET))
		return failed(s->path, "can't be read twice; without -t it must be a file");
	return EXIT_FITS;
}

static int compare(uint64_t a, uint64_t b)
{
	return a < b ? -1 : a > b;
}

static int clock_compare(const void *a, const void *b)
{
	const struct clock *one = a, *two = b;

	return compare(one->name, two->name) ?: compare(one->vcpu, two->vcpu) ?:
	       compare(one->at, two->at);
}

static int pair_compare(const void *a, const void *b)
{
	const struct pair *one = a, *two = b;

	return compare(one->cpu, two->cpu) ?: compare(one->local, two->local);
}

/* Gives each CPU of the guest its clock events; both lists are sorted. */
static bool cpus_begin(struct source *guest)
{
	const struct clock *c;
	const struct pair *p;
	bool found = false;

	for (c = clocks; c < clocks + nr_clocks; c++) {
		if (c->name != guest->name || c->vcpu >= CPUS_MAX)
			continue;
		found = true;
		if (!guest->cpus[c->vcpu].clock)
			guest->cpus[c->vcpu].clock = c;
		guest->cpus[c->vcpu].clocks_end = c + 1;
	}
	for (p = guest->pairs; p < guest->pairs + guest->nr_pairs; p++) {
		if (p->cpu >= CPUS_MAX)
			continue;
		if (!guest->cpus[p->cpu].pair)
			guest->cpus[p->cpu].pair = p;
		guest->cpus[p->cpu].pairs_end = p + 1;
	}
	return found;
}

static int clocks_find(struct source *guest)
{
	if (!guest->name)
		return failed(guest->path, "no pvperf_guest_clock in it: record pvperf:pvperf_guest_clock, too, or give -t OFFSET");
	if (guest->moved)
		return failed(guest->path, "the VM has two names in it: it moved to another host, or the host's module was loaded again; record both sides anew");
	qsort(guest->pairs, guest->nr_pairs, sizeof(*guest->pairs), pair_compare);
	if (cpus_begin(guest))
		return EXIT_FITS;
	fprintf(stderr, "pvperf: %s: no pvperf_clock with clock=%016" PRIx64 ", which is %s: record pvperf:pvperf_clock on that guest's host\n",
		host.path, guest->name, guest->path);
	return EXIT_PROBLEM;
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

/* The last clock that had begun when the vCPU's TSC was @tsc. */
static const struct clock *clock_at(struct cpu *cpu, uint64_t tsc)
{
	while (cpu->clock && cpu->clock + 1 < cpu->clocks_end &&
	       map_to_host(&cpu->clock[1].map, tsc) >= cpu->clock[1].at)
		cpu->clock++;
	return cpu->clock;
}

static bool guest_time(struct source *guest)
{
	const struct clock *c;
	uint64_t tsc;

	if (guest->line.cpu >= CPUS_MAX || !tsc_of(guest, &guest->line, &tsc))
		return false;
	c = given.ratio ? NULL : clock_at(&guest->cpus[guest->line.cpu], tsc);
	if (!given.ratio && !c)
		return false;
	guest->time = map_to_host(c ? &c->map : &given, tsc);
	return true;
}

static struct thread *thread_of(unsigned int tid)
{
	void *more;
	size_t i;

	for (i = 0; i < nr_threads; i++)
		if (threads[i].tid == tid)
			return &threads[i];
	more = grow(threads, nr_threads, sizeof(*threads));
	if (!more)
		return NULL;
	threads = more;
	threads[nr_threads] = (struct thread){ .tid = tid };
	return &threads[nr_threads++];
}

static void threads_forget(void)
{
	size_t i;

	for (i = 0; i < nr_threads; i++)
		threads[i].known = false;
}

static void host_see(const struct line *line)
{
	bool entry = line_event(line, "kvm_entry");
	struct thread *t;

	if (!entry && !line_event(line, "kvm_exit"))
		return;
	t = thread_of(line->pid);
	if (t)
		*t = (struct thread){ .tid = t->tid, .known = true, .in_guest = entry };
}

static void guest_judge(struct source *guest)
{
	struct cpu *cpu = &guest->cpus[guest->line.cpu];
	struct thread *t;

	if (!cpu->clock)
		return;
	t = thread_of(cpu->clock->tid);
	if (!t || !t->known)
		return;
	cpu->judged++;
	cpu->inside += t->in_guest;
}

/* The next event of a file. */
static void source_next(struct source *s)
{
	s->there = false;
	while (getline(&s->text, &s->size, s->file) > 0) {
		if (!line_parse(&s->line, s->text)) {
			if (s == &host && strstr(s->text, "LOST"))
				threads_forget();
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

static void merge(void)
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

/* Tells how many events lie where their vCPU ran; all should. */
static int proof_tell(void)
{
	int status = EXIT_FITS;
	unsigned int cpu;
	struct source *g;

	for (g = guests; g < guests + nr_guests; g++) {
		if (g->left_out) {
			fprintf(stderr, "pvperf: %s: %" PRIu64 " events are left out: no clock event tells their CPU's clock\n",
				g->path, g->left_out);
			status = EXIT_PROBLEM;
		}
		for (cpu = 0; cpu < CPUS_MAX; cpu++) {
			struct cpu *p = &g->cpus[cpu];

			if (!p->judged)
				continue;
			fprintf(stderr, "pvperf: %s: CPU %u: %" PRIu64 " of %" PRIu64 " events lie between a kvm_entry and a kvm_exit\n",
				g->path, cpu, p->inside, p->judged);
			if (p->inside != p->judged)
				status = EXIT_PROBLEM;
		}
	}
	return status;
}

/* ------------------------------------------------------------- the command line */

const char merge_help[] =
"pvperf merge -h HOST -g GUEST [-g GUEST]... [-t OFFSET[,RATIO,FRAC]]\n"
"        print what ftrace has recorded on host and guests, as text, in one order of time;\n"
"        by the clock events in it, or with -t by that offset of the guest's TSC\n";

static int usage(const char *what)
{
	fprintf(stderr, "pvperf: merge: %s; see pvperf help merge\n", what);
	return EXIT_USAGE;
}

static bool map_parse(const char *text)
{
	char *end;

	errno = 0;
	given = (struct map){ .offset = strtoull(text, &end, 0), .ratio = 1 };
	if (*end == ',') {
		given.ratio = strtoull(end + 1, &end, 0);
		given.frac = *end == ',' ? strtoul(end + 1, &end, 0) : 64;
	}
	return !*end && *text && !errno && given.ratio && given.frac < 64;
}

static int options_take(int argc, char **argv)
{
	int c;

	while ((c = getopt(argc, argv, "h:g:t:")) != -1) {
		if (c == 'h') {
			host.path = optarg;
		} else if (c == 't') {
			if (!map_parse(optarg))
				return usage("-t wants OFFSET or OFFSET,RATIO,FRAC, as pvperf_clock tells them");
		} else if (c == 'g') {
			if (nr_guests == GUESTS_MAX)
				return usage("too many guests");
			guests[nr_guests++].path = optarg;
		} else {
			return usage("unknown option, or one without its file");
		}
	}
	if (optind < argc)
		return usage("unexpected argument");
	if (!host.path || !nr_guests)
		return usage("it wants -h HOST and -g GUEST");
	if (given.ratio && nr_guests > 1)
		return usage("-t is of one guest");
	return EXIT_FITS;
}

static int guest_begin(struct source *g)
{
	int status = source_open(g);

	g->cpus = calloc(CPUS_MAX, sizeof(*g->cpus));
	if (!g->cpus)
		return failed(g->path, strerror(ENOMEM));
	if (!status && !given.ratio)
		status = source_learn(g) ?: clocks_find(g);
	return status;
}

int command_merge(int argc, char **argv)
{
	int status = options_take(argc, argv), i;

	if (!status)
		status = source_open(&host);
	if (!status && !given.ratio)
		status = source_learn(&host);
	if (nr_clocks)
		qsort(clocks, nr_clocks, sizeof(*clocks), clock_compare);
	for (i = 0; !status && i < nr_guests; i++)
		status = guest_begin(&guests[i]);
	if (status)
		return status;
	merge();
	return proof_tell();
}
