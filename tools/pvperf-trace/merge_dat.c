// SPDX-License-Identifier: GPL-2.0
/*
 * pvperf merge of trace.dat files: copies that the tools which read such files show in the
 * order of the host's TSC. Who recorded a guest need not be trusted, so a process without
 * rights reads the files, each as it came and once more as it was stamped, for the proof.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include "command.h"
#include "fault.h"
#include "judge.h"
#include "learn.h"
#include "merge.h"
#include "merge_dat.h"
#include "quote.h"
#include "rights.h"
#include "stamp.h"

#define POINTS_MAX	(1 << 25)	/* of a file: an option is less than 4 GiB */
#define CPU_MAX		3600	/* seconds; of a few GB it takes a minute */
/* Of the process that reads. Any other status is a failure: a sanitizer's is 1. */
#define EXIT_NO_COPIES	64
#define EXIT_COPIES	66		/* and what it found: EXIT_FITS or EXIT_DOUBT */

static struct copies all;

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

/*
 * Some file systems share the space of the two; others cannot, or not with another one, or say
 * that a file is at its end when they do not know its size.
 */
static bool copy(int from, int to)
{
	ssize_t n;

	while ((n = copy_file_range(from, NULL, to, NULL, 1 << 30, 0)) > 0)
		;
	while ((n = sendfile(to, from, NULL, 1 << 30)) > 0)
		;
	return !n;
}

/* Where the copy has to be lies something else than an earlier copy. */
static bool copy_is_in_the_way(const struct dat *dat, int from)
{
	int there = open(dat->copy, O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC);
	const char *why = NULL;

	if (there < 0 && errno == ENOENT)
		return false;
	if (there < 0)
		why = errno == ELOOP ? "is a symbolic link, so no copy: remove it, or give another folder with -o" : strerror(errno);
	else if (same_file(from, there))
		why = "lies where its copy has to be: give another folder with -o";
	else if (!stamp_is_ours(there))
		why = "is there already, and no copy that pvperf merge has made: give another folder with -o";
	if (why)
		merge_failed(there >= 0 && same_file(from, there) ? dat->path : dat->copy, why);
	if (there >= 0)
		close(there);
	return why;
}

static int dat_copy(struct dat *dat, int from, const char *dir)
{
	const char *refused = stamp_refuses(from);
	struct stat st;
	char *part;

	if (refused)
		return merge_failed(dat->path, refused);
	if (fstat(from, &st) || !S_ISREG(st.st_mode))
		return merge_failed(dat->path, "is no file");
	/* Not .part, which is record's. */
	if (asprintf(&dat->copy, "%s/%s", dir, base_of(dat->path)) < 0 ||
	    asprintf(&part, "%s.merge", dat->copy) < 0)
		return merge_failed(dat->path, strerror(ENOMEM));
	if (copy_is_in_the_way(dat, from))
		return EXIT_PROBLEM;
	/* What lies there, of a merge that was killed or of somebody else, is not written to. */
	unlink(part);
	dat->part = part;
	dat->fd = open(part, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, st.st_mode & 0666);
	if (dat->fd < 0)
		return merge_failed(part, strerror(errno));
	return copy(from, dat->fd) ? EXIT_FITS : merge_failed(dat->part, strerror(errno));
}

static int dat_open(struct dat *dat, const char *path, const char *dir)
{
	int from = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC), status;

	dat->path = path;
	if (from < 0)
		return merge_failed(path, strerror(errno));
	status = dat_copy(dat, from, dir);
	close(from);
	return status;
}

/* All copies, or none, unless a rename() fails: those of an earlier merge stay then. */
static int dat_keep(const struct dat *dat, bool keep)
{
	if (!dat->part)
		return EXIT_FITS;
	if (!keep)
		unlink(dat->part);
	else if (rename(dat->part, dat->copy))
		return merge_failed(dat->copy, strerror(errno));
	return EXIT_FITS;
}

