// SPDX-License-Identifier: GPL-2.0
/*
 * pvperf: parse the command line, and run the command.
 */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <string.h>
#include "command.h"

#define OPT_HOST	1
#define OPT_GUEST	2
#define OPT_JSON	4

static const struct command {
	const char *name;
	int (*run)(const struct options *options);
	int takes;
} commands[] = {
	{ "check", command_check, OPT_JSON | OPT_HOST | OPT_GUEST },
	{ "list", command_list, OPT_JSON },
	{ 0 },
};

static const char help[] =
"pvperf check [--host] [--guest] [--json]\n"
"        check whether pvperf can work here, and say how to mend what is wrong\n"
"pvperf list [--json]\n"
"        on a host: list the VMs that use pvperf, with their vCPUs and events\n"
"pvperf --help\n"
"pvperf --version\n"
"\n"
"Exit status: 0 no problem was found, 1 a problem was found or the command\n"
"failed, 2 the command line is wrong. See pvperf(1).\n";

static const struct option option_list[] = {
	{ "json", no_argument, NULL, OPT_JSON },
	{ "host", no_argument, NULL, OPT_HOST },
	{ "guest", no_argument, NULL, OPT_GUEST },
	{ "help", no_argument, NULL, 'h' },
	{ "version", no_argument, NULL, 'V' },
	{ 0 },
};

static int usage(const char *what, const char *word)
{
	fprintf(stderr, "pvperf: %s%s%s; see pvperf --help\n",
		what, word ? " " : "", word ? word : "");
	return EXIT_USAGE;
}

static const struct command *command_find(const char *name)
{
	const struct command *c;

	for (c = commands; c->name; c++) {
		if (!strcmp(c->name, name))
			return c;
	}
	return NULL;
}

static int run(const struct command *command, int given)
{
	struct options options = {
		.json = given & OPT_JSON,
		.host = given & OPT_HOST,
		.guest = given & OPT_GUEST,
	};

	if (given & ~command->takes)
		return usage("--host and --guest are options of check, not of",
			     command->name);
	return command->run(&options);
}

/* A full disk or a closed pipe shows only when the output is flushed. */
static int finish(int status)
{
	if (!fflush(stdout) && !ferror(stdout))
		return status;
	fprintf(stderr, "pvperf: can't write the output: %s\n",
		strerror(errno));
	return EXIT_PROBLEM;
}

int main(int argc, char **argv)
{
	const struct command *command;
	int c, given = 0;

	opterr = 0;
	while ((c = getopt_long(argc, argv, "hV", option_list, NULL)) != -1) {
		switch (c) {
		case 'h':
			fputs(help, stdout);
			return finish(EXIT_FITS);
		case 'V':
			printf("pvperf %s\n", PVPERF_VERSION);
			return finish(EXIT_FITS);
		case '?':
			return usage("unknown option", argv[optind - 1]);
		default:
			given |= c;
		}
	}
	if (optind == argc)
		return usage("no command given", NULL);
	command = command_find(argv[optind]);
	if (!command)
		return usage("unknown command", argv[optind]);
	if (optind + 1 < argc)
		return usage("unexpected argument", argv[optind + 1]);
	return finish(run(command, given));
}
