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
#define HOPS		8		/* between vCPUs, from a wake-up until the task runs */
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

/* From .from on this vCPU has to do something so that the task runs. */
struct hop {
	uint64_t from;
	unsigned int cpu;	/* of the guest */
	const struct vcpu *vcpu;
};

struct pending {
	struct dat *guest;
	uint64_t pid;
	struct hop hops[HOPS];
	size_t nr;
	bool waking;		/* the one hop is the waker's, who has not found a CPU for the task */
	bool woken;		/* the task is on a queue */
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
static uint64_t seen, told, forgotten;
static const char *const wanted[] = { "kvm_entry", "kvm_exit", "sched_switch", "sched_wakeup" };
#define WANTED	(sizeof(wanted) / sizeof(*wanted))
static bool there[WANTED];		/* of these in the host's recording */
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

/* Nothing has told when it came to the CPU on which it runs now, so not for whom it waited. */
static void waited_elsewhere(struct vcpu *v)
{
	size_t i, kept = v->nr < SPANS ? v->nr : SPANS;
	struct span *s;

	for (i = 1; i <= kept; i++) {
		s = &v->spans[(v->nr - i) % SPANS];
		if (s->kind != WAITING)
			break;
		s->kind = NOT_KNOWN;
		*s->what = '\0';
	}
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
	if (v && v->cpu != cpu)
		waited_elsewhere(v);
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
	size_t i;

	gaps_see(record->ts);
	if (!e || !dat_number(e, record, "common_pid", &pid))
		return;
	for (i = 0; i < WANTED; i++)
		there[i] |= !strcmp(e->name, wanted[i]);
	v = vcpu_of(pid);
	if (v && e->id == dat_of(buffer)->entry) {
		span_begin(v, record->ts, IN_GUEST, "");
	} else if (v && e->id == dat_of(buffer)->exit) {
		/* In a gap there may be a later one. */
		snprintf(v->reason, sizeof(v->reason), "%s", record->ts < gap_end ? "" : reason_of(e, record));
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

/* Adds what the vCPU did from @from to @to, back from its last span. @v: NULL if it is not known. */
static void parts_add(const struct vcpu *v, uint64_t from, uint64_t to, struct part *parts, size_t *nr)
{
	static const struct span unknown = { .kind = NOT_KNOWN };
	size_t i, kept = !v ? 0 : v->nr < SPANS ? v->nr : SPANS;
	const struct span *s;

	for (i = 0; i < kept && to > from; i++) {
		s = &v->spans[(v->nr - 1 - i) % SPANS];
		if (s->from >= to)
			continue;
		part_add(parts, nr, s, to - (s->from > from ? s->from : from));
		to = s->from > from ? s->from : from;
	}
	if (to > from)
		part_add(parts, nr, &unknown, to - from);
}

/* What the vCPUs did on whose queues the task waited until @now. */
static size_t parts_make(const struct pending *p, uint64_t now, struct part *parts)
{
	size_t nr = 0, i;

	for (i = 0; i < p->nr; i++)
		parts_add(p->hops[i].vcpu, p->hops[i].from, i + 1 < p->nr ? p->hops[i + 1].from : now, parts, &nr);
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
	json_object_object_add(o, "woken", json_object_new_uint64(p->hops->from));
	json_object_object_add(o, "us", json_object_new_double(us(now - p->hops->from)));
	for (i = 0; i < nr; i++)
		json_object_array_add(all, part_json(&parts[i]));
	json_object_object_add(o, "parts", all);
	json_object_array_add(list, o);
}

static void tell(const struct pending *p, char *comm, int cpu, uint64_t now)
{
	static struct part parts[HOPS * (SPANS + 1)];
	size_t nr = parts_make(p, now, parts), i;

	told++;
	quote_plain(comm);
	if (list) {
		tell_json(p, comm, cpu, now, parts, nr);
		return;
	}
	quote(stdout, p->guest->path);
	printf(": %s (%" PRIu64 ") woke at %" PRIu64 " and ran %.1f us later, on CPU %d\n", comm, p->pid, p->hops->from, us(now - p->hops->from), cpu);
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

static const struct vcpu *vcpu_at(const struct dat *guest, uint64_t cpu, uint64_t at)
{
	struct run *run = cpu < guest->cpus ? &guest->runs[cpu] : NULL;

	return run && !run->others ? vcpu_of(run_thread(run, at)) : NULL;
}

/* The last hop is to a vCPU that is not known if there are more than HOPS. */
static void hop_add(struct pending *p, uint64_t at, uint64_t cpu)
{
	if (p->nr && p->hops[p->nr - 1].cpu == cpu)
		return;
	/* A file may have any times, and the host may tell a step of the TSC late. */
	if (p->nr && at < p->hops[p->nr - 1].from)
		at = p->hops[p->nr - 1].from;
	if (p->nr < HOPS)
		p->hops[p->nr++].from = at;
	p->hops[p->nr - 1].cpu = cpu;
	p->hops[p->nr - 1].vcpu = p->nr < HOPS ? vcpu_at(p->guest, cpu, at) : NULL;
}

static struct pending *pending_add(struct dat *guest, uint64_t pid)
{
	if (nr_pending == PENDING_MAX)
		return NULL;
	pending[nr_pending] = (struct pending){ .guest = guest, .pid = pid };
	return &pending[nr_pending++];
}

static bool task_of(struct tep_event *e, struct tep_record *record, uint64_t *pid)
{
	char comm[TEXT];

	dat_text(e, record, "comm", comm, sizeof(comm));
	return dat_number(e, record, "pid", pid) && is_asked(*pid, comm);
}

static void waker_wakes(struct dat *guest, struct tep_event *e, struct tep_record *record)
{
	struct pending *p;
	uint64_t pid;

	if (!task_of(e, record, &pid) || pending_of(guest, pid))
		return;
	p = pending_add(guest, pid);
	if (!p)
		return;
	p->waking = true;
	hop_add(p, record->ts, record->cpu);
}

/*
 * The waker tells it, or the task's new CPU, as late as it takes the waker's interrupt. A recording
 * may be without sched_waking.
 */
static void task_wakes(struct dat *guest, struct tep_event *e, struct tep_record *record)
{
	struct pending *p;
	uint64_t pid, cpu;

	if (!task_of(e, record, &pid) || !dat_number(e, record, "target_cpu", &cpu))
		return;
	p = pending_of(guest, pid) ?: pending_add(guest, pid);
	forgotten += !p;
	if (!p)
		return;
	if (p->waking && p->hops->cpu != (unsigned int)record->cpu)
		p->nr = 0;	/* the new CPU tells it: the waker sent an interrupt, and the time is that CPU's */
	hop_add(p, p->waking && !p->nr ? p->hops->from : record->ts, cpu);
	p->waking = false;
	p->woken = true;
}

static void task_moves(const struct dat *guest, struct tep_event *e, struct tep_record *record)
{
	uint64_t pid, cpu;
	struct pending *p;

	p = dat_number(e, record, "pid", &pid) ? pending_of(guest, pid) : NULL;
	if (!p || !dat_number(e, record, "dest_cpu", &cpu))
		return;
	p->waking = false;
	hop_add(p, record->ts, cpu);
}

/*
 * It was still on its CPU when it woke, and did not wait. But its waker may have begun while it was
 * leaving, and waits for that.
 */
static void task_leaves(const struct dat *guest, struct tep_event *e, struct tep_record *record)
{
	struct pending *p;
	uint64_t pid, state;

	p = dat_number(e, record, "prev_pid", &pid) ? pending_of(guest, pid) : NULL;
	if (p && dat_number(e, record, "prev_state", &state) && (p->woken || !(state & 0xff)))
		*p = pending[--nr_pending];
}

static void task_runs(const struct dat *guest, struct tep_event *e, struct tep_record *record)
{
	struct pending *p;
	char comm[TEXT];
	uint64_t pid;

	if (!dat_number(e, record, "next_pid", &pid))
		return;
	p = pending_of(guest, pid);
	if (!p)
		return;
	/* The host told a step of the TSC late. */
	if (record->ts < p->hops[p->nr - 1].from) {
		forgotten++;
		*p = pending[--nr_pending];
		return;
	}
	seen++;
	dat_text(e, record, "next_comm", comm, sizeof(comm));
	/* Nothing tells when it came here. */
	if (p->hops[p->nr - 1].cpu != (unsigned int)record->cpu)
		p->hops[p->nr - 1].vcpu = NULL;
	if ((record->ts - p->hops->from) / per_second > why.over)
		tell(p, comm, record->cpu, record->ts);
	*p = pending[--nr_pending];
}

void why_guest(struct tracecmd_input *buffer, struct tep_record *record)
{
	struct tep_event *e = dat_event(buffer, record);

	gaps_see(record->ts);
	if (!e)
		return;
	if (!strcmp(e->name, "sched_waking")) {
		waker_wakes(dat_of(buffer), e, record);
	} else if (!strcmp(e->name, "sched_wakeup") || !strcmp(e->name, "sched_wakeup_new")) {
		task_wakes(dat_of(buffer), e, record);
	} else if (!strcmp(e->name, "sched_migrate_task")) {
		task_moves(dat_of(buffer), e, record);
	} else if (!strcmp(e->name, "sched_switch")) {
		task_leaves(dat_of(buffer), e, record);
		task_runs(dat_of(buffer), e, record);
	}
}

/* Its tasks may have run in the gap, so no wake-up from before it is explained. */
void why_guest_forget(const struct dat *guest)
{
	size_t i, n = 0;

	for (i = 0; i < nr_pending; i++)
		if (pending[i].guest != guest)
			pending[n++] = pending[i];
	forgotten += nr_pending - n;
	nr_pending = n;
}

/* False: the host's events don't say what its vCPUs did. */
static bool is_explained(void)
{
	bool all = true;
	size_t i;

	for (i = 0; i < WANTED; i++) {
		if (there[i])
			continue;
		fprintf(stderr, "pvperf: the host's recording has no %s: record that, or what its vCPUs did is told wrong\n",
			wanted[i]);
		all = false;
	}
	return all;
}

/* Wake-ups of which no time is known. */
static void rest_tell(uint64_t n, const char *why_not)
{
	if (n)
		fprintf(stderr, "pvperf: of %" PRIu64 " more wake-ups of %s it is not known how long they took: %s\n",
			n, why.task, why_not);
}

bool why_end(void)
{
	rest_tell(nr_pending, "the recording ends before the task runs, or it ran still");
	rest_tell(forgotten, "events were lost before the task ran, a CPU's clock is not known, the guest's TSC was set, or too many tasks woke");
	if (!seen && !nr_pending && !forgotten)
		fprintf(stderr, "pvperf: no wake-up of %s was recorded: a task has the name that ps shows as comm, of 15 letters at most\n",
			why.task);
	if (list)
		printf("%s\n", json_object_to_json_string_ext(list, JSON_C_TO_STRING_PRETTY));
	else
		printf("%" PRIu64 " of %" PRIu64 " wake-ups of %s took more than %g us\n",
		       told, seen, why.task, why.over * 1e6);
	fflush(stdout);
	return is_explained() && seen;
}
