// SPDX-License-Identifier: GPL-2.0
/*
 * Findings: the state of a condition, and the words for it.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "finding.h"

const char *fit_name(enum fit fit)
{
	static const char *const names[] = { "ok", "problem", "unknown" };

	return names[fit];
}

void finding_set(struct finding *f, enum fit fit, const char *why, ...)
{
	va_list args;

	f->fit = fit;
	va_start(args, why);
	vsnprintf(f->why, sizeof(f->why), why, args);
	va_end(args);
}

void finding_todo(struct finding *f, const char *todo, ...)
{
	va_list args;

	va_start(args, todo);
	vsnprintf(f->todo, sizeof(f->todo), todo, args);
	va_end(args);
	*f->run = '\0';
}

void finding_run(struct finding *f, const char *then, const char *run, ...)
{
	va_list args;

	va_start(args, run);
	vsnprintf(f->run, sizeof(f->run), run, args);
	va_end(args);
	snprintf(f->todo, sizeof(f->todo), "%s%s", f->run, then);
}

void finding_unread(struct finding *f, const char *path, int err)
{
	finding_unknown(f, "can't read %s: %s", path, strerror(err));
	if (err != EACCES && err != EPERM)
		return;
	if (geteuid())
		finding_todo(f, "run pvperf check as root");
	else
		finding_todo(f, "root may not read it either: the kernel is locked down, or this is a container; load the module, which checks the same, and see dmesg");
}
