// SPDX-License-Identifier: GPL-2.0
#include <inttypes.h>
#include <json-c/json.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "grow.h"
#include "merge_dat.h"
#include "quote.h"
#include "why.h"

#define SPANS		8192		/* of a vCPU: how far back a wake-up is explained */
#define PENDING_MAX	4096		/* tasks that woke and have not run */
#define REASONS		2048
#define TEXT		32

enum kind {
	NOT_KNOWN,
	IN_GUEST,
	IN_KVM,			/* what: the exit's reason */
	WAITING,		/* what: who runs */
	ASLEEP,
};

/* Until the next one begins. */
struct span {
	uint64_t from;
	enum kind kind;
	char what[TEXT];
};

struct vcpu {
	struct span spans[SPANS];	/* the last ones, in a ring */
	size_t nr;			/* of all there were */
	char reason[TEXT];		/* of the last exit */
	uint64_t cpu;			/* of the host, that it waits for */
};

struct pending {
	const struct dat *guest;
	uint64_t pid, at;
};

/* A part of the answer. */
struct part {
	enum kind kind;
	char what[TEXT];
	uint64_t ticks;
};

static struct why why;
static double per_second;
static struct vcpu **vcpus;
static struct tids of_tid = { .each = sizeof(struct vcpu *) };
static size_t nr_vcpus;
static struct pending pending[PENDING_MAX];
static size_t nr_pending;
static char running[CPUS_MAX][TEXT];	/* on the host's CPUs */
static uint64_t seen, told;
static const struct gap *gaps;		/* of the host, those to come */
static size_t nr_gaps;
static uint64_t gap_end;
static struct json_object *list;

void why_begin(const struct why *options, const struct copies *copies)
{
	why = *options;
	per_second = copies->per_second;
	gaps = copies->gaps;
	nr_gaps = copies->nr_gaps;
	list = why.json ? json_object_new_array() : NULL;
}

bool why_vcpu(uint64_t tid)
{
	struct vcpu **of = tids_at(&of_tid, tid), **more;

	if (tid >= TIDS || (of && *of))
		return true;
	more = grow(vcpus, nr_vcpus, sizeof(*vcpus));
	if (!more || !of)
		return false;
	vcpus = more;
	*of = vcpus[nr_vcpus] = calloc(1, sizeof(**vcpus));
	if (!*of)
		return false;
	nr_vcpus++;
	return true;
}

static struct vcpu *vcpu_of(uint64_t tid)
{
	struct vcpu **of = tids_at(&of_tid, tid);

	return of ? *of : NULL;
}

/* ------------------------------------------------------------------ the host's events */

static const struct span *last_of(const struct vcpu *v)
{
	return v->nr ? &v->spans[(v->nr - 1) % SPANS] : NULL;
}

static void span_add(struct vcpu *v, uint64_t at, enum kind kind, const char *what)
{
	struct span *s = &v->spans[v->nr++ % SPANS];

	s->from = at;
	s->kind = kind;
	snprintf(s->what, sizeof(s->what), "%s", what);
}

/* In a gap one cannot tell what follows an event. */
static void span_begin(struct vcpu *v, uint64_t at, enum kind kind, const char *what)
{
	if (at >= gap_end)
		span_add(v, at, kind, what);
}

/* Begins the gaps that begin before @at. Nothing is known of a vCPU until its next event behind. */
static void gaps_see(uint64_t at)
{
	size_t i;

	for (; nr_gaps && gaps->from < at; gaps++, nr_gaps--) {
		for (i = 0; i < nr_vcpus; i++) {
			span_add(vcpus[i], gaps->from, NOT_KNOWN, "");
			*vcpus[i]->reason = '\0';
		}
		memset(running, 0, sizeof(running));
		if (gaps->to > gap_end)
			gap_end = gaps->to;
	}
}

/* The word after "reason " in what the event prints; printed once for each number. */
static const char *reason_of(struct tep_event *e, struct tep_record *record)
{
	static char names[REASONS][TEXT];
	struct trace_seq text;
	uint64_t number;
	const char *at;

	if (!dat_number(e, record, "exit_reason", &number) || number >= REASONS)
		return "unknown";
	if (*names[number])
		return names[number];
	snprintf(names[number], TEXT, "%" PRIu64, number);
	trace_seq_init(&text);
	tep_print_event(e->tep, &text, record, "%s", TEP_PRINT_INFO);
	trace_seq_terminate(&text);
	at = text.buffer ? strstr(text.buffer, "reason ") : NULL;
	if (at)
		sscanf(at + strlen("reason "), "%31s", names[number]);
	trace_seq_destroy(&text);
	return names[number];
}

