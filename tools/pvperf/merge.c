// SPDX-License-Identifier: GPL-2.0
/*
 * pvperf merge: the command line.
 */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "command.h"
#include "merge.h"
#include "stamp.h"

const char merge_help[] =
"pvperf merge -h HOST -g GUEST [-g GUEST]... [-o DIR] [-t OFFSET[,RATIO,FRAC]]\n"
"        put what was recorded on host and\n"
"        guests, in one order of time, by the clock events in it, or with -t by that offset\n"
"        of the guest's TSC: of trace.dat files make copies in DIR (merged) that trace-cmd\n"
"        report and kernelshark show so; text is printed\n";

const char merge_no_name[] = "no pvperf_guest_clock in it: record pvperf:pvperf_guest_clock, too, or give -t OFFSET";
const char merge_moved[] = "the VM has two names in it: it moved to another host, or the host's module was loaded again; record both sides anew";

int merge_failed(const char *path, const char *why)
{
	fprintf(stderr, "pvperf: %s: %s\n", path, why);
	return EXIT_PROBLEM;
}

int merge_no_clock(const struct merge *merge, const char *guest, uint64_t name)
{
	fprintf(stderr, "pvperf: %s: no pvperf_clock with clock=%016" PRIx64 ", which is %s: record pvperf:pvperf_clock on that guest's host\n",
		merge->host, name, guest);
	return EXIT_PROBLEM;
}

static int usage(const char *what)
{
	fprintf(stderr, "pvperf: merge: %s; see pvperf help merge\n", what);
	return EXIT_USAGE;
}

static bool map_parse(struct map *map, const char *text)
{
	char *end;

	errno = 0;
	*map = (struct map){ .offset = strtoull(text, &end, 0), .ratio = 1 };
	if (*end == ',') {
		map->ratio = strtoull(end + 1, &end, 0);
		map->frac = *end == ',' ? strtoul(end + 1, &end, 0) : 64;
	}
	return !*end && *text && !errno && map->ratio && map->frac < 63;
}

static int option_take(struct merge *merge, int c)
{
	if (c == 'h') {
		merge->host = optarg;
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

static int options_take(struct merge *merge, int argc, char **argv)
{
	int c, status = EXIT_FITS;

	while (!status && (c = getopt(argc, argv, "h:g:o:t:")) != -1)
		status = option_take(merge, c);
	if (status)
		return status;
	if (optind < argc)
		return usage("unexpected argument");
	if (!merge->host || !merge->nr_guests)
		return usage("it wants -h HOST and -g GUEST");
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
	struct merge merge = { };
	int status = options_take(&merge, argc, argv);

	if (status)
		return status;
	if (is_dat(merge.host) || is_dat(merge.guests[0])) {
		merge.dir = merge.dir ?: "merged";
		return merge_dat(&merge);
	}
	return merge.dir ? usage("-o is for trace.dat files") : merge_text(&merge);
}
