// SPDX-License-Identifier: GPL-2.0
/*
 * pvperf: parse the command line, and run the command.
 */
#include <errno.h>
#include <getopt.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include "command.h"

#define OPT_HOST	1
#define OPT_GUEST	2
#define OPT_JSON	4
#define OPT_HELP	8
#define OPT_VERSION	16

static const struct command {
	const char *name;
	int (*run)(const struct options *options);
	int takes;
	const char *help;
	int (*own)(int argc, char **argv);	/* instead of .run: takes its options itself */
} commands[] = {
	{ "check", command_check, OPT_JSON | OPT_HOST | OPT_GUEST,
	  "pvperf check [--host] [--guest] [--json]\n"
	  "        check whether pvperf can work here, and say how to mend what is wrong;\n"
	  "        --host, --guest: only as that side; --json: one JSON object\n" },
	{ "list", command_list, OPT_JSON,
	  "pvperf list [--json]\n"
	  "        on a host: list the VMs that use pvperf, with their vCPUs and events\n" },
	{ "policy", .help = policy_help, .own = command_policy },
	{ "set", .help = set_help, .own = command_set },
	{ "refused", command_refused, OPT_JSON,
	  "pvperf refused [--json]\n"
	  "        on a host: list what VMs were refused, and which word of a policy would allow it\n" },
	{ "record", .help = "pvperf record ..., pvperf merge ...\n"
	  "        traces of host and guests in one order of time; see pvperf help record, help merge\n",
	  .own = command_trace },
	{ "merge", .help = "", .own = command_trace },
	{ 0 },
};

static const char help_more[] =
"pvperf help [COMMAND]\n"
"pvperf version\n"
"\n"
"Exit status: 0 no problem was found, 1 a problem was found or the command\n"
"failed, 2 the command line is wrong, 3 merge is done and in doubt, or\n"
"the rules hold and wait for a VM. See pvperf(8).\n";

static const struct option option_list[] = {
	{ "json", no_argument, NULL, OPT_JSON },
	{ "host", no_argument, NULL, OPT_HOST },
	{ "guest", no_argument, NULL, OPT_GUEST },
	{ "help", no_argument, NULL, 'h' },
	{ "version", no_argument, NULL, 'V' },
	{ 0 },
};

int command_usage(const char *what, const char *word, const char *help)
{
	fprintf(stderr, "pvperf: %s%s%s; see pvperf help%s\n", what, word ? " " : "",
		word ? word : "", help);
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

/* Of one command, or with NULL of all. */
static int help(const char *name)
{
	const struct command *c;

	if (name) {
		c = command_find(name);
		if (!c)
			return command_usage("unknown command", name, "");
		if (c->own == command_trace)
			return command_trace(2, (char *[]){ "help", (char *)c->name });
		fputs(c->help, stdout);
		return EXIT_FITS;
	}
	for (c = commands; c->name; c++)
		fputs(c->help, stdout);
	fputs(help_more, stdout);
	return EXIT_FITS;
}

static int run(const struct command *command, int given)
{
	struct options options = {
		.json = given & OPT_JSON,
		.host = given & OPT_HOST,
		.guest = given & OPT_GUEST,
	};

	if (given & ~command->takes)
		return command_usage(given & OPT_JSON ? "put --json behind" :
				     "--host and --guest are options of check, not of", command->name, "");
	return command->run(&options);
}

/* pvperf-trace looks for its own. */
static bool wants_help(const struct command *command, int argc, char **argv)
{
	while (argc-- && command->own != command_trace)
		if (!strcmp(*argv, "--help") || !strcmp(*argv, "-h"))
			return true;
		else
			argv++;
	return false;
}

/* The words after the options. */
static int words(int n, char **word, int given)
{
	const struct command *command;

	if (given & OPT_VERSION || !strcmp(*word, "version"))
		return puts("pvperf " PVPERF_VERSION) < 0;
	if (!strcmp(*word, "help"))
		return help(n > 1 && strcmp(word[1], "help") ? word[1] : NULL);
	if (given & OPT_HELP)
		return help(*word);
	command = command_find(*word);
	if (!command)
		return command_usage("unknown command", *word, "");
	if (command->own && !given) {
		optind = 0;	/* it begins anew */
		return command->own(n, word);
	}
	if (n > 1)
		return command_usage("unexpected argument", word[1], "");
	return run(command, given);
}

int main(int argc, char **argv)
{
	const struct command *command = argc > 1 ? command_find(argv[1]) : NULL;
	char letter[] = "-?";
	int c, given = 0;

	opterr = 0;
	if (command && wants_help(command, argc - 2, argv + 2))
		return command_finish(help(command->name));
	if (command && command->own)
		return command_finish(command->own(argc - 1, argv + 1));
	while ((c = getopt_long(argc, argv, "hV", option_list, NULL)) != -1) {
		if (c == '?') {
			letter[1] = optopt;
			return command_usage("unknown option", strncmp(argv[optind - 1], "--", 2) ? letter : argv[optind - 1], "");
		}
		given |= c == 'h' ? OPT_HELP : c == 'V' ? OPT_VERSION : c;
	}
	if (optind < argc)
		return command_finish(words(argc - optind, argv + optind, given));
	if (given & OPT_VERSION)
		return command_finish(puts("pvperf " PVPERF_VERSION) < 0);
	if (given & OPT_HELP)
		return command_finish(help(NULL));
	return command_usage("no command given", NULL, "");
}
