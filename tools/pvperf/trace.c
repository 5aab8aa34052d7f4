// SPDX-License-Identifier: GPL-2.0
/*
 * Commands of a program of its own, pvperf-trace, as they need libtracecmd. It is in ../lib/pvperf,
 * or, before the installation, beside this one.
 */
#include <libgen.h>
#include <limits.h>
#include <stdlib.h>
#include <unistd.h>
#include "command.h"

int command_trace(int argc, char **argv)
{
	static const char *const places[] = { "../lib/pvperf/", "", "../pvperf-trace/" };
	char self[PATH_MAX], path[PATH_MAX + sizeof("/../pvperf-trace/pvperf-trace")];
	ssize_t len = readlink("/proc/self/exe", self, sizeof(self) - 1);
	char **words = calloc(argc + 2, sizeof(*words));
	const char *folder;
	size_t i;

	if (!words)
		return EXIT_PROBLEM;
	words[0] = "pvperf-trace";
	memcpy(words + 1, argv, argc * sizeof(*words));
	self[len > 0 ? len : 0] = '\0';
	folder = dirname(self);
	for (i = 0; i < sizeof(places) / sizeof(*places); i++) {
		sprintf(path, "%s/%spvperf-trace", folder, places[i]);
		execv(path, words);
	}
	fprintf(stderr, "pvperf: %s is a command of the program pvperf-trace, which cannot be run: %s; on Debian: apt install pvperf-trace, or see \"On a host\" in README.md\n",
		strcmp(argv[0], "help") ? argv[0] : argv[1], strerror(errno));
	free(words);
	return EXIT_PROBLEM;
}
