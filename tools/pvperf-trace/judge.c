// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include "command.h"
#include "fault.h"
#include "judge.h"
#include "learn.h"
#include "quote.h"

static bool asked;		/* --why */

static void guest_judge(struct tracecmd_input *buffer, struct tep_record *record)
{
	struct dat *dat = dat_of(buffer);
	unsigned int cpu = record->cpu;
	uint64_t tid;

	if (cpu >= dat->cpus || dat->runs[cpu].others) {
		dat->strange++;
		if (asked)	/* a task may have run there */
			why_guest_forget(dat);
		return;
	}
	tid = run_thread(&dat->runs[cpu], record->ts);
	if (tid)
		proof_judge(&dat->shares[cpu], tid, record->ts);
	if (asked)
		why_guest(buffer, record);
}

/* From the last event before a gap on, an entry or exit may be missing. */
static void gaps_pass(const struct copies *copies, uint64_t at)
{
	static size_t passed;

	for (; passed < copies->nr_gaps && copies->gaps[passed].from < at; passed++)
		proof_forget();
}

static int judge(struct tracecmd_input *buffer, struct tep_record *record, int cpu, void *copies)
{
	struct tep_event *e = dat_event(buffer, record);
	const struct dat *host = &((struct copies *)copies)->host;
	uint64_t tid;

	gaps_pass(copies, record->ts);
	if (dat_of(buffer) != host) {
		guest_judge(buffer, record);
		return 0;
	}
	if (asked)
		why_host(buffer, record);
	if (e && e->id == host->entry && dat_number(e, record, "common_pid", &tid))
		proof_entry(tid);
	if (e && e->id == host->exit && dat_number(e, record, "common_pid", &tid))
		proof_exit(tid, record->ts);
	return 0;
}

/* Of the guest. The proof goes by the host's events. */
static int guest_lost(struct tracecmd_input *buffer, struct tep_event *e, struct tep_record *record,
		      int cpu, void *unused)
{
	dat_of(buffer)->losses++;
	if (asked)
		why_guest_forget(dat_of(buffer));
	return 0;
}

static int lost(struct tracecmd_input *buffer, struct tep_event *e, struct tep_record *record,
		int cpu, void *unused)
{
	dat_of(buffer)->losses++;
	proof_forget();
	return 0;
}

static int steps_tell(const struct dat *guest, unsigned int cpu)
{
	const struct shift *shift = &guest->shifts[cpu];

	if (shift->steps) {
		quote_begin(guest->path);
		fprintf(stderr, "CPU %u: steps of its clock: %u\n", cpu, shift->steps);
	}
	if (!shift->back)
		return EXIT_FITS;
	quote_begin(guest->path);
	fprintf(stderr, "CPU %u: its clock was set back: %u: events after that may have a wrong time\n",
		cpu, shift->back);
	return EXIT_DOUBT;
}

static int cpu_tell(const struct dat *guest, unsigned int cpu)
{
	int status = steps_tell(guest, cpu);

	return proof_tell(guest->path, cpu, &guest->shares[cpu]) ? status : EXIT_DOUBT;
}

/* Their times are those of another CPU's clock. */
static int strange_tell(const struct dat *guest)
{
	if (!guest->strange)
		return EXIT_FITS;
	quote_begin(guest->path);
	fprintf(stderr, "%" PRIu64 " events may have a wrong time: no clock event tells their CPU's clock\n",
		guest->strange);
	return EXIT_DOUBT;
}

static int asked_begin(const struct copies *copies, const struct why *why)
{
	const struct dat *guest;
	const struct clock *c;
	unsigned int cpu;

	if (!copies->per_second)
		return merge_failed(copies->host.path, "it does not tell how fast the TSC is: record pvperf:pvperf_clock for more than a second");
	why_begin(why, copies);
	asked = true;
	for (guest = copies->guests; guest < copies->guests + copies->nr_guests; guest++)
		for (cpu = 0; cpu < guest->cpus; cpu++)
			for (c = guest->runs[cpu].now; asked && c < guest->runs[cpu].end; c++)
				asked = why_vcpu(c->tid);
	return asked ? EXIT_FITS : merge_failed(copies->host.path, strerror(ENOMEM));
}

static int guest_tell(const struct dat *guest)
{
	int status = EXIT_FITS;
	unsigned int cpu;

	for (cpu = 0; cpu < guest->cpus; cpu++)
		status |= cpu_tell(guest, cpu);
	return status | strange_tell(guest);
}

static void losses_tell(const struct dat *dat)
{
	if (!dat->losses)
		return;
	quote_begin(dat->path);
	fprintf(stderr, "gaps in which events were lost: %" PRIu64 ": record with greater buffers (-b)\n", dat->losses);
}

/* Begins to read all of them; their number. */
static int all_begin(struct copies *copies, struct dat **all, int *status)
{
	int i;

	for (i = 0; !*status && i <= copies->nr_guests; i++) {
		all[i] = i ? &copies->guests[i - 1] : &copies->host;
		*status = dat_begin(all[i], clock_of(copies, all[i]));
	}
	return i;
}

int judge_all(struct copies *copies, const struct why *why)
{
	struct dat *all[GUESTS_MAX + 1];
	int status = EXIT_FITS, n = all_begin(copies, all, &status), n_guest, i;

	if (!status && why->task)
		status = asked_begin(copies, why);
	if (status)
		return status;
	for (i = 0; i < copies->host.nr_buffers; i++)
		tracecmd_follow_missed_events(copies->host.buffers[i], lost, NULL);
	for (n_guest = 0; n_guest < copies->nr_guests; n_guest++)
		for (i = 0; i < copies->guests[n_guest].nr_buffers; i++)
			tracecmd_follow_missed_events(copies->guests[n_guest].buffers[i], guest_lost, NULL);
	if (dats_read(all, n, judge, copies))
		return merge_failed(copies->host.path, strerror(ENOMEM));
	if (asked && !why_end())
		status = EXIT_DOUBT;
	for (i = 0; i < n; i++)
		losses_tell(all[i]);
	for (i = 0; i < copies->nr_guests; i++)
		status |= guest_tell(&copies->guests[i]);
	return status;
}
