// SPDX-License-Identifier: GPL-2.0
/* Why files cannot be merged: said by whoever finds it. */
#include <inttypes.h>
#include <stdio.h>
#include "command.h"
#include "fault.h"
#include "quote.h"

const char merge_no_rights[] = "can't give up rights before reading";
const char merge_no_name[] = "no pvperf_guest_clock in it: record pvperf:pvperf_guest_clock, too, or give -t OFFSET";
const char merge_moved[] = "the VM has two names in it: it moved to another host, or the host's module was loaded again; record both sides anew";
const char merge_no_tsc[] = "its times are not the TSC: record it by trace-cmd record -C x86-tsc, without -A";
const char merge_no_proof[] = "pvperf: merge: -t is taken as given: whether events lie where their vCPUs ran is not looked at\n";

int merge_failed(const char *path, const char *why)
{
	quote_begin(path);
	fprintf(stderr, "%s\n", why);
	return EXIT_PROBLEM;
}

int merge_broke(const char *what)
{
	fprintf(stderr, "pvperf: merge: %s: %s\n", what, strerror(errno));
	return EXIT_PROBLEM;
}

int merge_no_clock(const char *host, const char *guest, uint64_t name)
{
	quote_begin(host);
	fprintf(stderr, "no pvperf_clock with clock=%016" PRIx64 ", which is ", name);
	quote(stderr, guest);
	fputs(": record pvperf:pvperf_clock on that guest's host\n", stderr);
	return EXIT_PROBLEM;
}