static int all_keep(bool keep)
{
	int status = dat_keep(&all.host, keep), i;

	for (i = 0; i < all.nr_guests; i++)
		status |= dat_keep(&all.guests[i], keep);
	return status;
}

/* A signal ends us: no half a copy stays. */
static void parts_remove(int signal_number)
{
	size_t i;

	dat_keep(&all.host, false);
	for (i = 0; i < sizeof(all.guests) / sizeof(*all.guests); i++)
		dat_keep(&all.guests[i], false);
	signal(signal_number, SIG_DFL);
	raise(signal_number);
}

static void signals_take(void)
{
	static const int ends[] = { SIGHUP, SIGINT, SIGTERM };
	size_t i;

	for (i = 0; i < sizeof(ends) / sizeof(*ends); i++)
		if (signal(ends[i], SIG_IGN) != SIG_IGN)
			signal(ends[i], parts_remove);
	signal(SIGPIPE, SIG_IGN);	/* out_end() tells */
}

/* Until the end, which is near: all copies get their names, or none. */
static void signals_hold(void)
{
	sigset_t all_signals;

	sigfillset(&all_signals);
	sigprocmask(SIG_BLOCK, &all_signals, NULL);
}

/* --------------------------------------------------------------------- stamping */

static bool is_claimed(uint64_t vm)
{
	const struct clock *c;
	int i;

	for (i = 0; i < all.nr_guests; i++) {
		c = all.guests[i].name ? clocks_first(&all.clocks, all.guests[i].name) : NULL;
		if (c && c->vm == vm)
			return true;
	}
	return false;
}

/* A guest without our module: its VM is the one that is no other guest's, or that is given. */
static int name_find(const struct merge *merge, struct dat *guest)
{
	unsigned int n = 1;

	guest->name = merge->vms[guest - all.guests];
	if (!guest->name)
		n = clocks_unclaimed(&all.clocks, is_claimed, &guest->name);
	if (n > 1)
		return merge_failed(guest->path, "no pvperf_guest_clock in it, and several VMs may be its: say --vm PID after its -g (with -h and -g instead of DIR)");
	if (n == 1) {
		quote_begin(guest->path);
		fprintf(stderr, "no pvperf_guest_clock in it: its clock is what KVM's debugfs told of process %" PRIu64 "\n",
			guest->name);
	}
	return n ? EXIT_FITS : merge_failed(guest->path, merge_no_name);
}

