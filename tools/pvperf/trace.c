// SPDX-License-Identifier: GPL-2.0
/*
 * Commands of a program of its own, pvperf-trace, as they need libtracecmd. It is in ../lib/pvperf,
 * or, before the installation, beside this one.
 */
#include <libgen.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#include "command.h"

/* A copy of this program in a folder of everybody's must not run what somebody else put there. */
static bool is_of_our_owner(const char *path)
{
	struct stat self, other;

	return !stat("/proc/self/exe", &self) && !lstat(path, &other) &&
	       S_ISREG(other.st_mode) && self.st_uid == other.st_uid;
}

int command_trace(int argc, char **argv)
{
	static const char *const places[] = { "../lib/pvperf/", "", "../pvperf-trace/" };
	char self[PATH_MAX], path[PATH_MAX + sizeof("/../pvperf-trace/pvperf-trace")];
	ssize_t len = readlink("/proc/self/exe", self, sizeof(self) - 1);
	char **words = calloc(argc + 2, sizeof(*words));
	const char *folder;
	size_t i;

	if (!words || len <= 0)
		return EXIT_PROBLEM;
	words[0] = "pvperf-trace";
	memcpy(words + 1, argv, argc * sizeof(*words));
	self[len] = '\0';
	folder = dirname(self);
	for (i = 0; i < sizeof(places) / sizeof(*places); i++) {
		sprintf(path, "%s/%spvperf-trace", folder, places[i]);
		if (is_of_our_owner(path))
			execv(path, words);
	}
	fprintf(stderr, "pvperf: %s is a command of the program pvperf-trace, which is not there or cannot be run; on Debian: apt install pvperf-trace, or see \"On a host\" in README.md\n",
		strcmp(argv[0], "help") ? argv[0] : argv[1]);
	free(words);
	return EXIT_PROBLEM;
}
