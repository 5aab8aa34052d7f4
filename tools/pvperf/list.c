// SPDX-License-Identifier: GPL-2.0
/*
 * pvperf list: print the VMs that the host module's debugfs files list, as a table
 * or as JSON, a line at a time. Reading those files changes nothing.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "command.h"
#include "debugfs.h"
#include "event_name.h"
#include "failure.h"
#include "json.h"
#include "list.h"
#include "module.h"
#include "process.h"
#include "root.h"

#define TOTALS	"/sys/kernel/debug/pvperf/totals"

/* ------------------------------------------------------------------- table */

static const char event_columns[] = "  %4s %4s  %-24s %10s  %-8s %16s %16s  %s\n";

/* Another process may have the number of one that has ended. */
static void process_of(const struct record *r, struct process *p)
{
	memset(p, 0, sizeof(*p));
	if (!record_number(r, "ended"))
		process_read(record_word(r, "pid"), p);
}

static void table_vm(const struct record *r)
{
	struct process p;
	char title[160];

	process_of(r, &p);
	process_title(record_word(r, "pid"), &p, title, sizeof(title));
	printf("VM %s: %s pages that hold %s, %s calls, %s operations, %s refused, %s overflows, %s NMIs\n",
	       title, record_word(r, "pages"), record_word(r, "held"), record_word(r, "calls"),
	       record_word(r, "ops"), record_word(r, "refused"),
	       record_word(r, "overflows"), record_word(r, "nmis"));
	if (record_number(r, "alone"))
		puts("  has the host alone: what the other VMs may have is nothing meanwhile");
	if (record_number(r, "ended"))
		puts("  its process has ended, or is about to");
}

static void table_policy(const struct record *r)
{
	int i;

	if (record_number(r, "rule"))
		printf("  policy of rule %s:", record_word(r, "rule"));
	else
		printf("  policy of the default:");
	for (i = 1; i < r->n; i++)
		printf(" %s=%s", r->field[i].key, r->field[i].value);
	putchar('\n');
}

static void table_vcpu(const struct record *r)
{
	if (record_number(r, "busy")) {
		printf("  vCPU %s: busy, its process holds it up; what follows it is not shown\n",
		       record_word(r, "index"));
		return;
	}
	printf("  vCPU %s: %s events, %s, %s NMIs\n", record_word(r, "index"),
	       record_word(r, "events"), record_number(r, "attached") ?
	       "attached" : "not attached", record_word(r, "nmis"));
	if (record_number(r, "events"))
		printf(event_columns, "", "id", "event", "period", "state", "count",
		       "enabled ns", "running");
}

/* The share of the enabled time during which the event had a counter. */
static void table_share(const struct record *r, char *share, size_t size)
{
	uint64_t enabled = record_number(r, "enabled");

	if (enabled)
		snprintf(share, size, "%.2f%%",
			 100.0 * record_number(r, "running") / enabled);
	else
		snprintf(share, size, "-");
}

static void table_event(const struct record *r)
{
	uint64_t period = record_number(r, "period");
	char name[64], share[32];

	event_name(record_word(r, "type"), record_number(r, "config"),
		   record_number(r, "flags"), record_number(r, "cpu"), name, sizeof(name));
	table_share(r, share, sizeof(share));
	printf(event_columns, "", record_word(r, "id"), name,
	       period ? record_word(r, "period") : "-", record_word(r, "state"),
	       record_word(r, "count"), record_word(r, "enabled"), share);
}

static void table_record(const struct record *r)
{
	if (!strcmp(r->kind, "vm"))
		table_vm(r);
	else if (!strcmp(r->kind, "policy"))
		table_policy(r);
	else if (!strcmp(r->kind, "vcpu"))
		table_vcpu(r);
	else if (!strcmp(r->kind, "event"))
		table_event(r);
}

/* -------------------------------------------------------------------- JSON */

struct tree {
	struct json_object *vms, *vm, *refused, *vcpus, *events;
};

/* Decimal numbers become numbers; configs and flags, sets of bits, stay strings. */
static struct json_object *json_value(const char *value)
{
	const char *digits = *value == '-' ? value + 1 : value;

	if (!*digits || digits[strspn(digits, "0123456789")])
		return json_object_new_string(value);
	return *value == '-' ? json_object_new_int64(strtoll(value, NULL, 10)) :
			       json_object_new_uint64(strtoull(value, NULL, 10));
}

static struct json_object *json_record(const struct record *r)
{
	struct json_object *o = json_object_new_object();
	int i;

	for (i = 0; i < r->n; i++)
		json_object_object_add(o, r->field[i].key,
				       json_value(r->field[i].value));
	return o;
}

/* A vcpu's line has the number of its events; the list of events replaces it. */
static struct json_object *json_child(struct json_object *parent, const char *key)
{
	struct json_object *list = json_object_new_array();

	json_object_object_add(parent, key, list);
	return list;
}

static struct json_object *json_vm(const struct record *r)
{
	struct json_object *o = json_record(r);
	struct process p;

