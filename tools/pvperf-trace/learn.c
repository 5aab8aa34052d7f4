// SPDX-License-Identifier: GPL-2.0
#include <inttypes.h>
#include <stdlib.h>
#include "command.h"
#include "fault.h"
#include "grow.h"
#include "learn.h"

static bool full;		/* no room for a clock event */

const char *clock_of(const struct copies *copies, const struct dat *dat)
{
	return dat == &copies->host ? "pvperf_clock" : "pvperf_guest_clock";
}

static void apart_see(struct dat *dat, uint64_t time, uint64_t tsc)
{
	if (clock_apart(time, tsc) < dat->apart)
		dat->apart = clock_apart(time, tsc);
}

#define SPEED_NS	100000000	/* two readings that are nearer to each other tell little */

/* How fast the host's TSC is: from its first clock event to each later one. */
static void speed_see(struct copies *copies, uint64_t tsc, uint64_t boot)
{
	static uint64_t first_tsc, first_boot;

	if (!first_tsc) {
		first_tsc = tsc;
		first_boot = boot;
	} else if (tsc > first_tsc && boot > first_boot + SPEED_NS) {
		copies->per_second = (double)(tsc - first_tsc) / (boot - first_boot) * 1e9;
	}
}

/* A thread that runs a vCPU. */
struct thread {
	/*
	 * Its last exit was not by an instruction that accesses an MSR, as it is when a guest
	 * sets its TSC; the VMM, which does so to load a state, has another exit before.
	 */
	bool no_msr;
	struct clock debugfs;	/* by KVM's debugfs; .map.ratio 0: not known */
};

static struct thread *thread_of(uint64_t tid)
{
	static struct tids threads = { .each = sizeof(struct thread) };
	static struct thread none;
	struct thread *t = tids_at(&threads, tid);

	full |= !t && tid < TIDS;
	none = (struct thread){ };
	return t ?: &none;
}

#define EXIT_VMX_WRMSR	32
#define EXIT_VMX_WRMSR_IMM 85
#define EXIT_SVM_MSR	0x7c

static void exit_see(struct tep_event *e, struct tep_record *record)
{
	uint64_t tid, reason, isa = 0;
	bool msr;

	if (!dat_number(e, record, "common_pid", &tid) || !dat_number(e, record, "exit_reason", &reason))
		return;
	dat_number(e, record, "isa", &isa);
	reason = (uint16_t)reason;
	msr = isa == 1 ? reason == EXIT_VMX_WRMSR || reason == EXIT_VMX_WRMSR_IMM : reason == EXIT_SVM_MSR;
	thread_of(tid)->no_msr = !msr;
}

/* A line that pvperf record writes into the host's trace: a vCPU's files in KVM's debugfs. */
static void print_take(struct copies *copies, struct tep_event *e, struct tep_record *record)
{
	struct clock c = { .at = record->ts, .map.ratio = 1, .by_guest = true };
	char text[200];
	int n;

	dat_rest(e, record, "buf", text, sizeof(text));
	n = sscanf(text, "pvperf: vm=%" SCNu64 " vcpu=%" SCNu64 " tid=%" SCNu64 " offset=%" SCNd64
		   " ratio=%" SCNu64 " frac=%u", &c.vm, &c.vcpu, &c.tid, (int64_t *)&c.map.offset,
		   &c.map.ratio, &c.map.frac);
	if (n < 4)
		return;
	c.name = c.vm;
	thread_of(c.tid)->debugfs = c;
	full |= !clocks_add(&copies->clocks, &c);
}

/* KVM's own event of a step, of a thread whose vCPU is known. */
static void offset_take(struct copies *copies, struct tep_event *e, struct tep_record *record)
{
	struct thread *t;
	uint64_t tid;

	if (!dat_number(e, record, "common_pid", &tid))
		return;
	t = thread_of(tid);
	if (!t->debugfs.map.ratio || !dat_number(e, record, "next_tsc_offset", &t->debugfs.map.offset))
		return;
	t->debugfs.at = record->ts;
	t->debugfs.by_guest = !t->no_msr;
	full |= !clocks_add(&copies->clocks, &t->debugfs);
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
	copies->clocks.by_index |= !dat_number(e, record, "apic", &c.vcpu);
	dat_number(e, record, "vm", &c.vm);
	c.by_guest = !thread_of(c.tid)->no_msr;
	apart_see(&copies->host, record->ts, tsc);
	if (dat_number(e, record, "boot", &boot))
		speed_see(copies, tsc, boot);
	full |= !clocks_add(&copies->clocks, &c);
}

