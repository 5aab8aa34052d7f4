// SPDX-License-Identifier: GPL-2.0
/*
 * pvperf merge: the command line.
 */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "command.h"
#include "fault.h"
#include "merge.h"
#include "quote.h"
#include "stamp.h"
#include "trace.h"

const char merge_help[] =
"pvperf merge DIR\n"
"pvperf merge -h HOST -g GUEST [--vm PID] [-g GUEST]... [-o DIR] [-t OFFSET[,RATIO,FRAC]]\n"
"pvperf merge ... --why TASK|PID [--over TIME] [--json]\n"
"        put what pvperf record left in DIR, or what else was recorded on host and\n"
"        guests, in one order of time, by the clock events in it, or with -t by that offset\n"
"        of the guest's TSC: of trace.dat files make copies in DIR (merged) that trace-cmd\n"
"        report and kernelshark show so; text is printed;\n"
"        --why: tell where the time went from each wake-up of that guest's task until it\n"
"        ran, if it was more than TIME (1ms; units s, ms, us)\n";

static int usage(const char *what)
{
	fprintf(stderr, "pvperf: merge: %s; see pvperf help merge\n", what);
	return EXIT_USAGE;
}

/* Up to the end or a comma, where @text is then: decimal, or after 0x. */
static bool number_parse(const char **text, uint64_t *value)
{
	const char *digits = *text + (**text == '-');
	char *end;

	errno = 0;
	*value = strtoull(*text, &end, strncasecmp(digits, "0x", 2) ? 10 : 16);
	if (!isdigit((unsigned char)*digits) || errno || (*end && *end != ','))
		return false;
	*text = end;
	return true;
}

static bool more_parse(const char **text, uint64_t *value)
{
	return *(*text)++ == ',' && number_parse(text, value);
}

static bool map_parse(struct map *map, const char *text)
{
	uint64_t frac = 0;

	*map = (struct map){ .ratio = 1 };
	if (!number_parse(&text, &map->offset))
		return false;
	if (*text && !(more_parse(&text, &map->ratio) && more_parse(&text, &frac)))
		return false;
	map->frac = frac;
	return !*text && map->ratio && frac < 63;
}

/* "1ms", "250us", "0.5s" */
static bool time_parse(double *seconds, const char *text)
{
	static const struct {
		const char *unit;
		double seconds;
	} units[] = { { "s", 1 }, { "ms", 1e-3 }, { "us", 1e-6 } };
	char *end;
	double value = strtod(text, &end);
	size_t i;

	for (i = 0; i < sizeof(units) / sizeof(*units); i++) {
		*seconds = value * units[i].seconds;
		if (end > text && value >= 0 && !strcmp(end, units[i].unit))
			return true;
	}
	return false;
}

static int why_take(struct why *why, int c)
{
	if (c == 'w')
		why->task = optarg;
	else if (c == 'j')
		why->json = true;
	else if (!time_parse(&why->over, optarg))
		return usage("--over wants a time, as 1ms or 250us");
	return EXIT_FITS;
}

static bool process_of(const char *text, uint64_t *pid)
{
	char *end;

	*pid = strtoull(text, &end, 10);
	return *pid && *pid <= INT_MAX && isdigit((unsigned char)*text) && !*end;
}

static int option_take(struct merge *merge, int c)
{
	if (c == 'w' || c == 'v' || c == 'j')
		return why_take(&merge->why, c);
	if (c == 'h') {
		merge->host = optarg;
	} else if (c == 'm') {
		if (!merge->nr_guests || !process_of(optarg, &merge->vms[merge->nr_guests - 1]))
			return usage("--vm wants the process of the -g before it");
		merge->vms_given = true;
	} else if (c == 'H') {
		fputs(merge_help, stdout);
		exit(command_finish(EXIT_FITS));
	} else if (c == 'o') {
		merge->dir = optarg;
	} else if (c == 't') {
		if (!map_parse(&merge->given, optarg))
			return usage("-t wants OFFSET or OFFSET,RATIO,FRAC, as pvperf_clock tells them");
	} else if (c == 'g') {
		if (merge->nr_guests == GUESTS_MAX)
			return usage("too many guests");
		merge->guests[merge->nr_guests++] = optarg;
	} else {
		return usage("unknown option, or one without its value");
	}
	return EXIT_FITS;
}