	process_of(r, &p);
	json_object_object_add(o, "name", json_text(p.name));
	json_object_object_add(o, "comm", json_text(p.comm));
	json_object_object_add(o, "cgroup", json_text(p.cgroup));
	return o;
}

static void json_event(const struct record *r, struct tree *t)
{
	struct json_object *o = json_record(r);
	char name[64];

	event_name(record_word(r, "type"), record_number(r, "config"),
		   record_number(r, "flags"), record_number(r, "cpu"), name, sizeof(name));
	json_object_object_add(o, "name", json_object_new_string(name));
	json_object_array_add(t->events, o);
}

/* Returns false for an event without a vCPU, or a vCPU without a VM. */
static bool json_add(const struct record *r, struct tree *t)
{
	struct json_object *o;

	if (!strcmp(r->kind, "vm")) {
		t->vm = json_vm(r);
		json_object_array_add(t->vms, t->vm);
		t->refused = json_child(t->vm, "refusals");
		t->vcpus = json_child(t->vm, "vcpus");
		t->events = NULL;
	} else if (!strcmp(r->kind, "policy") && t->vm) {
		json_object_object_add(t->vm, "policy", json_record(r));
	} else if (!strcmp(r->kind, "refused") && t->vm) {
		json_object_array_add(t->refused, json_record(r));
	} else if (!strcmp(r->kind, "vcpu") && t->vcpus) {
		o = json_record(r);
		json_object_array_add(t->vcpus, o);
		t->events = record_number(r, "busy") ? NULL : json_child(o, "events");
	} else if (!strcmp(r->kind, "event") && t->events) {
		json_event(r, t);
	} else {
		return false;
	}
	return true;
}

/* ------------------------------------------------------------------- files */

#define list_failed(...)	(failure(__VA_ARGS__), EXIT_PROBLEM)

const char *list_unread_todo(int err)
{
	if ((err == EACCES || err == EPERM) && geteuid())
		return "run it as root";
	if (err == EACCES || err == EPERM)
		return "the kernel is locked down; the module's trace events need no debugfs";
	if (err == ENOENT && module_there("pvperf_guest"))
		return "this is a guest, and the list is its host's";
	if (err == ENOENT && !module_there("pvperf_host"))
		return "pvperf_host is not loaded, see pvperf check";
	if (err == ENOENT)
		return "mount -t debugfs debugfs /sys/kernel/debug";
	return "see pvperf check";
}

static int list_unread(const char *path, int err)
{
	return list_failed("can't read %s: %s; %s", path, strerror(err), list_unread_todo(err));
}

static int list_strange(const char *path, const char *line)
{
	return list_failed("%s has a line that this version (%s) does not understand: '%s'; install pvperf of the module's version",
			   path, PVPERF_VERSION, line ? line : "");
}

/* Prints a table if @tree is NULL. */
static int list_vms(struct tree *tree, int *vms)
{
	FILE *f = root_open(LIST_VMS);
	struct record r;
	int got, status = EXIT_FITS;

	if (!f)
		return list_unread(LIST_VMS, errno);
	while (status == EXIT_FITS && (got = record_read(f, &r))) {
		if (got < 0)
			status = list_strange(LIST_VMS, r.line);
		else if (!tree)
			table_record(&r);
		else if (!json_add(&r, tree))
			status = list_strange(LIST_VMS, r.kind);
		*vms += got > 0 && !strcmp(r.kind, "vm");
		record_free(&r);
	}
	if (ferror(f))
		status = list_unread(LIST_VMS, errno);
	fclose(f);
	return status;
}

static int list_totals(struct json_object *totals)
{
	FILE *f = root_open(TOTALS);
	char key[32] = "";
	uint64_t value;
	int status;

	if (!f)
		return list_unread(TOTALS, errno);
	while (fscanf(f, "%31s %" SCNu64, key, &value) == 2) {
		if (totals)
			json_object_object_add(totals, key,
					       json_object_new_uint64(value));
		else
			printf(" %" PRIu64 " %s", value, key);
	}
	status = ferror(f) ? list_unread(TOTALS, errno) : feof(f) ? EXIT_FITS : list_strange(TOTALS, key);
	fclose(f);
	return status;
}

static int list_table(void)
{
	int status, vms = 0;

	status = list_vms(NULL, &vms);
	if (status != EXIT_FITS)
		return status;
	if (!vms) {
		printf("no VM uses pvperf\n");
		return EXIT_FITS;
	}
	printf("all:");
	status = list_totals(NULL);
	putchar('\n');
	return status;
}

static int list_json(void)
{
	struct json_object *all = json_object_new_object();
	struct tree tree = { .vms = json_child(all, "vms") };
	int status, vms = 0;

	status = list_vms(&tree, &vms);
	if (status == EXIT_FITS) {
		struct json_object *totals = json_object_new_object();

		json_object_object_add(all, "totals", totals);
		status = list_totals(totals);
	}
	if (status == EXIT_FITS) {
		json_print(all);
		return status;
	}
	json_object_put(all);
	return json_failure();
}

int command_list(const struct options *options)
{
	return options->json ? list_json() : list_table();
}
