/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _PVPERF_GUEST_RAW_H
#define _PVPERF_GUEST_RAW_H

/*
 * What the CPU maker's own perf driver makes of a raw event: which bits of its
 * config it takes, and which it ignores. libpfm4, rr and scripts pass codes with
 * bits that the driver sets itself. Pure: knows neither KVM nor perf, and is tested
 * in userspace.
 */

#include <linux/types.h>

enum pvperf_raw_maker {
	PVPERF_RAW_OTHER,	/* event select, unit mask, edge, invert, counter mask */
	PVPERF_RAW_AMD,		/* and Hygon: four more bits of select */
	PVPERF_RAW_INTEL,
	PVPERF_RAW_INTEL_TSX,	/* with HLE or RTM */
};

/*
 * @config without the bits that the maker's driver ignores. Bits that it takes and
 * we don't stay, for the host's policy to refuse.
 */
__u64 pvperf_raw_config(enum pvperf_raw_maker maker, __u64 config);

/*
 * Does the driver need .config1 to program this event? The host is not told
 * .config1, and would count something else.
 */
int pvperf_raw_wants_config1(enum pvperf_raw_maker maker, __u64 config);

#endif /* _PVPERF_GUEST_RAW_H */
