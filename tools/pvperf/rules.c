// SPDX-License-Identifier: GPL-2.0
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include "command.h"
#include "failure.h"
#include "module.h"
#include "root.h"
#include "rule.h"
#include "rules.h"

#define STANDARD	"# default: "

#define failed(...)	(failure(__VA_ARGS__), false)

void rules_free(struct rules *rules)
{
	while (rules->n)
		free(rules->line[--rules->n]);
	free(rules->line);
	rules->line = NULL;
}

static bool line_add(struct rules *rules, const char *line)
{
	char **more = realloc(rules->line, (rules->n + 1) * sizeof(*more));

	if (!more)
		return failed("no memory");
	rules->line = more;
	more[rules->n] = strdup(line);
	return more[rules->n] ? ++rules->n : failed("no memory");
}

bool rules_same(const struct rules *a, const struct rules *b)
{
	int i;

	for (i = 0; i < a->n && i < b->n; i++)
		if (strcmp(a->line[i], b->line[i]))
			return false;
	return a->n == b->n;
}

bool rules_put_first(struct rules *rules, const char *line)
{
	char *last;

	if (!line_add(rules, line))
		return false;
	last = rules->line[rules->n - 1];
	memmove(rules->line + 1, rules->line, (rules->n - 1) * sizeof(*rules->line));
	rules->line[0] = last;
	return true;
}

void rules_drop(struct rules *rules, pid_t pid)
{
	bool alone = false;
	int i, n = 0;
	pid_t of;

	for (i = 0; i < rules->n; i++) {
		of = rule_pid(rules->line[i], &alone);
		if (of && (!pid || (of == pid && alone)))
			free(rules->line[i]);
		else
			rules->line[n++] = rules->line[i];
	}
	rules->n = n;
}

bool rules_ask_alike(const char *a, const char *b)
{
	char line[2][PVPERF_RULE_MAX + 1], why[PVPERF_WHY];
	struct pvperf_rule rule[2];
	int i;

	snprintf(line[0], sizeof(line[0]), "%s", a);
	snprintf(line[1], sizeof(line[1]), "%s", b);
	if (pvperf_rule_parse(&rule[0], line[0], why) != 1 || pvperf_rule_parse(&rule[1], line[1], why) != 1)
		return false;
	for (i = 0; i < PVPERF_MATCHES; i++)
		if (!rule[0].match[i] != !rule[1].match[i] ||
		    (rule[0].match[i] && strcmp(rule[0].match[i], rule[1].match[i])))
			return false;
	return true;
}

/* Parses a line of @n bytes as the module does. Returns 1, 0 or -1 as pvperf_rule_parse(). */
static int line_take(struct rules *rules, char *text, size_t n, char *why)
{
	char line[PVPERF_RULE_MAX + 1];
	struct pvperf_rule rule;
	int got;

	if (strlen(text) < n) {
		snprintf(why, PVPERF_WHY, "a byte of value 0: this is no text");
		return -1;
	}
	text[strcspn(text, "\n")] = '\0';
	got = pvperf_rule_parse(&rule, text, why);
	if (got <= 0)
		return got;
	pvperf_rule_print(&rule, line, sizeof(line));
	return line_add(rules, line) ? 1 : -1;
}

static bool file_add(struct rules *rules, const char *path)
{
	FILE *f = fopen(path, "re");
	char *text = NULL, why[PVPERF_WHY];
	bool good = true;
	size_t size = 0;
	ssize_t n;
	int nr;

	if (!f)
		return failed("can't read %s: %s", path, strerror(errno));
	for (nr = 1; (n = getline(&text, &size, f)) > 0; nr++) {
		*why = '\0';
		if (line_take(rules, text, n, why) < 0) {
			fprintf(stderr, "%s:%d: %s\n", path, nr, why);
			good = false;
		}
	}
	if (ferror(f))
		good = failed("can't read %s: %s", path, strerror(errno));
	free(text);
	fclose(f);
	return good;
}

static int is_conf(const struct dirent *entry)
{
	size_t len = strlen(entry->d_name);

	return *entry->d_name != '.' && len > 5 && !strcmp(entry->d_name + len - 5, ".conf");
}

static bool folder_add(struct rules *rules, const char *folder)
{
	struct dirent **entries;
	char path[PATH_MAX];
	bool good = true;
	int i, n = scandir(folder, &entries, is_conf, alphasort);

	if (n < 0)
		return failed("can't read %s: %s", folder, strerror(errno));
	if (!n) {
		free(entries);
		return failed("there is no file *.conf in %s; an empty one stands for no rules", folder);
	}
	for (i = 0; i < n; i++) {
		snprintf(path, sizeof(path), "%s/%s", folder, entries[i]->d_name);
		good &= file_add(rules, path);
		free(entries[i]);
	}
	free(entries);
	return good;
}

