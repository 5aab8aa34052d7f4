// SPDX-License-Identifier: GPL-2.0
/* What /proc says of the process of a VM. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include "process.h"
#include "root.h"

static void clean(char *text)
{
	for (; *text; text++)
		if (!isprint((unsigned char)*text))
			*text = '?';
}

/* "web,debug-threads=on" or "...,guest=web,..." */
static void name_take(struct process *p, const char *arg)
{
	const char *guest = strstr(arg, "guest=");

	if (guest && (guest == arg || guest[-1] == ','))
		arg = guest + strlen("guest=");
	snprintf(p->name, sizeof(p->name), "%.*s", (int)strcspn(arg, ","), arg);
	clean(p->name);
}

static void uuid_take(struct process *p, const char *arg)
{
	snprintf(p->uuid, sizeof(p->uuid), "%s", arg);
	clean(p->uuid);
}

/* An option may have two dashes. */
static bool is_option(const char *arg, const char *option)
{
	return *arg == '-' && !strcmp(arg + 1 + (arg[1] == '-'), option);
}

/* The process can make its arguments endless. */
#define ARGUMENTS_MAX	(128 << 10)

static void arguments_read(struct process *p, const char *path)
{
	void (*take)(struct process *p, const char *arg) = NULL;
	static char args[ARGUMENTS_MAX + 1];
	FILE *f = root_open(path);
	const char *arg;
	char *end;

	if (!f)
		return;
	end = args + fread(args, 1, ARGUMENTS_MAX, f);
	fclose(f);
	*end = '\0';
	for (arg = args; arg < end; arg += strlen(arg) + 1) {
		if (take)
			take(p, arg);
		take = take ? NULL : is_option(arg, "name") ? name_take :
		       is_option(arg, "uuid") ? uuid_take : NULL;
	}
}

void process_read(const char *pid, struct process *p)
{
	char path[64], line[sizeof(p->cgroup)];

	memset(p, 0, sizeof(*p));
	snprintf(path, sizeof(path), "/proc/%.20s/comm", pid);
	if (!root_line(path, p->comm, sizeof(p->comm)))
		clean(p->comm);
	snprintf(path, sizeof(path), "/proc/%.20s/cgroup", pid);
	if (!root_line(path, line, sizeof(line)) && !strncmp(line, "0::", 3)) {
		clean(line);
		strcpy(p->cgroup, line + 3);
	}
	snprintf(path, sizeof(path), "/proc/%.20s/cmdline", pid);
	arguments_read(p, path);
}

void process_title(const char *pid, const struct process *p, char *title, size_t size)
{
	snprintf(title, size, "%s%s%s%s%s", pid, *p->name ? " " : "", p->name, *p->comm ? " " : "", p->comm);
	while ((title = strpbrk(title, ":(")))
		*title++ = '?';
}
