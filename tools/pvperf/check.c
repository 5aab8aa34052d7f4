// SPDX-License-Identifier: GPL-2.0
/*
 * pvperf check: find out which side this machine is, test each condition of that
 * side, and print the findings.
 */
#include <stdio.h>
#include <string.h>
#include "command.h"
#include "cpuid.h"
#include "finding.h"
#include "json.h"
#include "module.h"
#include "root.h"

#define CONDITIONS_MAX	16

struct report {
	const struct side *side;
	struct finding findings[CONDITIONS_MAX];
	int n, problems, unknown;
};

static void report_make(struct report *r, const struct side *side)
{
	const struct condition *c;
	const char *unknown;
	struct finding *f;

	memset(r, 0, sizeof(*r));
	r->side = side;
	for (c = side->conditions; c->name && r->n < CONDITIONS_MAX; c++) {
		f = &r->findings[r->n++];
		f->name = c->name;
		unknown = c->unknown ? c->unknown() : NULL;
		if (unknown)
			finding_unknown(f, "%s", unknown);
		else
			c->look(side, f);
		r->problems += f->fit == FIT_PROBLEM;
		r->unknown += f->fit == FIT_UNKNOWN;
	}
}

static void report_print(const struct report *r)
{
	const struct finding *f;

	printf("%s, kernel %s\n", r->side->name, root_release());
	for (f = r->findings; f < r->findings + r->n; f++) {
		printf("  %-8s %-14s %s\n", fit_name(f->fit), f->name, f->why);
		if (f->fit != FIT_OK && *f->todo)
			printf("  %-8s %-14s -> %s\n", "", "", f->todo);
	}
	if (r->problems)
		printf("%d %s\n", r->problems,
		       r->problems == 1 ? "problem" : "problems");
	else if (r->unknown)
		printf("no problem found, %d %s unknown\n", r->unknown,
		       r->unknown == 1 ? "condition" : "conditions");
	else
		printf("no problem found\n");
}

static struct json_object *report_json(const struct report *r)
{
	struct json_object *side = json_object_new_object();
	struct json_object *list = json_object_new_array(), *o;
	const struct finding *f;

	for (f = r->findings; f < r->findings + r->n; f++) {
		o = json_object_new_object();
		json_object_object_add(o, "name", json_object_new_string(f->name));
		json_object_object_add(o, "state",
				       json_object_new_string(fit_name(f->fit)));
		json_object_object_add(o, "why", json_object_new_string(f->why));
		json_object_object_add(o, "todo", json_text(f->fit == FIT_OK ? "" : f->todo));
		json_object_object_add(o, "run", json_text(f->fit == FIT_OK ? "" : f->run));
		json_object_array_add(list, o);
	}
	json_object_object_add(side, "side", json_object_new_string(r->side->name));
	json_object_object_add(side, "problems", json_object_new_int(r->problems));
	json_object_object_add(side, "unknown", json_object_new_int(r->unknown));
	json_object_object_add(side, "conditions", list);
	return side;
}

static void reports_json(const struct report *r, int n, bool fits)
{
	struct json_object *all = json_object_new_object();
	struct json_object *sides = json_object_new_array();
	int i;

	for (i = 0; i < n; i++)
		json_object_array_add(sides, report_json(&r[i]));
	json_object_object_add(all, "version", json_object_new_string(PVPERF_VERSION));
	json_object_object_add(all, "kernel", json_object_new_string(root_release()));
	json_object_object_add(all, "fits", json_object_new_boolean(fits));
	json_object_object_add(all, "sides", sides);
	json_print(all);
}

/* Of any version, loaded or not. */
static bool host_installed(void)
{
	char path[512];

	return module_there(side_host.module) ||
	       module_file(side_host.module, path, sizeof(path)) ||
	       root_matches("/usr/src/pvperf-host-*/dkms.conf");
}

/*
 * A VM is a guest. Most VMs have KVM loaded, as their hosts allow nested virtualization by
 * default; so a guest of KVM is a host as well only if it has the host's module.
 */
static void sides_find(bool *host, bool *guest)
{
	bool kvm = root_exists("/dev/kvm") || module_there("kvm");

	*guest = cpuid_is_guest() && (cpuid_is_kvm() || !kvm);
	*host = !cpuid_is_guest() || (kvm && (!*guest || host_installed()));
}

int command_check(const struct options *options)
{
	bool host = options->host, guest = options->guest, fits = true;
	struct report reports[2];
	int i, n = 0;

	if (!host && !guest)
		sides_find(&host, &guest);
	if (host)
		report_make(&reports[n++], &side_host);
	if (guest)
		report_make(&reports[n++], &side_guest);
	for (i = 0; i < n; i++) {
		fits = fits && !reports[i].problems;
		if (!options->json) {
			if (i)
				putchar('\n');
			report_print(&reports[i]);
		}
	}
	if (options->json)
		reports_json(reports, n, fits);
	return fits ? EXIT_FITS : EXIT_PROBLEM;
}