static int is_dat_name(const struct dirent *entry)
{
	size_t len = strlen(entry->d_name);

	return *entry->d_name != '.' && len > 4 && !strcmp(entry->d_name + len - 4, ".dat");
}

static char *path_of(const char *dir, const char *name)
{
	char *path;

	return asprintf(&path, "%s/%s", dir, name) < 0 ? NULL : path;
}

/* What pvperf record makes: host.dat, and a file of each guest. The names are never freed. */
static int dir_take(struct merge *merge, const char *dir)
{
	struct dirent **found;
	int i, n;

	if (merge->host || merge->nr_guests || merge->given.ratio)
		return usage("unexpected argument");
	n = scandir(dir, &found, is_dat_name, alphasort);
	if (n <= 0)
		return merge_failed(dir, n ? strerror(errno) : "there are no .dat files; pvperf record makes them");
	for (i = 0; i < n; i++) {
		if (!strcmp(found[i]->d_name, "host.dat"))
			merge->host = path_of(dir, found[i]->d_name);
		else if (merge->nr_guests < GUESTS_MAX)
			merge->guests[merge->nr_guests++] = path_of(dir, found[i]->d_name);
		free(found[i]);
	}
	free(found);
	if (n > GUESTS_MAX + 1)
		return usage("too many guests");
	merge->dir = merge->dir ?: path_of(dir, "merged");
	return merge->host && merge->nr_guests ? EXIT_FITS :
		merge_failed(dir, "there is no host.dat with a guest's file beside it");
}

static int options_take(struct merge *merge, int argc, char **argv)
{
	static const struct option options[] = {
		{ "why", required_argument, NULL, 'w' },
		{ "over", required_argument, NULL, 'v' },
		{ "json", no_argument, NULL, 'j' },
		{ "vm", required_argument, NULL, 'm' },
		{ "help", no_argument, NULL, 'H' },
		{ }
	};
	int c, status = EXIT_FITS;

	while (!status && (c = getopt_long(argc, argv, "h:g:o:t:", options, NULL)) != -1)
		status = option_take(merge, c);
	if (status)
		return status;
	if ((merge->why.json || merge->why.over >= 0) && !merge->why.task)
		return usage("--json and --over go with --why");
	if (merge->why.task && merge->given.ratio)
		return usage("--why does not go with -t, as nobody says then which thread runs the vCPU");
	if (merge->vms_given && merge->given.ratio)
		return usage("--vm does not go with -t, which tells the clock");
	if (optind + 1 < argc)
		return usage("unexpected argument");
	if (optind < argc)
		return dir_take(merge, argv[optind]);
	if (!merge->host || !merge->nr_guests)
		return usage("it wants DIR, or -h HOST and -g GUEST");
	if (merge->given.ratio && merge->nr_guests > 1)
		return usage("-t is of one guest");
	return EXIT_FITS;
}

/* Text may come out of pipes; they are not tried, as what is read of them is gone. */
static bool is_dat(const char *path)
{
	int fd = strcmp(path, "-") ? open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC) : -1;
	bool dat = fd >= 0 && stamp_is_dat(fd);

	if (fd >= 0)
		close(fd);
	return dat;
}

int command_merge(int argc, char **argv)
{
	static struct merge merge = { .why.over = -1 };
	int status = options_take(&merge, argc, argv);

	if (status)
		return status;
	if (merge.why.over < 0)
		merge.why.over = 1e-3;
	if (is_dat(merge.host) || is_dat(merge.guests[0])) {
		merge.dir = merge.dir ?: "merged";
		return merge_dat(&merge);
	}
	if (merge.dir || merge.why.task || merge.vms_given)
		return usage("-o, --vm and --why are for trace.dat files");
	return merge_text(&merge);
}