bool rules_add(struct rules *rules, const char *path)
{
	struct stat st;

	return !stat(path, &st) && S_ISDIR(st.st_mode) ? folder_add(rules, path) :
							 file_add(rules, path);
}

static const char *device_todo(int err)
{
	if (err == ENOENT && module_there("pvperf_host"))
		return "dmesg says why; or the pvperf_host that is loaded is too old: modprobe -r pvperf_host; modprobe pvperf_host";
	if (err == ENOENT)
		return module_there("pvperf_guest") ?
		       "this is a guest, and the policy is its host's" :
		       "pvperf_host is not loaded, see pvperf check";
	if ((err == EACCES || err == EPERM) && geteuid())
		return "run it as root";
	return "dmesg says more";
}

bool rules_read(struct rules *rules, char *standard, size_t size)
{
	FILE *f = root_open(RULES_DEVICE);
	char *text = NULL, why[PVPERF_WHY];
	size_t room = 0;
	bool good = true;

	if (!f)
		return failed("can't read " RULES_DEVICE ": %s; %s", strerror(errno),
			      device_todo(errno));
	*standard = '\0';
	while (good && getline(&text, &room, f) > 0) {
		if (!strncmp(text, STANDARD, strlen(STANDARD)))
			snprintf(standard, size, "%.*s", (int)strcspn(text + strlen(STANDARD), "\n"),
				 text + strlen(STANDARD));
		else if (line_take(rules, text, strlen(text), why) < 0)
			good = failed(RULES_DEVICE " has a rule that this version (%s) does not understand: %s; install pvperf of the module's version",
				      PVPERF_VERSION, why);
	}
	if (ferror(f))
		good = failed("can't read " RULES_DEVICE ": %s", strerror(errno));
	free(text);
	fclose(f);
	return good;
}

/* The device's lock is the file's, which ends with the process. */
bool rules_lock(void)
{
	FILE *f = root_open(RULES_DEVICE);

	if (f && !flock(fileno(f), LOCK_EX))
		return true;
	return failed("can't lock " RULES_DEVICE ": %s; %s", strerror(errno), device_todo(errno));
}

/* As host/rules.c and host/control.c have them. */
#define LINES_MAX	4096
#define BYTES_MAX	65536

bool rules_fit(const struct rules *rules)
{
	size_t size = 0;
	int i;

	for (i = 0; i < rules->n; i++)
		size += strlen(rules->line[i]) + 1;
	if (rules->n < LINES_MAX && size <= BYTES_MAX)
		return true;
	return failed("%d rules of %zu characters: the module takes %d of %d", rules->n, size,
		      LINES_MAX - 1, BYTES_MAX);
}

static int device_write(const struct rules *rules)
{
	size_t size = 2;
	char *text;
	int i, err;

	for (i = 0; i < rules->n; i++)
		size += strlen(rules->line[i]) + 1;
	text = malloc(size);
	if (!text)
		return ENOMEM;
	strcpy(text, rules->n ? "" : "\n");
	for (i = 0, size = 0; i < rules->n; i++)
		size += sprintf(text + size, "%s\n", rules->line[i]);
	err = root_write(RULES_DEVICE, text);
	free(text);
	return err;
}

pid_t rule_pid(const char *text, bool *alone)
{
	char line[PVPERF_RULE_MAX + 1], why[PVPERF_WHY];
	struct pvperf_rule rule;

	snprintf(line, sizeof(line), "%s", text);
	if (pvperf_rule_parse(&rule, line, why) != 1 || !rule.match[PVPERF_MATCH_PID])
		return 0;
	if (alone)
		*alone = !rule.match[PVPERF_MATCH_COMM] && !rule.match[PVPERF_MATCH_UID] &&
			 !rule.match[PVPERF_MATCH_CGROUP];
	return atoi(rule.match[PVPERF_MATCH_PID]);
}

/* Drops those of the lines that are about an ended process. Returns whether there were some. */
static bool drop_ended(struct rules *rules, int first, int *end)
{
	int i, n = 0, before = rules->n;

	for (i = 0; i < before; i++) {
		pid_t pid = i >= first && i < *end ? rule_pid(rules->line[i], NULL) : 0;

		if (pid && kill(pid, 0) && errno == ESRCH)
			free(rules->line[i]);
		else
			rules->line[n++] = rules->line[i];
	}
	rules->n = n;
	*end -= before - n;
	return n < before;
}

int rules_write(struct rules *rules, int first, int end)
{
	int err = device_write(rules);

	while (err == EINVAL && drop_ended(rules, first, &end))
		err = device_write(rules);
	if (err == EBUSY) {
		failure("a VM holds up perf, and follows the rules later; dmesg names its process");
		return EXIT_DOUBT;
	}
	if (err)
		failure("can't write " RULES_DEVICE ": %s; %s", strerror(err), device_todo(err));
	return err ? EXIT_PROBLEM : EXIT_FITS;
}
