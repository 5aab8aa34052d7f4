/* SPDX-License-Identifier: GPL-2.0 */
#ifndef BENCH_MARK_H
#define BENCH_MARK_H

/*
 * What the emulated PMU has counted so far, of all levels, by the lab's RDPMC backdoor
 * (see ../lab/qemu/pmu.patch), printed as by qmark. It is for programs that measure a part
 * of themselves, where a process of qmark would be measured, too.
 */
#include <stdint.h>
#include <stdio.h>

#define MARK_BACKDOOR	0x51500000u
#define MARK_EXIT	0x1000u		/* + exit code */

struct mark {
	uint64_t total, host, guest, exits, calls;
};

static inline uint64_t mark_read(uint32_t index)
{
	uint32_t low, high;

	asm volatile("rdpmc" : "=a" (low), "=d" (high)
			     : "c" (MARK_BACKDOOR | index) : "memory");
	return (uint64_t)high << 32 | low;
}

/* Reads the total last, or first if @first, so that it does not count the readings. */
static inline void mark_take(struct mark *m, int first)
{
	if (first)
		m->total = mark_read(0);
	m->host = mark_read(1);
	m->guest = mark_read(2);
	m->exits = mark_read(6);
	m->calls = mark_read(MARK_EXIT + 0x81);
	if (!first)
		m->total = mark_read(0);
}

static inline void mark_print(const struct mark *m, const char *label, char end)
{
	printf("QM %s.%c total=%llu host=%llu guest=%llu vmexits=%llu x081=%llu\n",
	       label, end, (unsigned long long)m->total,
	       (unsigned long long)m->host, (unsigned long long)m->guest,
	       (unsigned long long)m->exits, (unsigned long long)m->calls);
}

#endif /* BENCH_MARK_H */
