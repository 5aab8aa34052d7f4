// SPDX-License-Identifier: GPL-2.0
/*
 * hostcall: lets a program in the guest run a command on the guest's host.
 *
 *	host COMMAND...		in the guest: run it by sh -c in the host, print
 *				what it printed, exit with its status
 *	hostd SOCKET		in the host: serve the socket that QEMU keeps
 *				for the guest's port
 *
 * One request at a time, whole messages: a header and its text each way. A
 * caller that was killed leaves its reply in the channel; the next one knows
 * by the id that it is not its own. Output goes by way of a file, so that a
 * command may leave something running in the background.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define PORT	"/lab/port/host"
#define LOCK	"/run/host.lock"
#define OUTPUT	"/run/hostd.out"

struct header {
	uint64_t id;
	uint32_t status;	/* of the command, 0 in a request */
	uint32_t length;	/* of the text that follows */
};

static void fail(const char *what)
{
	fprintf(stderr, "hostcall: %s: %s\n", what, strerror(errno));
	exit(125);
}

/* 0: the other side is gone */
static int all(int fd, void *buf, size_t len, int out)
{
	char *p = buf;
	ssize_t n;

	while (len) {
		n = out ? write(fd, p, len) : read(fd, p, len);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno == EAGAIN) {
			usleep(1000);
			continue;
		}
		if (n <= 0)
			return 0;
		p += n;
		len -= n;
	}
	return 1;
}

static char *text(int fd, uint32_t len)
{
	char *p = calloc(1, (size_t)len + 1);

	if (!p)
		fail("out of memory");
	if (!all(fd, p, len, 0))
		fail("read");
	return p;
}

static int call(int argc, char **argv)
{
	struct header h = { 0 }, reply;
	struct timespec now;
	char command[65536] = "", *out;
	size_t at = 0;
	int i, fd, lock;

	for (i = 1; i < argc; i++) {
		at += snprintf(command + at, sizeof(command) - at, "%s%s",
			       i > 1 ? " " : "", argv[i]);
		if (at >= sizeof(command)) {
			errno = E2BIG;
			fail("command");
		}
	}
	lock = open(LOCK, O_CREAT | O_RDWR | O_CLOEXEC, 0600);
	if (lock < 0 || flock(lock, LOCK_EX))
		fail(LOCK);
	fd = open(PORT, O_RDWR | O_CLOEXEC);
	if (fd < 0)
		fail(PORT);

	clock_gettime(CLOCK_REALTIME, &now);
	h.id = now.tv_sec * 1000000000ull + now.tv_nsec;
	h.length = at;
	if (!all(fd, &h, sizeof(h), 1) || !all(fd, command, at, 1))
		fail("write");
	for (;;) {
		if (!all(fd, &reply, sizeof(reply), 0))
			fail("read");
		out = text(fd, reply.length);
		if (reply.id == h.id)
			break;
		free(out);
	}
	all(STDOUT_FILENO, out, reply.length, 1);
	return reply.status;
}

static int run(const char *command)
{
	int status, out;
	pid_t pid = fork();

	if (pid < 0)
		fail("fork");
	if (!pid) {
		out = open(OUTPUT, O_CREAT | O_TRUNC | O_RDWR | O_APPEND, 0600);
		dup2(open("/dev/null", O_RDONLY), STDIN_FILENO);
		dup2(out, STDOUT_FILENO);
		dup2(out, STDERR_FILENO);
		execl("/bin/sh", "sh", "-c", command, NULL);
		_exit(127);
	}
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			fail("waitpid");
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static int serve(const char *path)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };
	struct header h;
	struct stat st;
	char *command, *out;
	int fd, file, tries;

	signal(SIGPIPE, SIG_IGN);
	snprintf(a.sun_path, sizeof(a.sun_path), "%s", path);
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	for (tries = 0; connect(fd, (struct sockaddr *)&a, sizeof(a)); tries++) {
		if (tries == 600)
			fail(path);
		usleep(100000);		/* QEMU has not made it yet */
	}
	while (all(fd, &h, sizeof(h), 0)) {
		command = text(fd, h.length);
		h.status = run(command);
		free(command);

		file = open(OUTPUT, O_RDONLY | O_CLOEXEC);
		if (file < 0 || fstat(file, &st))
			fail(OUTPUT);
		out = text(file, st.st_size);
		close(file);
		unlink(OUTPUT);
		h.length = st.st_size;
		if (!all(fd, &h, sizeof(h), 1) || !all(fd, out, h.length, 1))
			break;
		free(out);
	}
	return 0;
}

int main(int argc, char **argv)
{
	const char *name = strrchr(argv[0], '/');

	name = name ? name + 1 : argv[0];
	if (!strcmp(name, "hostd") && argc == 2)
		return serve(argv[1]);
	if (!strcmp(name, "host") && argc > 1)
		return call(argc, argv);
	fprintf(stderr, "usage: host COMMAND... | hostd SOCKET\n");
	return 125;
}
