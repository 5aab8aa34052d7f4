// SPDX-License-Identifier: GPL-2.0
/*
 * pvperf merge of trace.dat files: copies that the tools which read such files show in the
 * order of the host's TSC. Who recorded a guest need not be trusted, so a process without
 * rights reads the files, each as it came and once more as it was stamped, for the proof.
 */
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include "command.h"
#include "dat.h"
#include "merge.h"
#include "stamp.h"

#define POINTS_MAX	(1 << 25)	/* of a file: an option is less than 4 GiB */
#define NOBODY		65534

/* Bytes of memory to read them with. */
#ifdef __SANITIZE_ADDRESS__
#define DATA_MAX	RLIM_INFINITY
#else
#define DATA_MAX	(4ull << 30)
#endif
#define EXIT_NO_COPIES	64		/* of the process that reads */

/* How far an event's time may be from the TSC in it; of one event at least. */
#define APART_MAX	100000

static struct dat host, guests[GUESTS_MAX];
static int nr_guests;
static struct clocks clocks;
static bool full;		/* no room for a clock event */
static double per_second;	/* ticks of the host's TSC; 0: not known */

/* ------------------------------------------------------------------- the files */

static const char *base_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static int names_differ(const struct merge *merge)
{
	int i, j;

	for (i = 0; i < merge->nr_guests; i++)
		for (j = -1; j < i; j++)
			if (!strcmp(base_of(merge->guests[i]), base_of(j < 0 ? merge->host : merge->guests[j])))
				return merge_failed(merge->guests[i], "another file has this name, too, and the copies have their files' names: rename one");
	return EXIT_FITS;
}

static bool same_file(int a, int b)
{
	struct stat one, two;

	return !fstat(a, &one) && !fstat(b, &two) && one.st_dev == two.st_dev &&
	       one.st_ino == two.st_ino;
}

static bool copy(int from, int to)
{
	ssize_t n;

	if (ftruncate(to, 0))
		return false;
	while ((n = sendfile(to, from, NULL, 1 << 30)) > 0)
		;
	return !n;
}

static int dat_copy(struct dat *dat, int from, const char *dir)
{
	const char *refused = stamp_refuses(from);

	if (refused)
		return merge_failed(dat->path, refused);
	if (asprintf(&dat->copy, "%s/%s", dir, base_of(dat->path)) < 0)
		return merge_failed(dat->path, strerror(ENOMEM));
	dat->fd = open(dat->copy, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0644);
	if (dat->fd < 0) {
		merge_failed(dat->copy, strerror(errno));
		dat->copy = NULL;
		return EXIT_PROBLEM;
	}
	if (same_file(from, dat->fd)) {
		dat->copy = NULL;
		return merge_failed(dat->path, "lies where its copy has to be: give another folder with -o");
	}
	return copy(from, dat->fd) ? EXIT_FITS : merge_failed(dat->copy, strerror(errno));
}

static int dat_open(struct dat *dat, const char *path, const char *dir)
{
	int from = open(path, O_RDONLY | O_CLOEXEC), status;

	dat->path = path;
	if (from < 0)
		return merge_failed(path, strerror(errno));
	status = dat_copy(dat, from, dir);
	close(from);
	return status;
}

static void dat_unmake(const struct dat *dat)
{
	if (dat->copy)
		unlink(dat->copy);
}

/* --------------------------------------------------------- the files as they came */

static const char *clock_of(const struct dat *dat)
{
	return dat == &host ? "pvperf_clock" : "pvperf_guest_clock";
}

static void apart_see(struct dat *dat, uint64_t time, uint64_t tsc)
{
	uint64_t apart = time < tsc ? tsc - time : time - tsc;

	if (apart < dat->apart)
		dat->apart = apart;
}

/* How fast the host's TSC is: from its first clock event to each later one. */
static void speed_see(uint64_t tsc, uint64_t boot)
{
	static uint64_t first_tsc, first_boot;

	if (!first_tsc) {
		first_tsc = tsc;
		first_boot = boot;
	} else if (tsc > first_tsc && boot > first_boot) {
		per_second = (double)(tsc - first_tsc) / (boot - first_boot) * 1e9;
	}
}

