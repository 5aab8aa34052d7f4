// SPDX-License-Identifier: GPL-2.0
/* The totals and the parameters of the host module. */
#include "tiny_guest.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
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

int tiny_param_write(const char *name, const char *value)
{
	char path[128];
	int fd, err = 0;

	snprintf(path, sizeof(path), PARAM_PATH, name);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	if (write(fd, value, strlen(value)) < 0)
		err = -errno;
	close(fd);
	return err;
}