static void name_take(struct dat *guest, struct tep_event *e, struct tep_record *record)
{
	uint64_t name, tsc, apic;

	if (!dat_number(e, record, "clock", &name) || !dat_number(e, record, "tsc", &tsc))
		return;
	apart_see(guest, record->ts, tsc);
	if (record->cpu < CPUS_MAX && dat_number(e, record, "apic", &apic)) {
		guest->apics[record->cpu] = apic_of(apic);
		guest->tells_apics |= apic_of(apic) != APIC_UNKNOWN;
	}
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
	else if (e->id == copies->host.print)
		print_take(copies, e, record);
	else if (e->id == copies->host.write_offset)
		offset_take(copies, e, record);
}

/* The last event of each CPU, by buffer. */
static uint64_t *last_at(struct dat *dat, struct tracecmd_input *buffer, unsigned int cpu)
{
	static uint64_t last[BUFFERS_MAX][CPUS_MAX], none;
	int i;

	for (i = 0; i < dat->nr_buffers && cpu < CPUS_MAX; i++)
		if (dat->buffers[i] == buffer)
			return &last[i][cpu];
	none = 0;
	return &none;
}

static int learn(struct tracecmd_input *buffer, struct tep_record *record, int cpu, void *copies)
{
	struct dat *dat = dat_of(buffer);
	struct tep_event *e = dat_event(buffer, record);

	if (record->ts < dat->first)
		dat->first = record->ts;
	if (record->ts > dat->last)
		dat->last = record->ts;
	if (record->cpu >= (int)dat->cpus)
		dat->cpus = record->cpu + 1;
	if (dat == &((struct copies *)copies)->host)
		*last_at(dat, buffer, record->cpu) = record->ts;
	if (e && dat == &((struct copies *)copies)->host)
		host_learn(copies, e, record);
	else if (e && e->id == dat->clock)
		name_take(dat, e, record);
	return 0;
}

/* Of the host. What was lost is behind the CPU's last event that came. */
static int gap_take(struct tracecmd_input *buffer, struct tep_event *e, struct tep_record *record,
		    int cpu, void *arg)
{
	struct copies *copies = arg;
	struct gap *more = grow(copies->gaps, copies->nr_gaps, sizeof(*more));

	full |= !more;
	if (!more)
		return 0;
	copies->gaps = more;
	more[copies->nr_gaps++] = (struct gap){ *last_at(&copies->host, buffer, record->cpu), record->ts };
	return 0;
}

static int gap_compare(const void *a, const void *b)
{
	const struct gap *one = a, *two = b;

	return one->from < two->from ? -1 : one->from > two->from;
}

int dat_learn(struct copies *copies, struct dat *dat)
{
	int status, cpu, stopped, i;

	dat->is_guest = dat != &copies->host;
	status = dat_begin(dat, clock_of(copies, dat));
	if (status)
		return status;
	dat->first = dat->apart = UINT64_MAX;
	for (cpu = 0; cpu < CPUS_MAX; cpu++)
		dat->apics[cpu] = APIC_UNKNOWN;
	for (i = 0; dat == &copies->host && i < dat->nr_buffers; i++)
		tracecmd_follow_missed_events(dat->buffers[i], gap_take, copies);
	stopped = dats_read(&dat, 1, learn, copies);
	if (dat == &copies->host && copies->nr_gaps)
		qsort(copies->gaps, copies->nr_gaps, sizeof(*copies->gaps), gap_compare);
	dat_end(dat);
	if (stopped)
		return merge_failed(dat->path, "libtracecmd can't read it to its end: an event without a format in the file is the first behind lost ones; record with greater buffers (-b)");
	if (dat->cpus > CPUS_MAX)
		return merge_failed(dat->path, "it has more CPUs than pvperf can merge");
	if (dat->apart != UINT64_MAX && dat->apart > CLOCK_APART_MAX)
		return merge_failed(dat->path, merge_no_tsc);
	return full ? merge_failed(dat->path, "no memory for its clock events and gaps, or more than a million of them: record for a shorter time, or without the guest that sets its TSC so often") : EXIT_FITS;
}
