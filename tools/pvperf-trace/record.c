// SPDX-License-Identifier: GPL-2.0
/*
 * pvperf record: trace-cmd record on a host and in its guests at the same time, with what
 * pvperf merge needs. Each side runs the same script, which its shell reads from a pipe: the
 * script says "ready", waits for the pipe's end, and prints the size of its trace.dat and the
 * file. The files get their names when all are there.
 */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "command.h"
#include "quote.h"
#include "trace.h"

#define SIDES_MAX	65	/* the host, and as many guests as merge takes */
#define WAIT_MS	90000	/* the script gives up before, when it starts */
#define STOP_MS	10000	/* for the guests to stop recording */
#define STOP_STEP_MS	100
#define STOP_TOLD_MS	1000

const char record_help[] =
"pvperf record -o DIR --guest NAME=COMMAND [--guest ...] [--host COMMAND] [-e EVENT]... [-b KIB] [-- CMD]\n"
"        record with trace-cmd on this host and in guests, until CMD or Ctrl-C ends it, for\n"
"        pvperf merge DIR; COMMAND and then sh is run for a shell there: ssh root@web\n";

struct side {
	const char *name, *command;
	char *path, *part;	/* of its trace.dat here, and until all of it is there */
	pid_t pid;
	int to, from;		/* pipes; -1: closed */
	bool kept, whole;	/* .part is there, and has all that the script promised */
};

static struct side sides[SIDES_MAX] = { { .name = "host", .command = "" } };
static int nr_sides = 1;
static char *events;		/* "-e EVENT -e EVENT", quoted for a shell */
static char *buffer;		/* "-b KIB", or NULL */
static const char *dir;
static bool dir_is_ours;
static volatile sig_atomic_t stopped;	/* by this signal */
static volatile sig_atomic_t only_we;	/* ... which a process sent, and not the terminal, to all */