static int clock_find(const struct merge *merge, struct dat *guest)
{
	bool named = guest->name;
	int status = named ? EXIT_FITS : name_find(merge, guest);
	uint64_t vm = merge->vms[guest - all.guests];
	const struct clock *c;

	if (status)
		return status;
	if (guest->moved)
		return merge_failed(guest->path, merge_moved);
	c = clocks_first(&all.clocks, guest->name);
	/* A clock that debugfs told has its process's number for a name: no file may have that name. */
	if (!c || (named && c->name == c->vm))
		return merge_no_clock(merge->host, guest->path, guest->name);
	return !vm || !c->vm || c->vm == vm ? EXIT_FITS :
		merge_failed(guest->path, "its clock events are of another VM than --vm says");
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
	run = clocks_run(&all.clocks, guest->name, cpu, guest->apics[cpu] == APIC_UNKNOWN &&
			 guest->tells_apics ? APIC_LOST : guest->apics[cpu]);
	if (!run.now) {
		run.now = clocks_first(&all.clocks, guest->name);
		run.end = run.now + 1;
		run.others = true;
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
	stamp_shifts(&stamp, all.host.id, guest->shifts, guest->cpus);
	return stamped(&stamp, guest);
}

/* Tells the host's file who the guest's CPUs are. */
static void threads_stamp(struct stamp *stamp, const struct dat *guest)
{
	uint32_t tids[CPUS_MAX];
	char name[NAME_MAX + 1], *dot;
	unsigned int cpu;

	for (cpu = 0; cpu < guest->cpus; cpu++)
		tids[cpu] = guest->runs[cpu].others ? 0 : guest->runs[cpu].end[-1].tid;
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
		return merge_failed(all.host.path, strerror(ENOMEM));
	stamp_id(&stamp, all.host.id);
	for (i = 0; i < all.nr_guests && !merge->given.ratio; i++)
		threads_stamp(&stamp, &all.guests[i]);
	return stamped(&stamp, &all.host);
}

static int all_stamp(const struct merge *merge)
{
	int status = dat_learn(&all, &all.host), i;

	if (!all.host.id)
		all.host.id = 1;
	clocks_sort(&all.clocks);
	for (i = 0; !status && i < all.nr_guests; i++)
		status = dat_learn(&all, &all.guests[i]);
	for (i = 0; !status && i < all.nr_guests; i++)
		status = guest_stamp(merge, &all.guests[i]);
	return status ?: host_stamp(merge);
}

static int speed_stamp(const struct dat *dat)
{
	struct stamp stamp;

	if (!stamp_begin(&stamp))
		return merge_failed(dat->path, strerror(ENOMEM));
	stamp_id(&stamp, dat->id);
	stamp_speed(&stamp, all.per_second);
	return stamped(&stamp, dat);
}

/* After the proof, which goes by ticks. */
static int all_stamp_speed(void)
{
	int status = EXIT_FITS, i;

	if (all.per_second < 1)
		return status;
	status = speed_stamp(&all.host);
	for (i = 0; !status && i < all.nr_guests; i++)
		status = speed_stamp(&all.guests[i]);
	return status;
}

/* What perf wants to know of the guest's own perf.data: one clock, for all of the time and CPUs. */
static void inject_tell(const struct dat *guest)
{
	const struct clock *c = guest->cpus ? guest->runs[0].now : NULL;
	const struct run *run;

	for (run = guest->runs; c && run < guest->runs + guest->cpus; run++)
		if (run->others || run_next(run) != run->end || !map_same(&run->now->map, &c->map))
			c = NULL;
	if (!c || !c->vm)
		return;
	quote_begin(guest->path);
	fprintf(stderr, "of a perf.data of this guest: perf inject --guest-data=FILE,%" PRIu64 ",%" PRIu64 ",%.17g\n",
		c->vm, c->map.offset, (double)c->map.ratio / (1ull << c->map.frac));
}

/* ----------------------------------------------------------------- two processes */

/* All but the copies, stdin, and what messages go to. The copies' numbers rise as they were opened. */
static void fds_close(void)
{
	int next = STDERR_FILENO + 1, i;

	all.host.fd = dup2(all.host.fd, next++);
	for (i = 0; i < all.nr_guests; i++)
		all.guests[i].fd = dup2(all.guests[i].fd, next++);
	close_range(next, INT_MAX, 0);
}

static bool rights_drop(pid_t parent)
{
	if (!rights_limit(RLIMIT_CPU, CPU_MAX))
		return false;
	setsid();	/* has no terminal */
	fds_close();
	/* Ends with its parent: the kernel forgets that when the user is another one. */
	return rights_give_up() && !prctl(PR_SET_PDEATHSIG, SIGKILL) && getppid() == parent;
}

/* The process that reads. */
static int read_all(const struct merge *merge, pid_t parent)
{
	int status, i;

	if (!rights_drop(parent)) {
		merge_broke(merge_no_rights);
		return EXIT_NO_COPIES;
	}
	tracecmd_set_loglevel(TEP_LOG_NONE);
	if (all_stamp(merge))
		return EXIT_NO_COPIES;
	status = judge_all(&all, &merge->why);
	for (i = 0; i < all.nr_guests; i++)
		inject_tell(&all.guests[i]);
	return status == EXIT_PROBLEM || all_stamp_speed() ? EXIT_NO_COPIES : status;
}

/* Without what is printed the copies are of no use. */
static int out_end(void)
{
	return fflush(stdout) || ferror(stdout) ? merge_broke("can't write the output") : EXIT_FITS;
}

/* What it prints is the user's: --why. */
static int read_status(const struct merge *merge, pid_t parent)
{
	int status = read_all(merge, parent);

	if (status != EXIT_NO_COPIES && out_end())
		status = EXIT_NO_COPIES;
	return status == EXIT_NO_COPIES ? status : EXIT_COPIES + status;
}

static int read_ended(int status)
{
	int found = WEXITSTATUS(status) - EXIT_COPIES;

	if (WIFEXITED(status) && (found == EXIT_FITS || found == EXIT_DOUBT))
		return found;
	if (!WIFEXITED(status))
		fprintf(stderr, "pvperf: merge: reading the files ended by signal %d: one of them is damaged, or too large\n", WTERMSIG(status));
	else if (WEXITSTATUS(status) != EXIT_NO_COPIES)
		fprintf(stderr, "pvperf: merge: reading the files ended with status %d\n", WEXITSTATUS(status));
	return EXIT_NO_COPIES;
}

static int read_apart(const struct merge *merge)
{
	pid_t parent = getpid(), pid;
	int status;

	fflush(NULL);
	pid = fork();
	if (!pid)
		_exit(read_status(merge, parent));
	if (pid < 0 || waitpid(pid, &status, 0) != pid) {
		merge_broke("no second process");
		return EXIT_NO_COPIES;
	}
	return read_ended(status);
}

static void command_word(const char *before, const char *path)
{
	fputs(before, stdout);
	quote(stdout, path);
}

static int commands_print(void)
{
	int i;

	command_word("trace-cmd report -i ", all.host.copy);
	for (i = 0; i < all.nr_guests; i++)
		command_word(" -i ", all.guests[i].copy);
	command_word("\nkernelshark ", all.host.copy);
	for (i = 0; i < all.nr_guests; i++)
		command_word(" -a ", all.guests[i].copy);
	printf("\n");
	return out_end();
}

/*
 * Until this process ends no other merge makes copies there: it would give our unfinished ones names.
 * Where there can be no such file, or no locks, nothing can be said.
 */
static int folder_claim(const char *dir)
{
	char path[PATH_MAX];
	int fd;

	if (mkdir(dir, 0755) && errno != EEXIST)
		return merge_failed(dir, strerror(errno));
	snprintf(path, sizeof(path), "%s/.merge.lock", dir);
	fd = open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0600);
	return fd < 0 || !flock(fd, LOCK_EX | LOCK_NB) || errno != EWOULDBLOCK ? EXIT_FITS :
		merge_failed(dir, "another pvperf merge makes copies there: wait for it, or give another folder with -o");
}

int merge_dat(const struct merge *merge)
{
	int status = names_differ(merge);

	signals_take();
	if (!status)
		status = folder_claim(merge->dir);
	if (status)
		return status;
	if (merge->given.ratio)
		fprintf(stderr, "%s", merge_no_proof);
	if (!status)
		status = dat_open(&all.host, merge->host, merge->dir);
	for (all.nr_guests = 0; !status && all.nr_guests < merge->nr_guests; all.nr_guests++)
		status = dat_open(&all.guests[all.nr_guests], merge->guests[all.nr_guests], merge->dir);
	status = status ? EXIT_NO_COPIES : read_apart(merge);
	/* A moment before the copies are there: without the commands there shall be none. */
	if (status != EXIT_NO_COPIES && !merge->why.task && commands_print())
		status = EXIT_NO_COPIES;
	signals_hold();
	if (all_keep(status != EXIT_NO_COPIES) || status == EXIT_NO_COPIES)
		return EXIT_PROBLEM;
	return status;
}