static void switch_see(struct tep_event *e, struct tep_record *record, uint64_t cpu)
{
	uint64_t prev, next, state;
	char who[TEXT];
	struct vcpu *v;
	size_t i;

	if (!dat_number(e, record, "prev_pid", &prev) || !dat_number(e, record, "next_pid", &next) ||
	    !dat_number(e, record, "prev_state", &state) || cpu >= CPUS_MAX)
		return;
	dat_text(e, record, "next_comm", who, sizeof(who));
	memcpy(running[cpu], who, sizeof(who));
	for (i = 0; i < nr_vcpus; i++)
		if (last_of(vcpus[i]) && last_of(vcpus[i])->kind == WAITING && vcpus[i]->cpu == cpu)
			span_begin(vcpus[i], record->ts, WAITING, who);
	v = vcpu_of(prev);
	if (v) {
		span_begin(v, record->ts, state & 0xff ? ASLEEP : WAITING, state & 0xff ? "" : who);
		v->cpu = cpu;
	}
	v = vcpu_of(next);
	if (v)
		span_begin(v, record->ts, IN_KVM, v->reason);
}

/* A vCPU that was @before waits for another CPU from now on. */
static void cpu_see(struct tep_event *e, struct tep_record *record, const char *field, enum kind before)
{
	uint64_t pid, cpu;
	struct vcpu *v;

	if (!dat_number(e, record, "pid", &pid) || !dat_number(e, record, field, &cpu))
		return;
	v = vcpu_of(pid);
	if (!v || cpu >= CPUS_MAX || (last_of(v) ? last_of(v)->kind : ASLEEP) != before)
		return;
	v->cpu = cpu;
	span_begin(v, record->ts, WAITING, running[cpu]);
}

void why_host(struct tracecmd_input *buffer, struct tep_record *record)
{
	struct tep_event *e = dat_event(buffer, record);
	struct vcpu *v;
	uint64_t pid;

	gaps_see(record->ts);
	if (!e || !dat_number(e, record, "common_pid", &pid))
		return;
	v = vcpu_of(pid);
	if (v && e->id == dat_of(buffer)->entry) {
		span_begin(v, record->ts, IN_GUEST, "");
	} else if (v && e->id == dat_of(buffer)->exit) {
		snprintf(v->reason, sizeof(v->reason), "%s", reason_of(e, record));
		span_begin(v, record->ts, IN_KVM, v->reason);
	} else if (!strcmp(e->name, "sched_switch")) {
		switch_see(e, record, record->cpu);
	} else if (!strcmp(e->name, "sched_wakeup")) {
		cpu_see(e, record, "target_cpu", ASLEEP);
	} else if (!strcmp(e->name, "sched_migrate_task")) {
		cpu_see(e, record, "dest_cpu", WAITING);
	}
}

/* ------------------------------------------------------------------------- the answer */

static void part_add(struct part *parts, size_t *nr, const struct span *s, uint64_t ticks)
{
	size_t i;

	for (i = 0; i < *nr; i++)
		if (parts[i].kind == s->kind && !strcmp(parts[i].what, s->what))
			break;
	if (i == *nr) {
		parts[(*nr)++] = (struct part){ .kind = s->kind };
		memcpy(parts[i].what, s->what, sizeof(s->what));
	}
	parts[i].ticks += ticks;
}

static int part_compare(const void *a, const void *b)
{
	const struct part *one = a, *two = b;

	return one->ticks > two->ticks ? -1 : one->ticks < two->ticks;
}

/* What the vCPU did from @from to @to, back from its last span. */
static size_t parts_make(const struct vcpu *v, uint64_t from, uint64_t to, struct part *parts)
{
	static const struct span unknown = { .kind = NOT_KNOWN };
	size_t nr = 0, i, kept = v->nr < SPANS ? v->nr : SPANS;
	const struct span *s;

	for (i = 0; i < kept && to > from; i++) {
		s = &v->spans[(v->nr - 1 - i) % SPANS];
		if (s->from >= to)
			continue;
		part_add(parts, &nr, s, to - (s->from > from ? s->from : from));
		to = s->from > from ? s->from : from;
	}
	if (to > from)
		part_add(parts, &nr, &unknown, to - from);
	qsort(parts, nr, sizeof(*parts), part_compare);
	return nr;
}

static const char *const kinds[] = {
	[NOT_KNOWN] = "not known",
	[IN_GUEST] = "in the guest",
	[IN_KVM] = "in the host, after the exit",
	[WAITING] = "waiting for the host's CPU, which ran",
	[ASLEEP] = "asleep on the host",
};

static double us(uint64_t ticks)
{
	return ticks / per_second * 1e6;
}

static struct json_object *part_json(struct part *p)
{
	struct json_object *o = json_object_new_object();

	quote_plain(p->what);	/* names come out of the files */
	json_object_object_add(o, "where", json_object_new_string(kinds[p->kind]));
	json_object_object_add(o, "what", json_object_new_string(p->what));
	json_object_object_add(o, "us", json_object_new_double(us(p->ticks)));
	return o;
}

static void tell_json(const struct pending *p, const char *comm, int cpu, uint64_t now,
		      struct part *parts, size_t nr)
{
	struct json_object *o = json_object_new_object(), *all = json_object_new_array();
	size_t i;