static void clock_take(struct tep_event *e, struct tep_record *record)
{
	struct clock c = { .at = record->ts };
	uint64_t frac, tsc, boot;

	if (!dat_number(e, record, "clock", &c.name) || !dat_number(e, record, "vcpu", &c.vcpu) ||
	    !dat_number(e, record, "tid", &c.tid) || !dat_number(e, record, "offset", &c.map.offset) ||
	    !dat_number(e, record, "ratio", &c.map.ratio) || !dat_number(e, record, "frac", &frac) ||
	    !dat_number(e, record, "tsc", &tsc))
		return;
	c.map.frac = frac;
	apart_see(&host, record->ts, tsc);
	if (dat_number(e, record, "boot", &boot))
		speed_see(tsc, boot);
	full |= !clocks_add(&clocks, &c);
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

static int learn(struct tracecmd_input *buffer, struct tep_record *record, int cpu, void *unused)
{
	struct dat *dat = dat_of(buffer);
	struct tep_event *e = dat_event(buffer, record);

	if (record->ts < dat->first)
		dat->first = record->ts;
	if (record->ts > dat->last)
		dat->last = record->ts;
	if (!e || e->id != dat->clock)
		return 0;
	if (dat == &host)
		clock_take(e, record);
	else
		name_take(dat, e, record);
	return 0;
}

static int dat_learn(struct dat *dat)
{
	int status = dat_begin(dat, clock_of(dat));

	if (status)
		return status;
	dat->first = dat->apart = UINT64_MAX;
	dats_read(&dat, 1, learn);
	dat_end(dat);
	if (dat->apart != UINT64_MAX && dat->apart > APART_MAX)
		return merge_failed(dat->path, "its times are not the TSC: record it by trace-cmd record -C x86-tsc, without -A");
	return full ? merge_failed(dat->path, "too many clock events") : EXIT_FITS;
}

/* --------------------------------------------------------------------- stamping */

static int clock_find(const struct merge *merge, const struct dat *guest)
{
	if (!guest->name)
		return merge_failed(guest->path, merge_no_name);
	if (guest->moved)
		return merge_failed(guest->path, merge_moved);
	return clocks_first(&clocks, guest->name) ? EXIT_FITS :
						   merge_no_clock(merge, guest->path, guest->name);
}

/*
 * The clocks of CPU @cpu. A CPU of which the host tells no clock needs one, too: trace-cmd
 * reads a file's shifts by CPU. If it has events, they are told as strange.
 */
static struct run run_of(const struct merge *merge, const struct dat *guest, unsigned int cpu)
{
	static struct clock given;
	struct run run = { .now = &given, .end = &given + 1 };

	given.map = merge->given;
	if (given.map.ratio)
		return run;
	run = clocks_run(&clocks, guest->name, cpu);
	if (!run.now) {
		run.now = clocks_first(&clocks, guest->name);
		run.end = run.now + 1;
	}
	return run;
}

static int shifts_make(const struct merge *merge, struct dat *guest)
{
	unsigned int cpu;
	size_t all = 0;

	guest->runs = calloc(guest->cpus + 1, sizeof(*guest->runs));
	guest->shifts = calloc(guest->cpus + 1, sizeof(*guest->shifts));
	guest->shares = calloc(guest->cpus + 1, sizeof(*guest->shares));
	if (!guest->runs || !guest->shifts || !guest->shares)
		return merge_failed(guest->path, strerror(ENOMEM));
	for (cpu = 0; cpu < guest->cpus; cpu++) {
		guest->runs[cpu] = run_of(merge, guest, cpu);
		if (!shift_make(&guest->shifts[cpu], guest->runs[cpu], guest->first, guest->last))
			return merge_failed(guest->path, "too long a time for a TSC that is scaled");
		all += guest->shifts[cpu].nr;
	}
	return all > POINTS_MAX ? merge_failed(guest->path, "too many clock events") : EXIT_FITS;
}

static int stamped(struct stamp *stamp, const struct dat *dat)
{
	return stamp_end(stamp, dat->fd) ? EXIT_FITS : merge_failed(dat->copy, strerror(errno));
}

static int guest_stamp(const struct merge *merge, struct dat *guest)
{
	int status = merge->given.ratio ? EXIT_FITS : clock_find(merge, guest);
	struct stamp stamp;

	if (!status)
		status = shifts_make(merge, guest);
	if (status)
		return status;
	if (!stamp_begin(&stamp))
		return merge_failed(guest->path, strerror(ENOMEM));
	if (!guest->id)
		guest->id = guest->name;
	stamp_id(&stamp, guest->id);
	stamp_shifts(&stamp, host.id, guest->shifts, guest->cpus);
	return stamped(&stamp, guest);
}

/* Tells the host's file who the guest's CPUs are. */
static void threads_stamp(struct stamp *stamp, const struct dat *guest)
{
	uint32_t tids[CPUS_MAX];
	char name[NAME_MAX + 1], *dot;
	unsigned int cpu;

	for (cpu = 0; cpu < guest->cpus; cpu++)
		tids[cpu] = guest->runs[cpu].end[-1].tid;
	snprintf(name, sizeof(name), "%s", base_of(guest->path));
	dot = strrchr(name, '.');
	if (dot && dot > name)
		*dot = '\0';
	stamp_guest(stamp, name, guest->id, tids, guest->cpus);
}

static int host_stamp(const struct merge *merge)
{
	struct stamp stamp;
	int i;

	if (!stamp_begin(&stamp))
		return merge_failed(host.path, strerror(ENOMEM));
	stamp_id(&stamp, host.id);
	for (i = 0; i < nr_guests && !merge->given.ratio; i++)
		threads_stamp(&stamp, &guests[i]);
	return stamped(&stamp, &host);
}

static int all_stamp(const struct merge *merge)
{
	int status = dat_learn(&host), i;

	if (!host.id)
		host.id = 1;
	clocks_sort(&clocks);
	for (i = 0; !status && i < nr_guests; i++)
		status = dat_learn(&guests[i]) ?: guest_stamp(merge, &guests[i]);
	return status ?: host_stamp(merge);
}

/* ------------------------------------------------------------------ the proof */

static bool asked;		/* --why */

static void guest_judge(struct tracecmd_input *buffer, struct tep_record *record)
{
	struct dat *dat = dat_of(buffer);
	unsigned int cpu = record->cpu;
	uint64_t tid;

	if (cpu >= dat->cpus)
		return;
	tid = dat->runs[cpu].now->tid;
	if (tid && dat->runs[cpu].now->vcpu != cpu) {
		dat->strange++;
		return;
	}
	proof_judge(&dat->shares[cpu], tid, record->ts);
	if (asked)
		why_guest(buffer, record, tid);
}

static int judge(struct tracecmd_input *buffer, struct tep_record *record, int cpu, void *unused)
{
	struct tep_event *e = dat_event(buffer, record);
	uint64_t tid;

	if (dat_of(buffer) != &host) {
		guest_judge(buffer, record);
		return 0;
	}
	if (asked)
		why_host(buffer, record);
	if (e && e->id == host.entry && dat_number(e, record, "common_pid", &tid))
		proof_entry(tid);
	if (e && e->id == host.exit && dat_number(e, record, "common_pid", &tid))
		proof_exit(tid, record->ts);
	return 0;
}

static int lost(struct tracecmd_input *buffer, struct tep_event *e, struct tep_record *record,
		int cpu, void *unused)
{
	proof_forget();
	if (asked)
		why_forget(record->ts);
	return 0;
}

static int steps_tell(const struct dat *guest, unsigned int cpu)
{
	const struct shift *shift = &guest->shifts[cpu];

	if (shift->steps)
		fprintf(stderr, "pvperf: %s: CPU %u: steps of its clock: %u\n", guest->path, cpu, shift->steps);
	if (!shift->back)
		return EXIT_FITS;
	fprintf(stderr, "pvperf: %s: CPU %u: its clock was set back: %u: events after that may have a wrong time\n",
		guest->path, cpu, shift->back);
	return EXIT_PROBLEM;
}

static int cpu_tell(const struct dat *guest, unsigned int cpu)
{
	int status = steps_tell(guest, cpu);

	return proof_tell(guest->path, cpu, &guest->shares[cpu]) ? status : EXIT_PROBLEM;
}

/* Their times are those of another CPU's clock. */
static int strange_tell(const struct dat *guest)
{
	if (!guest->strange)
		return EXIT_FITS;
	fprintf(stderr, "pvperf: %s: %" PRIu64 " events may have a wrong time: no clock event tells their CPU's clock\n",
		guest->path, guest->strange);
	return EXIT_PROBLEM;
}

static int asked_begin(const struct why *why)
{
	unsigned int cpu;
	int i;

	if (!per_second)
		return merge_failed(host.path, "it does not tell how fast the TSC is: record pvperf:pvperf_clock for more than a second");
	asked = why_begin(why, per_second);
	for (i = 0; i < nr_guests; i++)
		for (cpu = 0; cpu < guests[i].cpus; cpu++)
			asked = asked && why_vcpu(guests[i].runs[cpu].now->tid);
	return asked ? EXIT_FITS : merge_failed(host.path, strerror(ENOMEM));
}

static int proof(const struct why *why)
{
	struct dat *all[GUESTS_MAX + 1] = { &host };
	int status = dat_begin(&host, clock_of(&host)), i;
	unsigned int cpu;

	for (i = 0; !status && i < nr_guests; i++) {
		all[i + 1] = &guests[i];
		status = dat_begin(&guests[i], clock_of(&guests[i]));
	}
	if (!status && why->task)
		status = asked_begin(why);
	if (status)
		return status;
	for (i = 0; i < host.nr_buffers; i++)
		tracecmd_follow_missed_events(host.buffers[i], lost, NULL);
	dats_read(all, nr_guests + 1, judge);
	if (asked)
		why_end();
	for (i = 0; i < nr_guests; i++) {
		for (cpu = 0; cpu < guests[i].cpus; cpu++)
			status |= cpu_tell(&guests[i], cpu);
		status |= strange_tell(&guests[i]);
	}
	return status;
}

/* ----------------------------------------------------------------- two processes */

static bool rights_drop(void)
{
	const struct rlimit data = { DATA_MAX, DATA_MAX };

	if (setrlimit(RLIMIT_DATA, &data))
		return false;
	return geteuid() || (!setgroups(0, NULL) && !setgid(NOBODY) && !setuid(NOBODY));
}

/* The process that reads. */
static int read_all(const struct merge *merge)
{
	if (!rights_drop()) {
		merge_failed("can't give up root's rights", strerror(errno));
		return EXIT_NO_COPIES;
	}
	tracecmd_set_loglevel(TEP_LOG_NONE);
	return all_stamp(merge) ? EXIT_NO_COPIES : proof(&merge->why);
}

static int read_apart(const struct merge *merge)
{
	int status;
	pid_t pid;

	fflush(NULL);
	pid = fork();
	if (!pid)
		_exit(read_all(merge));
	if (pid < 0 || waitpid(pid, &status, 0) != pid) {
		merge_failed("no second process", strerror(errno));
		return EXIT_NO_COPIES;
	}
	if (WIFEXITED(status))
		return WEXITSTATUS(status);
	fprintf(stderr, "pvperf: merge: reading the files ended by signal %d: one of them is damaged\n", WTERMSIG(status));
	return EXIT_NO_COPIES;
}

static void commands_print(void)
{
	int i;

	printf("trace-cmd report -i %s", host.copy);
	for (i = 0; i < nr_guests; i++)
		printf(" -i %s", guests[i].copy);
	printf("\nkernelshark %s", host.copy);
	for (i = 0; i < nr_guests; i++)
		printf(" -a %s", guests[i].copy);
	printf("\n");
}

int merge_dat(const struct merge *merge)
{
	int status = names_differ(merge), i;

	if (!status && mkdir(merge->dir, 0755) && errno != EEXIST)
		return merge_failed(merge->dir, strerror(errno));
	if (!status)
		status = dat_open(&host, merge->host, merge->dir);
	for (nr_guests = 0; !status && nr_guests < merge->nr_guests; nr_guests++)
		status = dat_open(&guests[nr_guests], merge->guests[nr_guests], merge->dir);
	status = status ? EXIT_NO_COPIES : read_apart(merge);
	if (status != EXIT_NO_COPIES) {
		if (!merge->why.task)
			commands_print();
		return status;
	}
	dat_unmake(&host);
	for (i = 0; i < nr_guests; i++)
		dat_unmake(&guests[i]);
	return EXIT_PROBLEM;
}
