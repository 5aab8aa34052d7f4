// SPDX-License-Identifier: GPL-2.0
/*
 * mon COMMAND...: one command for the monitor of the guest's QEMU, run in the
 * host: `mon info status`, `mon system_reset`, `mon stop`, `mon cpu_del 1`.
 * From the guest: `host mon COMMAND...`. $LAB_GUEST_NAME names another guest than "guest".
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define PROMPT	"(qemu) "

/* Copies what comes before the prompt; 0: the monitor is gone. */
static int until_prompt(int fd, FILE *to)
{
	static char buf[1 << 20];
	size_t at = 0;
	char *end;
	ssize_t n;

	while (at < sizeof(buf) - 1) {
		n = read(fd, buf + at, sizeof(buf) - 1 - at);
		if (n <= 0)
			return 0;
		at += n;
		buf[at] = 0;
		end = strstr(buf, PROMPT);
		if (!end)
			continue;
		*end = 0;
		if (to) {
			/* The first line is the command, echoed. */
			char *text = strchr(buf, '\n');

			if (text)
				fputs(text + 1, to);
		}
		return 1;
	}
	return 1;
}

int main(int argc, char **argv)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };
	const char *name = getenv("LAB_GUEST_NAME");
	int i, fd = socket(AF_UNIX, SOCK_STREAM, 0);
	char line[4096] = "";
	size_t at = 0;

	if (argc < 2) {
		fprintf(stderr, "usage: mon COMMAND...\n");
		return 125;
	}
	snprintf(a.sun_path, sizeof(a.sun_path), "/run/%s.monitor", name ? name : "guest");
	for (i = 1; i < argc && at < sizeof(line); i++)
		at += snprintf(line + at, sizeof(line) - at, "%s%s", argv[i],
			       i + 1 < argc ? " " : "\n");
	if (at >= sizeof(line) || connect(fd, (struct sockaddr *)&a, sizeof(a))) {
		perror(a.sun_path);
		return 125;
	}
	until_prompt(fd, NULL);
	if (write(fd, line, at) != (ssize_t)at) {
		perror(a.sun_path);
		return 125;
	}
	/* `quit` leaves no prompt behind, and is no failure for it. */
	until_prompt(fd, stdout);
	return 0;
}
