// SPDX-License-Identifier: GPL-2.0
/*
 * Open the machine's files, below $PVPERF_ROOT if that is set. pvperf opens every
 * file of the machine by these functions.
 */
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "root.h"

const char *root_prefix(void)
{
	const char *prefix = getenv("PVPERF_ROOT");

	return prefix && *prefix ? prefix : NULL;
}

static void root_path(const char *path, char full[PATH_MAX])
{
	const char *prefix = root_prefix();

	snprintf(full, PATH_MAX, "%s%s", prefix ? prefix : "", path);
}

bool root_exists(const char *path)
{
	char full[PATH_MAX];

	root_path(path, full);
	return !access(full, F_OK);
}

bool root_matches(const char *pattern)
{
	char full[PATH_MAX];
	glob_t found;
	bool any;

	root_path(pattern, full);
	any = !glob(full, 0, NULL, &found);
	globfree(&found);
	return any;
}

bool root_part(const char *pattern, char *part, size_t size)
{
	size_t after = strlen(strchr(pattern, '*') + 1), before;
	const char *last;
	char full[PATH_MAX];
	glob_t found;
	bool any;

	root_path(pattern, full);
	before = strchr(full, '*') - full;
	any = !glob(full, 0, NULL, &found);
	if (any) {
		last = found.gl_pathv[found.gl_pathc - 1];
		snprintf(part, size, "%.*s", (int)(strlen(last) - before - after), last + before);
	}
	globfree(&found);
	return any;
}

FILE *root_open(const char *path)
{
	char full[PATH_MAX];

	root_path(path, full);
	return fopen(full, "re");
}

int root_line(const char *path, char *line, size_t size)
{
	FILE *f = root_open(path);
	int err = 0;

	if (!f)
		return errno;
	errno = 0;
	if (!fgets(line, size, f)) {
		err = errno;
		*line = '\0';
	}
	line[strcspn(line, "\n")] = '\0';
	fclose(f);
	return err;
}

int root_write(const char *path, const char *text)
{
	size_t len = strlen(text);
	char full[PATH_MAX];
	int fd, err = 0;

	root_path(path, full);
	fd = open(full, O_WRONLY | O_TRUNC | O_CLOEXEC);
	if (fd < 0)
		return errno;
	if (write(fd, text, len) != (ssize_t)len)
		err = errno ? errno : EIO;
	if (close(fd) && !err)
		err = errno;
	return err;
}

const char *root_release(void)
{
	static char release[128];

	if (root_line("/proc/sys/kernel/osrelease", release, sizeof(release)) ||
	    !*release)
		strcpy(release, "unknown");
	return release;
}
