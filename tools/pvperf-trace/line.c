// SPDX-License-Identifier: GPL-2.0
#include <ctype.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include "line.h"

static bool digit(const char *text, const char *at)
{
	return at >= text && isdigit((unsigned char)*at);
}

/*
 * Where the number begins that ends before @end: "comm-12 [" of ftrace, "comm-12 (   10) [" with its
 * record-tgid, "comm 12 [" of perf. NULL if there is none.
 */
static const char *pid_before(const char *text, const char *end)
{
	const char *at;

	while (end > text && isspace((unsigned char)end[-1]))
		end--;
	if (end > text && end[-1] == ')') {
		while (end > text && *end != '(')
			end--;
		while (end > text && isspace((unsigned char)end[-1]))
			end--;
	}
	for (at = end; digit(text, at - 1); )
		at--;
	return at < end && at > text ? at : NULL;
}

/* The ": " behind a time, or NULL. */
static const char *find_time(const char *from)
{
	const char *end;

	for (end = from; (end = strstr(end, ": ")); end += 2)
		if (digit(from, end - 1))
			return end;
	return NULL;
}

/*
 * The "[" behind "%16s-%-7d" of ftrace or "%16s %7d" of perf, and perhaps a process's number: NULL if
 * the line does not begin so. A task's name has 15 characters at most, so none without a newline looks like it.
 */
static const char *bracket_behind(const char *text)
{
	const char *at = text + 17, *digits;

	if (strnlen(text, 17) < 17 || (text[16] != '-' && text[16] != ' '))
		return NULL;
	digits = at += strspn(at, " ");
	at += strspn(at, "0123456789/");
	if (at == digits)
		return NULL;
	at += strspn(at, " ");
	if (*at == '(')
		at += strcspn(at, ")\n");
	at += strspn(at, ") ");
	return *at == '[' ? at : NULL;
}

/*
 * Where the digits of " [012] " begin, or NULL: the last one behind a thread's number, or @first one at
 * all. If @by_time none behind a time, as an event's own text may have one, too.
 */
static const char *cpu_in(const char *text, int limit, bool by_time, const char **first)
{
	const char *at = text, *end, *best = NULL, *time = NULL;

	while ((at = strstr(at, " [")) && at - text < limit && (!time || at < time)) {
		at += 2;
		end = at + strspn(at, "0123456789");
		if (end == at || end[0] != ']' || end[1] != ' ')
			continue;
		*first = *first ?: at;
		if (!pid_before(text, at - 2))
			continue;
		best = at;
		time = by_time ? find_time(end) : NULL;
	}
	return best;
}

/* A name that is not filled up has 15 characters at most: then the bracket is here ... */
#define NAME_AND_CPU	40
/* ... and here behind the name of a trace-cmd's buffer, or of perf's machine. */
#define MORE_AND_CPU	80

/* The digits of the CPU, or NULL. */
static const char *find_cpu(struct line *line)
{
	const char *behind = bracket_behind(line->text), *first = NULL, *cpu;

	/* A name with a newline makes two lines of ftrace's one. */
	line->filled |= behind && line->text[16] == '-';
	if (behind && isdigit((unsigned char)behind[1]))
		return behind + 1;
	if (line->filled)
		return NULL;
	cpu = cpu_in(line->text, NAME_AND_CPU, false, &first) ?: cpu_in(line->text, MORE_AND_CPU, true, &first);
	return cpu ?: first;
}

/*
 * The time ends before @end. perf prints seconds with 6 or 9 places. ftrace prints flags
 * before a TSC, sometimes without a space: "d...49836825726903".
 */
static bool take_time(struct line *line, const char *from, const char *end)
{
	const char *at = end, *dot;
	uint64_t places;
	int n;

	while (digit(from, at - 1))
		at--;
	if (at == end || end - at > 20)
		return false;
	places = strtoull(at, NULL, 10);
	dot = at - 1;
	n = end - at;
	line->seconds = dot > from && *dot == '.' && digit(from, dot - 1) && (n == 6 || n == 9);
	line->us = line->seconds && n == 6;
	line->time = places;
	if (line->seconds) {
		for (at = dot; digit(from, at - 1); )
			at--;
		line->time = strtoull(at, NULL, 10) * 1000000000 + (n == 6 ? places * 1000 : places);
	}
	line->stamp = at - line->text;
	line->rest = end - line->text;
	return true;
}

bool line_parse(struct line *line, const char *text)
{
	const char *cpu, *pid, *end;
	unsigned long number;

	line->text = text;
	cpu = find_cpu(line);
	if (!cpu)
		return false;
	number = strtoul(cpu, NULL, 10);
	line->cpu = number > UINT_MAX ? UINT_MAX : number;
	pid = pid_before(text, cpu - 2);
	line->pid = pid ? strtoul(pid, NULL, 10) : 0;
	end = find_time(cpu);
	return end && take_time(line, cpu, end);
}

const char *line_event(const struct line *line, const char *name)
{
	const char *at = line->text + line->rest + strlen(": ");
	size_t n = strlen(name), before;

	at += strspn(at, " ");
	at += strspn(at, "0123456789");		/* perf's period */
	at += strspn(at, " ");
	before = strcspn(at, ": ");
	/* perf prints the event's system before it. */
	if (at[before] == ':' && at[before + 1] != ' ')
		at += before + 1;
	return !strncmp(at, name, n) && at[n] == ':' ? at + n + 1 : NULL;
}

bool line_field(const char *fields, const char *key, int base, uint64_t *value)
{
	const char *at = fields;
	size_t n = strlen(key);
	char *end;

	while ((at = strstr(at, key))) {
		if (at[-1] == ' ' && at[n] == '=' && isxdigit((unsigned char)at[n + 1])) {
			*value = strtoull(at + n + 1, &end, base);
			return !*end || isspace((unsigned char)*end);
		}
		at += n;
	}
	return false;
}
