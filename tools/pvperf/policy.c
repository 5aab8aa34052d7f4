// SPDX-License-Identifier: GPL-2.0
/*
 * pvperf policy: show, check and apply the rules of who may count what. pvperf set: a rule
 * for one VM.
 */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "command.h"
#include "failure.h"
#include "json.h"
#include "rule.h"
#include "rules.h"
#include "vms.h"

const char policy_help[] =
"pvperf policy [--json]\n"
"        on a host: the rules of who may count what, and which VM has which policy\n"
"pvperf policy --check PATH\n"
"        say whether a file of rules, or a folder of files *.conf, makes sense\n"
"pvperf policy --apply PATH\n"
"        the same, and if it does give the rules to the module; rules about a process stay before them\n";

const char set_help[] =
"pvperf set VM WORD=VALUE...\n"
"        on a host: change a running VM's policy until its process ends; VM is its process's\n"
"        number, its name, its uuid, or its cgroup or the last part of that\n"
"pvperf set VM default\n"
"        take that back\n";

/* What a VM may have, as words. */
static void words_print(const struct pvperf_policy *policy, char *text, size_t size)
{
	struct pvperf_rule rule = { .given = (1u << PVPERF_WORDS) - 1, .policy = *policy };

	pvperf_rule_print(&rule, text, size);
}

/* -------------------------------------------------------------------- show */

static bool has_word(const char *words, const char *word)
{
	size_t len = strlen(word);
	const char *at = words;

	while ((at = strstr(at, word))) {
		if ((at == words || at[-1] == ' ') && (!at[len] || at[len] == ' '))
			return true;
		at += len;
	}
	return false;
}

/* Only the words that are not as @standard has them: with many VMs nobody finds these else. */
static void words_show(const struct pvperf_policy *policy, const char *standard)
{
	char words[PVPERF_RULE_MAX + 1], *rest = words, *word;
	const char *space = "";

	words_print(policy, words, sizeof(words));
	while ((word = strsep(&rest, " "))) {
		if (has_word(standard, word))
			continue;
		printf("%s%s", space, word);
		space = " ";
	}
	puts(*space ? "" : "as the default");
}

static void table_vm(const struct vm *vm, const struct vm *alone, const char *standard)
{
	char title[160], other[160];

	vm_title(vm, title, sizeof(title));
	if (vm->rule)
		printf("VM %s: rule %u: ", title, vm->rule);
	else
		printf("VM %s: default: ", title);
	if (vm == alone) {
		printf("has the host alone: ");
	} else if (alone) {
		vm_title(alone, other, sizeof(other));
		printf("nothing while VM %s has the host alone: ", other);
	}
	words_show(&vm->policy, standard);
}

static void table(const struct rules *rules, const char *standard, const struct vm *vms, int n)
{
	int i;

	if (rules->n)
		puts("the first rule that is about a VM holds; words that it does not have are the default's:");
	for (i = 0; i < rules->n; i++)
		printf("%4d  %s\n", i + 1, rules->line[i]);
	printf("default: %s\n", standard);
	for (i = 0; i < n; i++)
		table_vm(&vms[i], vms_alone(vms, n), standard);
}

static struct json_object *json_words(const char *text)
{
	struct json_object *o = json_object_new_object();
	char *copy = strdup(text), *rest = copy, *word, *value;
	char *end;
	long number;

	while (copy && (word = strsep(&rest, " "))) {
		value = strchr(word, '=');
		if (!value)
			continue;
		*value++ = '\0';
		number = strtol(value, &end, 10);
		json_object_object_add(o, word, *end ? json_object_new_string(value) :
						       json_object_new_int64(number));
	}
	free(copy);
	return o;
}

static struct json_object *json_vm(const struct vm *vm)
{
	struct json_object *o = json_object_new_object();
	char words[PVPERF_RULE_MAX + 1];

	words_print(&vm->policy, words, sizeof(words));
	json_object_object_add(o, "pid", json_object_new_int64(atol(vm->pid)));
	json_object_object_add(o, "name", json_text(vm->process.name));
	json_object_object_add(o, "comm", json_text(vm->process.comm));
	json_object_object_add(o, "uuid", json_text(vm->process.uuid));
	json_object_object_add(o, "cgroup", json_text(vm->process.cgroup));
	json_object_object_add(o, "alone", json_object_new_boolean(vm->alone));
	json_object_object_add(o, "ended", json_object_new_boolean(vm->ended));
	json_object_object_add(o, "rule", vm->rule ? json_object_new_int64(vm->rule) : NULL);
	json_object_object_add(o, "policy", json_words(words));
	return o;
}

