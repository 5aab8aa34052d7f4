/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _PVPERF_CODES_H
#define _PVPERF_CODES_H

/* What both sides know of event codes. No kernel service is used here. */

#include <linux/types.h>

/*
 * Intel's off-core, front-end and load-latency events: on some models the driver gives
 * each an MSR besides the counter, which the hyperthreads of a core share. 0x1b00 is how the
 * kernel itself takes the LBR. @config: a raw event's; bits 0 to 15 are the select and the
 * unit mask.
 */
static inline int pvperf_code_has_msr(__u64 config)
{
	static const __u16 codes[] = {
		0x0127, 0x0227, 0x012a, 0x022a, 0x042a, 0x082a, 0x012b, 0x01b7, 0x02b7, 0x04b7,
		0x08b7, 0x01bb, 0x01c6, 0x02c6, 0x03c6, 0x04c2, 0x01cd, 0x02cd, 0x100b, 0x40ad,
		0x05d0, 0x1b00,
	};
	unsigned int i;

	for (i = 0; i < sizeof(codes) / sizeof(*codes); i++)
		if (codes[i] == (config & 0xffff))
			return 1;
	return 0;
}

/*
 * Intel's architectural events, which mean the same on all kinds of cores of a CPU. @config: a raw
 * event's.
 */
static inline int pvperf_code_is_everywhere(__u64 config)
{
	static const __u16 codes[] = { 0x003c, 0x013c, 0x00c0, 0x412e, 0x4f2e, 0x00c4, 0x00c5 };
	unsigned int i;

	for (i = 0; i < sizeof(codes) / sizeof(*codes); i++)
		if (codes[i] == config)
			return 1;
	return 0;
}

#endif /* _PVPERF_CODES_H */