	json_object_object_add(o, "guest", json_object_new_string(p->guest->path));
	json_object_object_add(o, "task", json_object_new_string(comm));
	json_object_object_add(o, "pid", json_object_new_uint64(p->pid));
	json_object_object_add(o, "cpu", json_object_new_int(cpu));
	json_object_object_add(o, "woken", json_object_new_uint64(p->at));
	json_object_object_add(o, "us", json_object_new_double(us(now - p->at)));
	for (i = 0; i < nr; i++)
		json_object_array_add(all, part_json(&parts[i]));
	json_object_object_add(o, "parts", all);
	json_object_array_add(list, o);
}

static void tell(const struct pending *p, char *comm, int cpu, uint64_t now, const struct vcpu *v)
{
	static struct part parts[SPANS + 1];
	size_t nr = parts_make(v, p->at, now, parts), i;

	told++;
	quote_plain(comm);
	if (list) {
		tell_json(p, comm, cpu, now, parts, nr);
		return;
	}
	quote(stdout, p->guest->path);
	printf(": %s (%" PRIu64 ") woke at %" PRIu64 " and ran %.1f us later, on CPU %d\n", comm, p->pid, p->at, us(now - p->at), cpu);
	for (i = 0; i < nr; i++) {
		quote_plain(parts[i].what);
		printf("%12.1f us  %s%s%s\n", us(parts[i].ticks), kinds[parts[i].kind],
		       *parts[i].what ? ": " : "", parts[i].what);
	}
}

/* ----------------------------------------------------------------- the guests' events */

static bool is_asked(uint64_t pid, const char *comm)
{
	char *end;
	uint64_t number = strtoull(why.task, &end, 10);

	return *end ? !strcmp(why.task, comm) : number == pid;
}

static struct pending *pending_of(const struct dat *guest, uint64_t pid)
{
	struct pending *p;

	for (p = pending; p < pending + nr_pending; p++)
		if (p->guest == guest && p->pid == pid)
			return p;
	return NULL;
}

static void task_wakes(const struct dat *guest, struct tep_event *e, struct tep_record *record)
{
	uint64_t pid;
	char comm[TEXT];

	dat_text(e, record, "comm", comm, sizeof(comm));
	if (!dat_number(e, record, "pid", &pid) || !is_asked(pid, comm) ||
	    pending_of(guest, pid) || nr_pending == PENDING_MAX)
		return;
	pending[nr_pending++] = (struct pending){ guest, pid, record->ts };
}

/* It was still on its CPU when it woke, and did not wait. */
static void task_leaves(const struct dat *guest, struct tep_event *e, struct tep_record *record)
{
	struct pending *p;
	uint64_t pid;

	p = dat_number(e, record, "prev_pid", &pid) ? pending_of(guest, pid) : NULL;
	if (p)
		*p = pending[--nr_pending];
}

static void task_runs(const struct dat *guest, struct tep_event *e, struct tep_record *record,
		      const struct vcpu *v)
{
	struct pending *p;
	char comm[TEXT];
	uint64_t pid;

	if (!dat_number(e, record, "next_pid", &pid))
		return;
	p = pending_of(guest, pid);
	if (!p)
		return;
	seen++;
	dat_text(e, record, "next_comm", comm, sizeof(comm));
	if (v && (record->ts - p->at) / per_second > why.over)
		tell(p, comm, record->cpu, record->ts, v);
	*p = pending[--nr_pending];
}

void why_guest(struct tracecmd_input *buffer, struct tep_record *record, uint64_t tid)
{
	struct tep_event *e = dat_event(buffer, record);

	gaps_see(record->ts);
	if (!e)
		return;
	if (!strcmp(e->name, "sched_wakeup") || !strcmp(e->name, "sched_wakeup_new"))
		task_wakes(dat_of(buffer), e, record);
	if (!strcmp(e->name, "sched_switch")) {
		task_leaves(dat_of(buffer), e, record);
		task_runs(dat_of(buffer), e, record, vcpu_of(tid));
	}
}

/* Its tasks may have run in the gap, so no wake-up from before it is explained. */
void why_guest_forget(const struct dat *guest)
{
	size_t i, n = 0;

	for (i = 0; i < nr_pending; i++)
		if (pending[i].guest != guest)
			pending[n++] = pending[i];
	nr_pending = n;
}

bool why_end(void)
{
	if (!seen)
		fprintf(stderr, "pvperf: no wake-up of %s was recorded: a task has the name that ps shows as comm, of 15 letters at most\n",
			why.task);
	if (list)
		printf("%s\n", json_object_to_json_string_ext(list, JSON_C_TO_STRING_PRETTY));
	else
		printf("%" PRIu64 " of %" PRIu64 " wake-ups of %s took more than %g us\n",
		       told, seen, why.task, why.over * 1e6);
	fflush(stdout);
	return seen;
}
