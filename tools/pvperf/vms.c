// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "debugfs.h"
#include "event_name.h"
#include "failure.h"
#include "list.h"
#include "root.h"
#include "rule.h"
#include "vms.h"

static bool take_vm(struct vm **vms, int n, const struct record *r)
{
	struct vm *more = realloc(*vms, (n + 1) * sizeof(*more)), *vm;

	if (!more)
		return false;
	*vms = more;
	vm = memset(&more[n], 0, sizeof(*vm));
	snprintf(vm->pid, sizeof(vm->pid), "%s", record_word(r, "pid"));
	vm->alone = record_number(r, "alone");
	vm->ended = record_number(r, "ended");
	if (!vm->ended)
		process_read(vm->pid, &vm->process);
	return true;
}

/* A word that this version does not know is left out. */
static void take_policy(struct vm *vm, const struct record *r)
{
	enum pvperf_word word;
	char why[PVPERF_WHY];
	int i;

	vm->rule = record_number(r, "rule");
	for (i = 0; i < r->n; i++) {
		word = pvperf_word_find(r->field[i].key, strlen(r->field[i].key));
		if (word < PVPERF_WORDS)
			pvperf_word_parse(word, r->field[i].value, &vm->policy.word[word], why);
	}
}

static bool is_about_events(enum pvperf_word word)
{
	return word != PVPERF_WORD_ACCESS && word != PVPERF_WORD_MAX_CALLS &&
	       word != PVPERF_WORD_MAX_OPENS && word != PVPERF_WORD_MAX_PAGES;
}

static void take_refused(struct vm *vm, const struct record *r)
{
	const char *name = record_word(r, "word");
	enum pvperf_word word = pvperf_word_find(name, strlen(name));
	struct refused *refused;

	if (word == PVPERF_WORDS || vm->refusals == PVPERF_WORDS)
		return;
	refused = &vm->refused[vm->refusals++];
	refused->word = word;
	refused->times = record_number(r, "times");
	refused->ago = *record_word(r, "ago") ? (int64_t)record_number(r, "ago") : -1;
	if (is_about_events(word))
		event_name(record_word(r, "type"), record_number(r, "config"), 0, 0,
			   refused->event, sizeof(refused->event));
}

static int take(struct vm **vms, int n, const struct record *r)
{
	if (!strcmp(r->kind, "vm"))
		return take_vm(vms, n, r) ? n + 1 : -1;
	if (n && !strcmp(r->kind, "policy"))
		take_policy(&(*vms)[n - 1], r);
	if (n && !strcmp(r->kind, "refused"))
		take_refused(&(*vms)[n - 1], r);
	return n;
}

int vms_read(struct vm **vms)
{
	FILE *f = root_open(LIST_VMS);
	struct record r;
	int got, n = 0;

	*vms = NULL;
	if (!f) {
		failure("can't read %s: %s; %s", LIST_VMS, strerror(errno),
			list_unread_todo(errno));
		return -1;
	}
	while (n >= 0 && (got = record_read(f, &r))) {
		if (got > 0)
			n = take(vms, n, &r);
		record_free(&r);
	}
	if (ferror(f)) {
		failure("can't read %s: %s", LIST_VMS, strerror(errno));
		n = -1;
	} else if (n < 0) {
		failure("no memory");
	}
	fclose(f);
	return n;
}

bool vm_is(const struct vm *vm, const char *name)
{
	const struct process *p = &vm->process;
	const char *last = strrchr(p->cgroup, '/');

	if (vm->ended)
		return false;
	if (!name[strspn(name, "0123456789")])
		return !strcmp(vm->pid, name);
	return (*p->name && !strcmp(p->name, name)) ||
	       (*p->uuid && !strcasecmp(p->uuid, name)) ||
	       (*p->cgroup && !strcmp(p->cgroup, name)) ||
	       (last && last[1] && !strcmp(last + 1, name));
}

const struct vm *vms_alone(const struct vm *vms, int n)
{
	const struct vm *vm;

	for (vm = vms; vm < vms + n; vm++)
		if (vm->alone)
			return vm;
	return NULL;
}

void vm_title(const struct vm *vm, char *title, size_t size)
{
	process_title(vm->pid, &vm->process, title, size);
	if (vm->ended)
		snprintf(title, size, "%s (ended)", vm->pid);
}