static const char script[] =
	/* A shell reads up to the last brace before it does anything, so `cat` finds the end only. */
	"{\n"
	"trap '' PIPE\n"		/* so that it ends by its own exit */
	"clock=%s module=%s\n"
	"fail() { kill -TERM $! 2> /dev/null; wait; echo \"$1\" 2> /dev/null; exit 1; }\n"
	"command -v trace-cmd > /dev/null || fail 'there is no trace-cmd: apt install trace-cmd'\n"
	"events=$PVPERF_ROOT/sys/kernel/tracing/events\n"
	"[ -d $events ] || events=$PVPERF_ROOT/sys/kernel/debug/tracing/events\n"
	"[ -d $events ] || fail 'its tracefs cannot be read: be root there'\n"
	"debugfs=$PVPERF_ROOT/sys/kernel/debug/kvm has=\"-e pvperf:$clock\" ready=ready\n"
	"if [ ! -d $events/pvperf/$clock ]; then\n"
	"	[ $module = pvperf_guest ] || ls $debugfs/*/vcpu0/tsc-offset > /dev/null 2>&1 ||\n"
	"		fail \"there is no event pvperf:$clock: modprobe $module\"\n"
	"	has= ready=\"ready without $module, by what KVM's debugfs tells\"\n"
	"fi\n"
	"clocks=$PVPERF_ROOT/sys/devices/system/clocksource/clocksource0/available_clocksource\n"
	"[ ! -e $clocks ] || grep -qw tsc $clocks ||\n"
	"	ready=\"$ready with a TSC that the kernel has found to be unstable: times may be wrong\"\n"
	"umask 077\n"
	"d=$(mktemp -d) || fail 'there is no room for a file'\n"
	"f=$d/trace\n"
	"trap 'rm -rf \"$d\"' EXIT\n"
	"trap 'kill $! 2> /dev/null; exit 1' HUP INT TERM\n"	/* or dash would not run the first one */
	"trace-cmd record -C x86-tsc%s -o \"$f\" $has%s%s > \"$f.log\" 2>&1 < /dev/null &\n"
	"n=0\n"
	"until [ -e \"$f.cpu0\" ] && [ \"$(cat $events/../tracing_on)\" = 1 ] &&\n"
	"		{ [ -z \"$has\" ] || [ \"$(cat $events/pvperf/$clock/enable)\" = 1 ]; }; do\n"
	"	kill -0 $! 2> /dev/null || fail \"trace-cmd record: $(tail -n 1 \"$f.log\")\"\n"
	"	[ $((n += 1)) -lt 300 ] || fail 'trace-cmd record does not begin: is tracing_on 0?'\n"
	"	sleep 0.1\n"
	"done\n"
	/*
	 * The event tells all clocks when it is enabled; trace-cmd does so while tracing is off.
	 * So do it again, to have them in a recording of less than a second.
	 */
	"	tell() {\n"
	"		[ -z \"$has\" ] || { echo 0 > $events/pvperf/$clock/enable; echo 1 > $events/pvperf/$clock/enable; }\n"
	"		[ $module = pvperf_guest ] || tell_debugfs 2> /dev/null\n"
	"		sleep 0.1\n"
	"	}\n"
	/* Of VMs without pvperf_guest. While a nested guest runs, the offset is that of its TSC. */
	"	tell_debugfs() {\n"
	"		for v in $debugfs/*/vcpu*; do\n"
	"			vm=${v%%/*} vm=${vm##*/} nested=0 tid= offset= ratio=1 frac=0\n"
	"			read -r nested < $v/guest_mode\n"
	"			read -r tid < $v/pid\n"
	"			read -r offset < $v/tsc-offset\n"
	"			[ ! -e $v/tsc-scaling-ratio ] || read -r ratio < $v/tsc-scaling-ratio\n"
	"			[ ! -e $v/tsc-scaling-ratio-frac-bits ] || read -r frac < $v/tsc-scaling-ratio-frac-bits\n"
	"			[ \"$nested\" = 1 ] || echo \"pvperf: vm=${vm%%%%-*} vcpu=${v##*/vcpu} tid=$tid\" \\\n"
	"				\"offset=$offset ratio=$ratio frac=$frac\" > $events/../trace_marker\n"
	"		done\n"
	"	}\n"
	"tell\n"
	"echo \"$ready\" 2> /dev/null\n"
	"cat > /dev/null\n"
	"tell\n"
	"kill -TERM $!\n"
	"wait $!\n"
	"ended=$?\n"
	"trap 'exit 1' HUP INT TERM\n"	/* another process may have that number by now */
	"[ $ended = 0 ] && [ -s \"$f\" ] ||\n"
	"	{ echo \"trace-cmd record: status $ended: $(tail -n 1 \"$f.log\")\"; exit 1; }\n"
	"wc -c < \"$f\"\n"
	"cat \"$f\" 2> /dev/null\n"
	"}\n";

static int failed(const char *name, const char *why)
{
	fprintf(stderr, "pvperf: %s: %s\n", name, why);
	return EXIT_PROBLEM;
}

static int usage(const char *what)
{
	fprintf(stderr, "pvperf: record: %s; see pvperf help record\n", what);
	return EXIT_USAGE;
}

/* --------------------------------------------------------------- the command line */

/* No quote, no space: it stands in a shell's line, and a name also in a path. */
static bool is_word(const char *text, const char *others)
{
	const char *c;

	for (c = text; *c; c++)
		if (!strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.", *c) &&
		    !strchr(others, *c))
			return false;
	return *text && *text != '-' && *text != '.';
}

static int event_add(const char *event)
{
	char *more;

	if (!is_word(event, ":*"))
		return usage("-e wants SYSTEM:EVENT or SYSTEM");
	if (asprintf(&more, "%s -e '%s'", events ?: "", event) < 0)
		return failed("record", strerror(ENOMEM));
	free(events);
	events = more;
	return EXIT_FITS;
}

static int guest_add(char *arg)
{
	char *command = strchr(arg, '=');
	int i;

	if (!command)
		return usage("--guest wants NAME=COMMAND");
	*command++ = '\0';
	if (!is_word(arg, ""))
		return usage("a guest's name has letters, digits, and _ - . only");
	for (i = 0; i < nr_sides; i++)
		if (!strcmp(sides[i].name, arg))
			return usage("two sides have one name; the host's is host");
	if (nr_sides == SIDES_MAX)
		return usage("too many guests");
	sides[nr_sides++] = (struct side){ .name = arg, .command = command };
	return EXIT_FITS;
}

