// SPDX-License-Identifier: GPL-2.0
/* pvperf-trace: pvperf runs it for its commands record and merge. */
#include <signal.h>
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

int main(int argc, char **argv)
{
	bool help = argc == 3 && !strcmp(argv[1], "help");
	const struct command *command = argc > 1 ? command_find(argv[1 + help]) : NULL;

	if (!command) {
		fprintf(stderr, "pvperf-trace: run it as pvperf record or pvperf merge; see pvperf help\n");
		return EXIT_USAGE;
	}
	signal(SIGCHLD, SIG_DFL);	/* whoever runs us may ignore it, and so have no child waited for */
	if (help)
		fputs(command->help, stdout);
	return command_finish(help ? EXIT_FITS : command->run(argc - 1, argv + 1));
}