static void json(const struct rules *rules, const char *standard, const struct vm *vms, int n)
{
	struct json_object *all = json_object_new_object(), *list = json_object_new_array();
	int i;

	for (i = 0; i < rules->n; i++)
		json_object_array_add(list, json_object_new_string(rules->line[i]));
	json_object_object_add(all, "rules", list);
	json_object_object_add(all, "default", json_words(standard));
	list = json_object_new_array();
	for (i = 0; i < n; i++)
		json_object_array_add(list, json_vm(&vms[i]));
	json_object_object_add(all, "vms", list);
	json_print(all);
}

/* The VMs, whose .rule is of @rules: a rule of a process goes with it, and the others move up. */
static int vms_and_rules_read(struct vm **vms, struct rules *rules, char *standard, size_t size)
{
	struct rules after = { 0 };
	int n = rules_read(rules, standard, size) ? vms_read(vms) : -1;

	if (n >= 0 && !rules_read(&after, standard, size))
		n = -1;
	if (n >= 0 && !rules_same(rules, &after)) {
		failure("the rules have changed meanwhile, as when a VM ends; try again");
		n = -1;
	}
	rules_free(&after);
	return n;
}

static int show(bool as_json)
{
	struct rules rules = { 0 };
	char standard[1024];
	struct vm *vms = NULL;
	int n;

	n = vms_and_rules_read(&vms, &rules, standard, sizeof(standard));
	if (n >= 0 && as_json)
		json(&rules, standard, vms, n);
	else if (n >= 0)
		table(&rules, standard, vms, n);
	free(vms);
	rules_free(&rules);
	if (n >= 0)
		return EXIT_FITS;
	return as_json ? json_failure() : EXIT_PROBLEM;
}

/* ---------------------------------------------------------- check and apply */

/* Have the @n rules of the files one about the same VMs, or its process alone? Then that one holds. */
static bool files_have(char *const *files, int n, const char *line)
{
	bool alone;
	int i;

	for (i = 0; i < n; i++)
		if (rules_ask_alike(files[i], line) ||
		    (rule_pid(files[i], &alone) == rule_pid(line, NULL) && alone))
			return true;
	return false;
}

/*
 * Before the rules of the files: those that the module has about a process, as pvperf set makes
 * them. Returns how many these are; -1 after failure().
 */
static int keep_set(struct rules *rules)
{
	int i, before = rules->n, kept = -1;
	struct rules now = { 0 };
	char standard[1024];
	bool good = rules_lock() && rules_read(&now, standard, sizeof(standard));

	for (i = now.n - 1; good && i >= 0; i--)
		if (rule_pid(now.line[i], NULL) &&
		    !files_have(rules->line + rules->n - before, before, now.line[i]))
			good = rules_put_first(rules, now.line[i]);
	if (good)
		kept = rules->n - before;
	rules_free(&now);
	return kept;
}

/* What has a number now need not have it when the rules are applied, and then none of them holds. */
static void pids_tell(const struct rules *rules)
{
	int i;

	for (i = 0; i < rules->n; i++)
		if (rule_pid(rules->line[i], NULL))
			fprintf(stderr, "pvperf: '%s' can be applied while there is such a process, and the others only with it\n",
				rules->line[i]);
}

static int take(const char *path, bool apply)
{
	struct rules rules = { 0 };
	int kept = 0;
	bool good = rules_add(&rules, path) &&
		    (!apply || (kept = keep_set(&rules)) >= 0) && rules_fit(&rules);
	int status = good ? EXIT_FITS : EXIT_PROBLEM;

	if (!good && apply)
		fprintf(stderr, "pvperf: the rules stay as they were\n");
	else if (good && apply)
		status = rules_write(&rules, 0, kept);
	else if (good)
		pids_tell(&rules);
	if (status != EXIT_PROBLEM)
		printf("%d rules%s\n", rules.n, apply ? " hold now" : "");
	rules_free(&rules);
	return status;
}

int command_policy(int argc, char **argv)
{
	static const struct option options[] = {
		{ "check", required_argument, NULL, 'c' },
		{ "apply", required_argument, NULL, 'a' },
		{ "json", no_argument, NULL, 'j' },
		{ 0 },
	};
	bool as_json = false, apply = false;
	const char *path = NULL;
	int c;

	while ((c = getopt_long(argc, argv, "", options, NULL)) != -1) {
		if (c == '?')
			return command_usage("unknown option, or one without its path:", argv[optind - 1], " policy");
		if (c == 'j')
			as_json = true;
		else if (path)
			return command_usage("one of --check and --apply, once", NULL, " policy");
		else
			path = optarg;
		apply |= c == 'a';
	}
	if (optind < argc)
		return command_usage("unexpected argument", argv[optind], " policy");
	if (path && as_json)
		return command_usage("--json is for showing", NULL, " policy");
	return path ? take(path, apply) : show(as_json);
}

/* --------------------------------------------------------------------- set */