/* Of each CPU, on all sides. */
static int buffer_set(const char *kib)
{
	if (strspn(kib, "0123456789") != strlen(kib) || !*kib || strlen(kib) > 9)
		return usage("-b wants the size of a CPU's buffer, in KiB");
	free(buffer);
	return asprintf(&buffer, " -b %s", kib) < 0 ? failed("record", strerror(ENOMEM)) : EXIT_FITS;
}

static int option_take(int c)
{
	switch (c) {
	case 'b':
		return buffer_set(optarg);
	case 'o':
		dir = optarg;
		return EXIT_FITS;
	case 'e':
		return event_add(optarg);
	case 'g':
		return guest_add(optarg);
	case 'H':
		sides[0].command = optarg;
		return EXIT_FITS;
	case 'h':
		fputs(record_help, stdout);
		exit(command_finish(EXIT_FITS));
	default:
		return usage("unknown option, or one without its value");
	}
}

static int options_take(int argc, char **argv)
{
	static const struct option options[] = {
		{ "guest", required_argument, NULL, 'g' },
		{ "host", required_argument, NULL, 'H' },
		{ "help", no_argument, NULL, 'h' },
		{ }
	};
	int c, status = EXIT_FITS;

	while (!status && (c = getopt_long(argc, argv, "+ho:e:b:", options, NULL)) != -1)
		status = option_take(c);
	if (status)
		return status;
	if (!dir || nr_sides < 2)
		return usage("it wants -o DIR and --guest NAME=COMMAND");
	return events ? EXIT_FITS : event_add("sched:sched_switch") ?: event_add("sched:sched_waking") ?:
	       event_add("sched:sched_wakeup") ?: event_add("sched:sched_migrate_task");
}

/* -------------------------------------------------------------------- the sides */

static bool is_host(const struct side *side)
{
	return side == sides;
}

/*
 * Its shell, in a session of its own, so that Ctrl-C is ours. It has no terminal to ask for a
 * password: ssh says so at once.
 */
static void side_run(const struct side *side, int in, int out)
{
	char *command;

	setsid();
	dup2(in, STDIN_FILENO);
	dup2(out, STDOUT_FILENO);
	if (asprintf(&command, "exec %s sh", side->command) >= 0)
		execl("/bin/sh", "sh", "-c", command, NULL);
	_exit(127);
}

static int side_start(struct side *side)
{
	int in[2], out[2];

	if (asprintf(&side->path, "%s/%s.dat", dir, side->name) < 0 ||
	    asprintf(&side->part, "%s.part", side->path) < 0 || pipe2(in, O_CLOEXEC) || pipe2(out, O_CLOEXEC))
		return failed(side->name, strerror(errno));
	side->pid = fork();
	if (side->pid < 0)
		return failed(side->name, strerror(errno));
	if (!side->pid)
		side_run(side, in[0], out[1]);
	close(in[0]);
	close(out[1]);
	side->to = in[1];
	side->from = out[0];
	if (is_host(side))
		dprintf(side->to, script, "pvperf_clock", "pvperf_host", buffer ?: "", " -e kvm:kvm_entry -e kvm:kvm_exit -e kvm:kvm_write_tsc_offset", events);
	else
		dprintf(side->to, script, "pvperf_guest_clock", "pvperf_guest", buffer ?: "", "", events);
	return EXIT_FITS;
}

/* What to do without us, for a side that can't be reached. */
static int side_failed(const struct side *side, const char *why)
{
	failed(side->name, why);
	fprintf(stderr, "pvperf: %s: by hand, run there and bring the file to %s:\n  trace-cmd record -C x86-tsc%s -o %s.dat -e pvperf:%s%s\n",
		side->name, side->path, buffer ?: "", side->name,
		is_host(side) ? "pvperf_clock -e kvm:kvm_entry -e kvm:kvm_exit -e kvm:kvm_write_tsc_offset" : "pvperf_guest_clock", events);
	return EXIT_PROBLEM;
}

