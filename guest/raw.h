/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _PVPERF_GUEST_RAW_H
#define _PVPERF_GUEST_RAW_H

/*
 * Which bits of a raw event's config the CPU maker's own perf driver uses, and which
 * it ignores. libpfm4, rr and scripts pass codes with bits that the driver sets
 * itself. This file knows neither KVM nor perf, and is tested in userspace.
 */

#include <linux/types.h>

enum pvperf_raw_maker {
	PVPERF_RAW_OTHER,	/* event select, unit mask, edge, invert, counter mask */
	PVPERF_RAW_AMD,		/* and Hygon: the same, select has four more bits */
	PVPERF_RAW_INTEL,
	PVPERF_RAW_INTEL_TSX,	/* Intel with HLE or RTM */
};

/*
 * Returns @config without the bits that the maker's driver ignores. The bits that the
 * driver uses and we do not support remain, so that the host's policy refuses them.
 */
__u64 pvperf_raw_config(enum pvperf_raw_maker maker, __u64 config);

/*
 * Does the driver need .config1 to program this event? OPEN has no .config1, so the
 * host would count something else.
 */
int pvperf_raw_wants_config1(enum pvperf_raw_maker maker, __u64 config);

/* Has it bits besides select, unit mask, edge, invert and counter mask? */
int pvperf_raw_has_more(enum pvperf_raw_maker maker, __u64 config);

#endif /* _PVPERF_GUEST_RAW_H */