/* Changes @rule by WORD=VALUE. */
static bool set_word(struct pvperf_rule *rule, const char *item)
{
	size_t len = strcspn(item, "=");
	enum pvperf_word word = pvperf_word_find(item, len);
	char why[PVPERF_WHY];

	if (!item[len] || word == PVPERF_WORDS) {
		fprintf(stderr, "pvperf: '%s' is no word of a policy (access=, priority=, raw=, max_events=, ...); see pvperf(8)\n",
			item);
		return false;
	}
	if (!pvperf_word_parse(word, item + len + 1, &rule->policy.word[word], why)) {
		fprintf(stderr, "pvperf: %s\n", why);
		return false;
	}
	rule->given |= 1u << word;
	return true;
}

static struct vm *set_find(struct vm *vms, int n, const char *name)
{
	struct vm *found = NULL;
	int i;

	for (i = 0; i < n; i++) {
		if (!vm_is(&vms[i], name))
			continue;
		if (found && strcmp(found->pid, vms[i].pid)) {
			fprintf(stderr, "pvperf: processes %s and %s both have a VM of the name %s; give the process's number\n",
				found->pid, vms[i].pid, name);
			return NULL;
		}
		found = found ? found : &vms[i];
	}
	if (!found)
		fprintf(stderr, "pvperf: no VM %s has asked for pvperf; pvperf policy lists those that have; a rule that is about it (%s) holds for it, too, when it asks\n",
			name, RULES_DEVICE);
	return found;
}

/*
 * The words of the rule that holds for the VM. Not its policy, which has the default's words,
 * too, and as long as one VM has the host alone not what the rules say.
 */
static bool set_begin(struct pvperf_rule *rule, const struct rules *rules, const struct vm *vm)
{
	static char line[PVPERF_RULE_MAX + 1];
	char why[PVPERF_WHY];

	memset(rule, 0, sizeof(*rule));
	if (!vm->rule)
		return true;
	if (vm->rule > (unsigned int)rules->n) {
		failure("the rules have changed meanwhile; try again");
		return false;
	}
	snprintf(line, sizeof(line), "%s", rules->line[vm->rule - 1]);
	if (pvperf_rule_parse(rule, line, why) != 1) {
		failure("rule %u: %s", vm->rule, why);
		return false;
	}
	memset(rule->match, 0, sizeof(rule->match));
	return true;
}

/* A rule for the process, in place of an older one; none if @rule has no word. */
static int set_rule(struct rules *rules, const struct vm *vm, const struct pvperf_rule *rule)
{
	char line[PVPERF_RULE_MAX + 1], words[PVPERF_RULE_MAX + 1];
	int status;

	rules_drop(rules, atoi(vm->pid));
	pvperf_rule_print(rule, words, sizeof(words));
	snprintf(line, sizeof(line), "pid=%s %.900s", vm->pid, words);
	if (rule->given && !rules_put_first(rules, line))
		return EXIT_PROBLEM;
	status = rules_write(rules, !!rule->given, rules->n);
	if (status != EXIT_PROBLEM)
		printf("VM %s: %s\n", vm->pid, rule->given ? words : "no rule of pvperf set any more");
	return status;
}

static int set_words(struct rules *rules, const struct vm *vm, char **words)
{
	struct pvperf_rule rule = { 0 };

	if (strcmp(*words, "default") || words[1]) {
		if (!set_begin(&rule, rules, vm))
			return EXIT_PROBLEM;
		for (; *words; words++)
			if (!set_word(&rule, *words))
				return EXIT_USAGE;
	}
	return set_rule(rules, vm, &rule);
}

/* Words that trust a VM want its number: whoever runs the VM chooses its name. */
static bool may_be_trusted(const struct vm *vm, const char *name, char **words)
{
	static const char *const trust[] = {
		"access=global", "access=exclusive", "access=force", "priority=pinned",
	};
	size_t i;

	if (!strcmp(vm->pid, name))
		return true;
	for (; *words; words++)
		for (i = 0; i < sizeof(trust) / sizeof(*trust); i++)
			if (!strcmp(*words, trust[i])) {
				fprintf(stderr, "pvperf: whoever runs a VM chooses its name: for %s give the number of its process; pvperf policy lists the VMs\n",
					*words);
				return false;
			}
	return true;
}

int command_set(int argc, char **argv)
{
	struct rules rules = { 0 };
	char standard[1024];
	struct vm *vms = NULL, *vm;
	int n = -1, status = EXIT_PROBLEM;

	if (argc < 3 || *argv[1] == '-')
		return command_usage("set wants a VM and a word with its value", NULL, " set");
	if (rules_lock())
		n = vms_and_rules_read(&vms, &rules, standard, sizeof(standard));
	vm = n < 0 ? NULL : set_find(vms, n, argv[1]);
	if (vm && !may_be_trusted(vm, argv[1], argv + 2))
		status = EXIT_USAGE;
	else if (vm)
		status = set_words(&rules, vm, argv + 2);
	free(vms);
	rules_free(&rules);
	return status;
}
