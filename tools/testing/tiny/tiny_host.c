// SPDX-License-Identifier: GPL-2.0
/* The host: its module and its CPUs. */
#include "tiny_guest.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

int tiny_totals_read(struct tiny_totals *t)
{
	FILE *f = fopen("/sys/kernel/debug/pvperf/totals", "re");
	char name[32];
	int found = 0;
	long value;

	if (!f)
		return -errno;
	while (fscanf(f, "%31s %ld", name, &value) == 2) {
		if (!strcmp(name, "vms"))
			t->vms = value, found |= 1;
		else if (!strcmp(name, "vcpus"))
			t->vcpus = value, found |= 2;
		else if (!strcmp(name, "events"))
			t->events = value, found |= 4;
		else if (!strcmp(name, "pages"))
			t->pages = value, found |= 8;
	}
	fclose(f);
	return found == 15 ? 0 : -EINVAL;
}

bool tiny_totals_wait(const struct tiny_totals *want)
{
	struct tiny_totals t;
	int tries;

	for (tries = 0; tries < 100; tries++) {
		if (!tiny_totals_read(&t) && !memcmp(&t, want, sizeof(t)))
			return true;
		usleep(50000);
	}
	fprintf(stderr, "# totals: vms %ld vcpus %ld events %ld pages %ld\n",
		t.vms, t.vcpus, t.events, t.pages);
	return false;
}

#define PARAM_PATH	"/sys/module/pvperf_host/parameters/%s"

int tiny_param_read(const char *name, char *value, size_t size)
{
	char path[128];
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), PARAM_PATH, name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	n = read(fd, value, size - 1);
	close(fd);
	if (n < 0)
		return -EIO;
	value[n] = 0;
	value[strcspn(value, "\n")] = 0;
	return 0;
}

int tiny_text_write(const char *path, int flags, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC | flags), err = 0;

	if (fd < 0)
		return -errno;
	if (write(fd, text, strlen(text)) < 0)
		err = -errno;
	close(fd);
	return err;
}

int tiny_param_write(const char *name, const char *value)
{
	char path[128];

	snprintf(path, sizeof(path), PARAM_PATH, name);
	return tiny_text_write(path, 0, value);
}

#define RULES_PATH	"/dev/pvperf_policy"

int tiny_rules_write(const char *rules)
{
	return tiny_text_write(RULES_PATH, O_TRUNC, rules);
}

int tiny_rules_append(const char *rules)
{
	return tiny_text_write(RULES_PATH, O_APPEND, rules);
}

int tiny_rules_read(char *rules, size_t size)
{
	FILE *f = fopen(RULES_PATH, "re");
	size_t n;

	if (!f)
		return -errno;
	n = fread(rules, 1, size - 1, f);
	rules[n] = 0;
	fclose(f);
	return 0;
}

const char *tiny_module_path(void)
{
	return getenv("PVPERF_HOST_KO") ?: "/lab/pvperf_host.ko";
}

int tiny_module_load(const char *parameters)
{
	int fd = open(tiny_module_path(), O_RDONLY | O_CLOEXEC), err = 0;

	if (fd < 0 || syscall(SYS_finit_module, fd, parameters, 0))
		err = -errno;
	if (fd >= 0)
		close(fd);
	return err;
}

int tiny_module_unload(int flags)
{
	return syscall(SYS_delete_module, "pvperf_host", flags) ? -errno : 0;
}

int tiny_stay_on(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	return sched_setaffinity(0, sizeof(set), &set) ? -errno : 0;
}

int tiny_in_other_process(int (*f)(void *arg), void *arg)
{
	static char stack[65536] __attribute__((aligned(16)));
	pid_t pid = clone(f, stack + sizeof(stack), CLONE_VM | SIGCHLD, arg);
	int status;

	return pid > 0 && waitpid(pid, &status, 0) == pid ? status : -1;
}

int tiny_online_write(int cpu, const char *how)
{
	char path[64];

	snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%d/online", cpu);
	return tiny_text_write(path, 0, how);
}

long tiny_interrupts_of(int cpu, const char *kind)
{
	char line[4096], *at, *end;
	long n = -1;
	FILE *f = fopen("/proc/interrupts", "re");

	while (f && fgets(line, sizeof(line), f)) {
		at = line + strspn(line, " ");
		if (strncmp(at, kind, strlen(kind)))
			continue;
		for (at += strlen(kind); cpu-- >= 0; at = end) {
			n = strtol(at, &end, 10);
			n = end == at ? -1 : n;	/* what the kind is for */
		}
	}
	if (f)
		fclose(f);
	return n;
}