static void stop(int signal, siginfo_t *info, void *unused)
{
	stopped = signal;
	only_we = info->si_code <= 0;
}

/* While nothing is fetched a second Ctrl-C ends pvperf; the sides see that their pipe has ended. */
static void signals_take(void)
{
	const struct sigaction action = { .sa_sigaction = stop, .sa_flags = SA_RESETHAND | SA_SIGINFO };

	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	signal(SIGPIPE, SIG_IGN);
}

/* @ends: trace-cmd there may need long to put a large file together. */
static bool side_speaks(const struct side *side, bool ends)
{
	struct pollfd p = { .fd = side->from, .events = POLLIN };
	int n;

	while (!(n = poll(&p, 1, WAIT_MS)) && ends)
		fprintf(stderr, "pvperf: %s: waiting for its file; Ctrl-C leaves it out\n", side->name);
	return n == 1;
}

/* A line of what the script says, without what a terminal would obey. */
static int side_line(struct side *side, bool ends, char *line, size_t size)
{
	size_t n = 0;

	do {
		if (!side_speaks(side, ends))
			return stopped ? EXIT_PROBLEM :
					 side_failed(side, "no answer from its command; ssh can't ask here: try it by hand, with -o BatchMode=yes");
		if (read(side->from, line + n, 1) != 1)
			return side_failed(side, "its command ended; does it take commands from a pipe?");
		if (line[n] != '\n' && !isprint((unsigned char)line[n]))
			line[n] = '?';
	} while (line[n] != '\n' && ++n < size - 1);
	line[n] = '\0';
	return EXIT_FITS;
}

/* The script's first line: "ready", or why it isn't. */
static int side_ready(struct side *side)
{
	char line[200];
	int status = side_line(side, false, line, sizeof(line));

	if (status)
		return status;
	if (strncmp(line, "ready", strlen("ready")))
		return side_failed(side, line);
	if (line[strlen("ready")])
		fprintf(stderr, "pvperf: %s: recording%s\n", side->name, line + strlen("ready"));
	return EXIT_FITS;
}

/* Ends the recording there; its file follows. */
static void side_stop(struct side *side)
{
	if (side->to >= 0)
		close(side->to);
	side->to = -1;
}

static bool write_all(int fd, const char *buffer, size_t size)
{
	ssize_t n;

	for (; size; buffer += n, size -= n) {
		n = write(fd, buffer, size);
		if (n < 0)
			return false;
	}
	return true;
}

/* As much as the script has promised, no more and no less. */
static int side_receive(struct side *side, int fd, uint64_t size)
{
	char buffer[65536];
	uint64_t all = 0;
	ssize_t n;

	while (all < size) {
		n = read(side->from, buffer, size - all < sizeof(buffer) ? size - all : sizeof(buffer));
		if (n <= 0)
			break;
		if (!write_all(fd, buffer, n))
			return failed(side->part, strerror(errno));
		all += n;
	}
	side->whole = all == size;
	if (side->whole)
		return EXIT_FITS;
	fprintf(stderr, "pvperf: %s: its file broke off: %" PRIu64 " of %" PRIu64 " bytes came\n",
		side->name, all, size);
	return EXIT_PROBLEM;
}

/* A guest says how large its file is: a tenth of the room stays for others. Some tell no size. */
static bool has_room(uint64_t size)
{
	struct statvfs fs;

	return statvfs(dir, &fs) || !fs.f_blocks || size / fs.f_frsize < fs.f_bavail / 10 * 9;
}

/* A signal from here on leaves this side out, and the next ones are fetched. */
static int side_fetch(struct side *side)
{
	char line[200], *end;
	uint64_t size;
	int status, fd;

	stopped = 0;
	signals_take();
	status = side_line(side, true, line, sizeof(line));
	if (status)
		return stopped ? failed(side->name, "left out") : status;
	size = strtoull(line, &end, 10);
	if (!size || *end)
		return side_failed(side, line);
	if (!has_room(size))
		return failed(side->part, "no room: less than a tenth would be left");
	fd = open(side->part, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0644);
	if (fd < 0)
		return failed(side->part, strerror(errno));
	side->kept = true;
	status = side_receive(side, fd, size);
	if (close(fd) && !status) {
		side->whole = false;
		status = failed(side->part, strerror(errno));
	}
	return status;
}

