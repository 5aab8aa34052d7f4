// SPDX-License-Identifier: GPL-2.0
/* pvperf refused: what VMs were refused, how often, and which word would allow it. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "command.h"
#include "failure.h"
#include "json.h"
#include "rule.h"
#include "vms.h"

/* What the word did, and what would let the VM have it. */
static const struct {
	const char *what, *todo;
} reasons[PVPERF_WORDS] = {
	[PVPERF_WORD_ACCESS] = { "calls, looks at CPUID or events of the host were refused", "access=local or global" },
	[PVPERF_WORD_RAW] = { "raw events were refused", "raw=yes" },
	[PVPERF_WORD_BRANCHES] = { "events with branches were refused", "branches=addresses" },
	[PVPERF_WORD_HOST_EVENTS] = { "software events of the host were refused", "host_events=yes" },
	[PVPERF_WORD_MAX_EVENTS] = { "events were too many for their vCPU", "a greater max_events" },
	[PVPERF_WORD_MAX_VM_EVENTS] = { "events were too many for the VM", "a greater max_vm_events" },
	[PVPERF_WORD_MAX_OPENS] = { "OPENs had to wait", "a greater max_opens" },
	[PVPERF_WORD_MAX_CALLS] = { "calls had to wait", "a greater max_calls" },
	[PVPERF_WORD_MAX_PAGES] = { "pages could not be pinned", "a greater max_pages, or limit of locked memory of its process," },
	[PVPERF_WORD_MIN_PERIOD] = { "sampling periods were too short", "a smaller min_period" },
};

/* What the policy has refused it may allow by now: a VM's refusals are those since its first call. */
static void todo_print(const struct vm *vm, enum pvperf_word word, const struct vm *alone)
{
	const __u32 *now = vm->policy.word;
	char other[160];

	if (word == PVPERF_WORD_ACCESS && alone && alone != vm) {
		vm_title(alone, other, sizeof(other));
		printf("VM %s has the host alone now\n", other);
	} else if (word == PVPERF_WORD_ACCESS && !vm->alone && now[word] == PVPERF_ACCESS_EXCLUSIVE) {
		puts("with access=exclusive it waits until no other VM counts");
	} else if (word == PVPERF_WORD_ACCESS && now[word] == PVPERF_ACCESS_LOCAL) {
		puts("access=global would allow it, if it was an event of the host");
	} else if ((word == PVPERF_WORD_ACCESS && now[word] >= PVPERF_ACCESS_GLOBAL) ||
		   (word == PVPERF_WORD_RAW && now[word] == PVPERF_RAW_YES) ||
		   (word == PVPERF_WORD_MAX_CALLS && now[word] == PVPERF_CALLS_UNBOUNDED) ||
		   ((word == PVPERF_WORD_HOST_EVENTS || word == PVPERF_WORD_BRANCHES) && now[word])) {
		puts("it is allowed now");
	} else if (word != PVPERF_WORD_MIN_PERIOD && word != PVPERF_WORD_MAX_PAGES && now[word] && now[word] == pvperf_words[word].max) {
		puts("it has the most that there is");
	} else {
		printf("%s would allow it\n", reasons[word].todo);
	}
}

static void table_one(const char *title, const struct vm *vm, const struct refused *refused,
		      const struct vm *alone)
{
	printf("VM %s: %" PRIu64 " %s", title, refused->times, reasons[refused->word].what);
	if (*refused->event || refused->ago >= 0)
		printf(", the last one%s%s", *refused->event ? " " : "", refused->event);
	if (refused->ago >= 0)
		printf(" %" PRId64 " s ago", refused->ago);
	printf("; ");
	todo_print(vm, refused->word, alone);
}

static void table(const struct vm *vms, int n)
{
	char title[160];
	bool any = false;
	int i, j;

	for (i = 0; i < n; i++) {
		vm_title(&vms[i], title, sizeof(title));
		for (j = 0; j < vms[i].refusals; j++) {
			if (!reasons[vms[i].refused[j].word].what)
				continue;
			table_one(title, &vms[i], &vms[i].refused[j], vms_alone(vms, n));
			any = true;
		}
	}
	if (!any)
		puts("the policies have refused no call of a VM");
}

static void json_one(struct json_object *list, const struct vm *vm, const struct refused *refused)
{
	struct json_object *o = json_object_new_object();

	json_object_object_add(o, "pid", json_object_new_int64(atol(vm->pid)));
	json_object_object_add(o, "name", json_text(vm->process.name));
	json_object_object_add(o, "ended", json_object_new_boolean(vm->ended));
	json_object_object_add(o, "word", json_object_new_string(pvperf_words[refused->word].name));
	json_object_object_add(o, "times", json_object_new_int64(refused->times));
	json_object_object_add(o, "seconds_ago", refused->ago < 0 ? NULL :
			       json_object_new_int64(refused->ago));
	json_object_object_add(o, "event", json_text(refused->event));
	json_object_array_add(list, o);
}

static void json(const struct vm *vms, int n)
{
	struct json_object *all = json_object_new_object(), *list = json_object_new_array();
	int i, j;

	for (i = 0; i < n; i++)
		for (j = 0; j < vms[i].refusals; j++)
			json_one(list, &vms[i], &vms[i].refused[j]);
	json_object_object_add(all, "refused", list);
	json_print(all);
}

int command_refused(const struct options *options)
{
	struct vm *vms;
	int n = vms_read(&vms);

	if (n >= 0 && options->json)
		json(vms, n);
	else if (n >= 0)
		table(vms, n);
	free(vms);
	return n >= 0 ? EXIT_FITS : options->json ? json_failure() : EXIT_PROBLEM;
}
