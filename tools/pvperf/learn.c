// SPDX-License-Identifier: GPL-2.0
#include <stdlib.h>
#include "command.h"
#include "learn.h"

/* How far an event's time may be from the TSC in it; of one event at least. */
#define APART_MAX	100000

static bool full;		/* no room for a clock event */
const char *clock_of(const struct copies *copies, const struct dat *dat)
{
	return dat == &copies->host ? "pvperf_clock" : "pvperf_guest_clock";
}

static void apart_see(struct dat *dat, uint64_t time, uint64_t tsc)
{
	uint64_t apart = time < tsc ? tsc - time : time - tsc;

	if (apart < dat->apart)
		dat->apart = apart;
}

/* How fast the host's TSC is: from its first clock event to each later one. */
static void speed_see(struct copies *copies, uint64_t tsc, uint64_t boot)
{
	static uint64_t first_tsc, first_boot;

	if (!first_tsc) {
		first_tsc = tsc;
		first_boot = boot;
	} else if (tsc > first_tsc && boot > first_boot) {
		copies->per_second = (double)(tsc - first_tsc) / (boot - first_boot) * 1e9;
	}
}

/*
 * Whether the last exit of each thread was by an instruction that writes an MSR, as a guest
 * does to set its TSC; the VMM, which does so to load a state, has another exit before.
 */
static uint8_t *writing;

#define EXIT_VMX_WRMSR	32
#define EXIT_SVM_MSR	0x7c

static void exit_see(struct tep_event *e, struct tep_record *record)
{
	uint64_t tid, reason, isa = 0;

	if (!writing)
		writing = calloc(TIDS, sizeof(*writing));
	if (!writing || !dat_number(e, record, "common_pid", &tid) || tid >= TIDS)
		return;
	dat_number(e, record, "isa", &isa);
	writing[tid] = dat_number(e, record, "exit_reason", &reason) &&
		       (uint16_t)reason == (isa == 1 ? EXIT_VMX_WRMSR : EXIT_SVM_MSR);
}

/* If no exit is known, it may be. */
static bool writes_msr(uint64_t tid)
{
	return !writing || tid >= TIDS || writing[tid];
}

static void clock_take(struct copies *copies, struct tep_event *e, struct tep_record *record)
{
	struct clock c = { .at = record->ts };
	uint64_t frac, tsc, boot;

	if (!dat_number(e, record, "clock", &c.name) || !dat_number(e, record, "vcpu", &c.vcpu) ||
	    !dat_number(e, record, "tid", &c.tid) || !dat_number(e, record, "offset", &c.map.offset) ||
	    !dat_number(e, record, "ratio", &c.map.ratio) || !dat_number(e, record, "frac", &frac) ||
	    !dat_number(e, record, "tsc", &tsc))
		return;
	c.map.frac = frac;
	c.by_guest = writes_msr(c.tid);
	apart_see(&copies->host, record->ts, tsc);
	if (dat_number(e, record, "boot", &boot))
		speed_see(copies, tsc, boot);
	full |= !clocks_add(&copies->clocks, &c);
}

static void name_take(struct dat *guest, struct tep_event *e, struct tep_record *record)
{
	uint64_t name, tsc;

	if (!dat_number(e, record, "clock", &name) || !dat_number(e, record, "tsc", &tsc))
		return;
	apart_see(guest, record->ts, tsc);
	if (!guest->name)
		guest->name = name;
	guest->moved |= name && name != guest->name;
}

static void host_learn(struct copies *copies, struct tep_event *e, struct tep_record *record)
{
	if (e->id == copies->host.clock)
		clock_take(copies, e, record);
	else if (e->id == copies->host.exit)
		exit_see(e, record);
}

static int learn(struct tracecmd_input *buffer, struct tep_record *record, int cpu, void *copies)
{
	struct dat *dat = dat_of(buffer);
	struct tep_event *e = dat_event(buffer, record);

	if (record->ts < dat->first)
		dat->first = record->ts;
	if (record->ts > dat->last)
		dat->last = record->ts;
	if (e && dat == &((struct copies *)copies)->host)
		host_learn(copies, e, record);
	else if (e && e->id == dat->clock)
		name_take(dat, e, record);
	return 0;
}

int dat_learn(struct copies *copies, struct dat *dat)
{
	int status = dat_begin(dat, clock_of(copies, dat));

	if (status)
		return status;
	dat->first = dat->apart = UINT64_MAX;
	dats_read(&dat, 1, learn, copies);
	dat_end(dat);
	if (dat->apart != UINT64_MAX && dat->apart > APART_MAX)
		return merge_failed(dat->path, "its times are not the TSC: record it by trace-cmd record -C x86-tsc, without -A");
	return full ? merge_failed(dat->path, "too many clock events") : EXIT_FITS;
}