/* The side's process ends; false if it does not within some time. */
static bool side_ends(struct side *side, int tenths, int *status)
{
	while (tenths-- > 0) {
		if (waitpid(side->pid, status, WNOHANG) == side->pid)
			return true;
		usleep(100000);
	}
	return false;
}

/* Its command may wait for something that never comes, and may be stopped. */
static int side_end(struct side *side)
{
	int status = 0;

	side_stop(side);
	close(side->from);
	if (side_ends(side, 50, &status))
		return WIFEXITED(status) && !WEXITSTATUS(status) ? EXIT_FITS : EXIT_PROBLEM;
	kill(-side->pid, SIGTERM);
	kill(-side->pid, SIGCONT);
	if (!side_ends(side, 50, &status)) {
		kill(-side->pid, SIGKILL);
		waitpid(side->pid, NULL, 0);
	}
	return EXIT_PROBLEM;
}

/* ------------------------------------------------------------------ the recording */

static int all_start(void)
{
	int i, status = EXIT_FITS;

	for (i = 0; !status && i < nr_sides; i++)
		status = side_start(&sides[i]);
	nr_sides = status ? i - 1 : i;	/* those that there are */
	for (i = 0; !status && i < nr_sides; i++)
		status = side_ready(&sides[i]);
	return status;
}

static int until_stopped(void)
{
	bool shown = isatty(STDERR_FILENO);
	int seconds;

	for (seconds = 0; !stopped; seconds++) {
		if (shown)
			fprintf(stderr, "\rpvperf: recording since %d s; Ctrl-C stops", seconds);
		sleep(1);
	}
	if (shown)
		fputc('\n', stderr);
	return EXIT_FITS;
}

/* While the command is not there, or has our handler, a signal has to wait. */
static void signals_hold(bool on)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigprocmask(on ? SIG_BLOCK : SIG_UNBLOCK, &set, NULL);
}

/* @said gets why, if the program can't be executed. */
static void command_run(char **command, int said)
{
	int err;

	signal(SIGPIPE, SIG_DFL);
	signal(SIGINT, SIG_DFL);
	signal(SIGTERM, SIG_DFL);
	signals_hold(false);
	execvp(*command, command);
	err = errno;
	if (write(said, &err, sizeof(err)) < 0)
		err = 0;	/* then our parent has gone */
	_exit(127);
}

/* The terminal sends Ctrl-C to the command, too. What a process sent goes on to it, once. */
static void command_wait(const char *name, pid_t pid)
{
	bool told = false;
	int status = 0;

	while (!waitpid(pid, &status, WNOHANG)) {
		if (stopped && only_we && !told)
			told = !kill(pid, stopped);
		usleep(20000);
	}
	if (!stopped && WIFEXITED(status) && WEXITSTATUS(status))
		fprintf(stderr, "pvperf: %s ended with status %d\n", name, WEXITSTATUS(status));
	else if (!stopped && WIFSIGNALED(status))
		fprintf(stderr, "pvperf: %s was ended by signal %d\n", name, WTERMSIG(status));
}

static int until_ended(char **command)
{
	int said[2], err = 0;
	pid_t pid;

	if (pipe2(said, O_CLOEXEC))
		return failed(*command, strerror(errno));
	signals_hold(true);
	pid = stopped ? 0 : fork();
	if (!pid && !stopped)
		command_run(command, said[1]);
	if (pid < 0)
		err = errno;
	signals_hold(false);
	close(said[1]);
	if (pid > 0)
		command_wait(*command, pid);
	if (pid > 0 && read(said[0], &err, sizeof(err)) != sizeof(err))
		err = 0;
	close(said[0]);
	return err ? failed(*command, strerror(err)) : EXIT_FITS;
}

/*
 * Until each guest has said how large its file is, as it does not record any more then; but not for
 * long, and not after a signal.
 */
