// SPDX-License-Identifier: GPL-2.0
/* pvperf-trace: pvperf runs it for its commands record and merge. */
#include "command.h"
#include "trace.h"

static const struct command {
	const char *name, *help;
	int (*run)(int argc, char **argv);
} commands[] = {
	{ "record", record_help, command_record },
	{ "merge", merge_help, command_merge },
	{ 0 },
};

static const struct command *command_find(const char *name)
{
	const struct command *c;

	for (c = commands; c->name && strcmp(c->name, name); c++)
		;
	return c->name ? c : NULL;
}

static bool is_help(const char *word)
{
	return !strcmp(word, "--help") || !strcmp(word, "-h");
}

/* How many words there are before the command that record runs, which has options of its own. */
static int record_words(int argc, char **argv)
{
	int n = 0;

	while (n < argc && *argv[n] == '-' && strcmp(argv[n], "--") && !is_help(argv[n]))
		n += strchr(argv[n], '=') || (argv[n][1] != '-' && argv[n][2]) ? 1 : 2;
	return n < argc && is_help(argv[n]) ? n + 1 : n < argc ? n : argc;
}

/* -h is an option of merge. */
static bool wants_help(const struct command *command, int argc, char **argv)
{
	if (command->run == command_record)
		argc = record_words(argc, argv);
	while (argc--) {
		if (is_help(*argv) && (argv[0][1] == '-' || command->run != command_merge))
			return true;
		argv++;
	}
	return false;
}

int main(int argc, char **argv)
{
	bool help = argc == 3 && !strcmp(argv[1], "help");
	const struct command *command = argc > 1 ? command_find(argv[1 + help]) : NULL;

	if (!command) {
		fprintf(stderr, "pvperf-trace: run it as pvperf record or pvperf merge; see pvperf help\n");
		return EXIT_USAGE;
	}
	if (!help && !wants_help(command, argc - 2, argv + 2))
		return command_finish(command->run(argc - 1, argv + 1));
	fputs(command->help, stdout);
	return command_finish(EXIT_FITS);
}
