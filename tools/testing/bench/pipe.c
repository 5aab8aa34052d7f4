// SPDX-License-Identifier: GPL-2.0
/*
 * pipe LABEL COUNT GO: two processes pass a word to and fro through two pipes. It first
 * prints the process id of one of them, so that a tool can attach to that one only. They
 * begin when a process opens the fifo GO for writing, and print marks before and after
 * COUNT round trips.
 */
#include <err.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
#include "mark.h"

static int there[2], back[2];

static void pass(int in, int out)
{
	int word;

	if (read(in, &word, sizeof(word)) != sizeof(word) ||
	    write(out, &word, sizeof(word)) != sizeof(word))
		err(1, "pipe");
}

static void rounds(long count)
{
	int word = 0;

	if (write(there[1], &word, sizeof(word)) != sizeof(word))
		err(1, "pipe");
	while (--count)
		pass(back[0], there[1]);
	if (read(back[0], &word, sizeof(word)) != sizeof(word))
		err(1, "pipe");
}

static void child(long count)
{
	while (count--)
		pass(there[0], back[1]);
	exit(0);
}

static void measure(const char *label, long count)
{
	struct mark a, b;

	mark_take(&a, 0);
	rounds(count);
	mark_take(&b, 1);
	mark_print(&a, label, 'a');
	mark_print(&b, label, 'b');
}

int main(int argc, char **argv)
{
	long count = argc == 4 ? atol(argv[2]) : 0;
	pid_t pid;

	if (count < 1)
		errx(2, "usage: pipe LABEL COUNT GO");
	if (pipe(there) || pipe(back))
		err(1, "pipe");
	pid = fork();
	if (pid < 0)
		err(1, "fork");
	if (!pid)
		child(count);
	printf("%d\n", pid);
	fflush(stdout);
	if (open(argv[3], O_RDONLY) < 0)
		err(1, "%s", argv[3]);
	measure(argv[1], count);
	waitpid(pid, NULL, 0);
	return 0;
}
