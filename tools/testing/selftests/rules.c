// SPDX-License-Identifier: GPL-2.0
/* The list of rules as a file: its syntax, its sizes, who may write it. */

#include "tiny_test.h"
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#define TEXT_MAX	65536

FIXTURE(rules) {
};

FIXTURE_SETUP(rules)
{
	ASSERT_EQ(0, tiny_rules_write("\n"));
}

FIXTURE_TEARDOWN(rules)
{
	EXPECT_EQ(0, tiny_rules_write("\n"));
}

static char text[TEXT_MAX + 4096], other[TEXT_MAX + 4096];

/* Who opens the list only to write seeks nevertheless, as stdio does. */
TEST_F(rules, seek)
{
	int fd = open("/dev/pvperf_policy", O_WRONLY);

	ASSERT_LE(0, fd);
	EXPECT_EQ(0, lseek(fd, 0, SEEK_END));
	EXPECT_EQ(7, write(fd, "raw=no\n", 7));
	EXPECT_EQ(7, lseek(fd, 0, SEEK_CUR));
	EXPECT_EQ(12, write(fd, "max_pages=6\n", 12));
	close(fd);
	ASSERT_EQ(0, tiny_rules_read(text, sizeof(text)));
	EXPECT_EQ(0, strncmp(text, "raw=no\nmax_pages=6\n#", 20));
}

/* Reading moves a descriptor's position; what it writes then replaces the rules all the same. */
TEST_F(rules, read_then_write)
{
	int fd = open("/dev/pvperf_policy", O_RDWR);

	ASSERT_LE(0, fd);
	ASSERT_EQ(0, tiny_rules_write("raw=no"));
	EXPECT_LT(0, read(fd, text, sizeof(text)));
	EXPECT_EQ(12, write(fd, "max_pages=7\n", 12));
	EXPECT_EQ(0, lseek(fd, 0, SEEK_SET));
	EXPECT_LT(0, read(fd, text, sizeof(text)));
	EXPECT_EQ(12, write(fd, "max_pages=6\n", 12));
	close(fd);
	ASSERT_EQ(0, tiny_rules_read(text, sizeof(text)));
	EXPECT_EQ(0, strncmp(text, "max_pages=6\n#", 13));
}

/* What reads as rules is written, and read again the same; comments are the reader's. */
TEST_F(rules, text)
{
	static const char *const bad[] = {
		"max_events=65", "max_events=0", "max_events=", "max_events", "max_events=1x",
		"max_events=4294967297", "max_events=-1", "access=all", "access=", "foo=1",
		"comm=x", "comm= raw=no", "raw=no raw=yes", "comm=a comm=b raw=no", "pid=x raw=no",
		"pid=99999999 raw=no", "=", "raw", "raw=maybe", "min_period=99",
		"raw=no\nraw=no # no comment", "raw=no\n\n#\nmax_pages=65537",
	};
	const char *want = "comm=a*b uid=0 cgroup=/x/y access=unavailable priority=pinned raw=no "
		"host_events=no max_events=1 max_vm_events=2 max_opens=3 max_calls=100 "
		"max_overflows=1000 max_pages=6 min_period=100\naccess=local\n";
	unsigned int i;

	ASSERT_EQ(0, tiny_rules_write("\t# words\n\n  min_period=100 max_pages=6 max_overflows=1000\tmax_calls=100 "
		"max_opens=3 max_vm_events=2 max_events=1 host_events=0 raw=n priority=pinned "
		"access=unavailable cgroup=/x/y uid=0 comm=a*b \r\n"));
	ASSERT_EQ(0, tiny_rules_append("access=local"));
	ASSERT_EQ(0, tiny_rules_read(text, sizeof(text)));
	EXPECT_EQ(0, strncmp(text, want, strlen(want)));
	EXPECT_EQ(0, strncmp(text + strlen(want), "# default: access=local ", 24));
	for (i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		EXPECT_NE(0, tiny_rules_write(bad[i]))
			TH_LOG("'%s' is a rule", bad[i]);
		EXPECT_NE(0, tiny_rules_append(bad[i]));
	}
	ASSERT_EQ(0, tiny_rules_read(other, sizeof(other)));
	EXPECT_EQ(0, strcmp(text, other));
	EXPECT_EQ(0, tiny_rules_write(other));
	ASSERT_EQ(0, tiny_rules_read(other, sizeof(other)));
	EXPECT_EQ(0, strcmp(text, other));
}

/* Not longer than is said, and nothing that is no text. */
TEST_F(rules, sizes)
{
	const char *rule = "comm=";
	size_t i, n;

	memset(text, 'a', sizeof(text));
	memcpy(text, rule, 5);
	text[5] = '*';
	memcpy(text + 1023 - 7, " raw=no", 8);
	EXPECT_EQ(0, tiny_rules_write(text));
	/* "raw=no" when it is read. */
	memcpy(text + 1023 - 7, "a raw=n", 8);
	EXPECT_EQ(-EINVAL, tiny_rules_write(text));
	memset(text, 'a', 1024);
	memcpy(text, rule, 5);
	text[5] = '*';
	memcpy(text + 1024 - 7, " raw=no", 8);
	EXPECT_EQ(-EINVAL, tiny_rules_write(text));
	memset(text, '\n', TEXT_MAX + 1);
	text[TEXT_MAX + 1] = 0;
	EXPECT_EQ(-EFBIG, tiny_rules_write(text));
	text[TEXT_MAX] = 0;
	EXPECT_EQ(-ENOSPC, tiny_rules_write(text));
	/* As of a tool that writes in pieces, which cuts a line. */
	for (n = 0; n < 4094; n += 2)
		memcpy(text + n, "#\n", 2);
	strcpy(text + n, "##");
	EXPECT_EQ(-EINVAL, tiny_rules_write(text));
	strcpy(text + n, "#\n");
	EXPECT_EQ(0, tiny_rules_write(text));
	for (n = i = 0; i < 4000; i++)
		n += sprintf(text + n, "comm=%zu raw=n\n", i);
	EXPECT_EQ(0, tiny_rules_write(text));
	EXPECT_EQ(-ENOSPC, tiny_rules_append(text));
	srand(1);
	for (i = 0; i < 300; i++) {
		for (n = 0; n < 200; n++)
			text[n] = 1 + rand() % 255;
		text[n] = 0;
		text[0] = 'x';	/* no comment */
		EXPECT_NE(0, tiny_rules_write(text));
	}
}

/* In a process without rights: neither by the file's mode, nor with one that root has opened. */
TEST_F(rules, unprivileged)
{
	int status, fd;
	pid_t pid = fork();

	if (!pid) {
		syscall(SYS_setresuid, 65534, 65534, 65534);
		_exit(tiny_rules_write("raw=no\n") != -EACCES || tiny_rules_read(text, 64) != -EACCES);
	}
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	EXPECT_EQ(0, status);
	EXPECT_EQ(0, chmod("/dev/pvperf_policy", 0666));
	pid = fork();
	if (!pid) {
		syscall(SYS_setresuid, 65534, 65534, 65534);
		fd = open("/dev/pvperf_policy", O_RDWR);
		_exit(fd >= 0 || errno != EPERM);
	}
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	EXPECT_EQ(0, status);
	EXPECT_EQ(0, chmod("/dev/pvperf_policy", 0600));
}

TEST_HARNESS_MAIN