static void guests_wait(void)
{
	struct pollfd p = { .events = POLLIN };
	int i, left = STOP_MS;

	stopped = 0;
	signals_take();
	for (i = 1; i < nr_sides; i++) {
		p.fd = sides[i].from;
		for (; left > 0 && !stopped && !poll(&p, 1, STOP_STEP_MS); left -= STOP_STEP_MS)
			if (left == STOP_MS - STOP_TOLD_MS)
				fprintf(stderr, "pvperf: %s: waiting for it to stop; Ctrl-C goes on\n", sides[i].name);
	}
}

/*
 * The host stops last, as only its events tell where those of the guests belong; but it does not
 * go on while a guest sends its file, or does not.
 */
static int all_fetch(void)
{
	int i, status = EXIT_FITS;

	for (i = 1; i < nr_sides; i++)
		side_stop(&sides[i]);
	guests_wait();
	side_stop(&sides[0]);
	for (i = 1; i < nr_sides; i++)
		status |= side_fetch(&sides[i]);
	return status | side_fetch(&sides[0]);
}

static bool is_side(const char *file)
{
	int i;

	for (i = 0; i < nr_sides; i++)
		if (!strncmp(file, sides[i].name, strlen(sides[i].name)) &&
		    !strcmp(file + strlen(sides[i].name), ".dat"))
			return true;
	return false;
}

static bool ends_in(const char *name, const char *end)
{
	size_t len = strlen(name), n = strlen(end);

	return len > n && !strcmp(name + len - n, end);
}

static int is_other(const struct dirent *entry)
{
	return ends_in(entry->d_name, ".dat.part") ||
	       (ends_in(entry->d_name, ".dat") && !is_side(entry->d_name));
}

/* pvperf merge takes all files of the folder; and what a recording that failed has kept stays. */
static int dir_make(void)
{
	struct dirent **others;
	int n, i;

	dir_is_ours = !mkdir(dir, 0755);
	if (!dir_is_ours && errno != EEXIST)
		return failed(dir, strerror(errno));
	n = scandir(dir, &others, is_other, NULL);
	if (n < 0)
		return failed(dir, strerror(errno));
	if (n)
		fprintf(stderr, "pvperf: %s: %s is of another recording: give another folder\n",
			dir, others[0]->d_name);
	for (i = 0; i < n; i++)
		free(others[i]);
	free(others);
	return n ? EXIT_PROBLEM : EXIT_FITS;
}

/* The sides have no copy any more. */
static void side_tell_part(const struct side *side)
{
	if (side->kept)
		fprintf(stderr, "pvperf: %s is kept, %s; to merge it call it %s.dat\n", side->part,
			side->whole ? "and is whole" : "and is not whole", side->name);
}

/* All files get their names, or none: they are not mixed with those of an earlier recording. */
static int all_keep(void)
{
	int i, status = EXIT_FITS;

	for (i = 0; i < nr_sides; i++)
		if (!sides[i].whole)
			status = EXIT_PROBLEM;
	for (i = 0; i < nr_sides; i++) {
		if (status)
			side_tell_part(&sides[i]);
		else if (rename(sides[i].part, sides[i].path))
			status = failed(sides[i].path, strerror(errno));
	}
	return status;
}

/* If its file has come, it does not matter how the command ends. */
static void all_end(void)
{
	int i;

	for (i = 0; i < nr_sides; i++)
		side_stop(&sides[i]);
	for (i = 0; i < nr_sides; i++)
		if (side_end(&sides[i]) && sides[i].whole)
			fprintf(stderr, "pvperf: %s: its command failed after its file had come\n",
				sides[i].name);
}

static int record(char **command)
{
	int status = all_start();

	if (!status)
		status = *command ? until_ended(command) : until_stopped();
	if (!status)
		status = all_fetch();
	all_end();
	return all_keep() | status;
}

int command_record(int argc, char **argv)
{
	int status = options_take(argc, argv) ?: dir_make();

	if (status)
		return status;
	signals_take();
	status = record(argv + optind);
	if (!status) {
		fputs("pvperf merge ", stdout);
		quote(stdout, dir);
		putchar('\n');
	} else if (dir_is_ours)
		rmdir(dir);	/* if there is nothing in it */
	return status;
}
