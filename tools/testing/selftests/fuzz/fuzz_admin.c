// SPDX-License-Identifier: GPL-2.0
/* What an admin writes, reads and loads while VMs run. */
#include "fuzz.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static const struct {
	const char *name, *standard, *value[3];
} parameters[] = {
	{ "priority", "flexible", { "flexible", "pinned", "none" } },
	{ "raw", "yes", { "yes", "no", "list" } },
	{ "branches", "off", { "addresses", "full", "off" } },
	{ "host_events", "yes", { "yes", "no", "9" } },
	{ "max_events", "64", { "64", "1", "5" } },
	{ "max_vm_events", "4096", { "4096", "3", "0" } },
	{ "max_opens", "4096", { "4096", "1000000", "20" } },
	{ "max_calls", "1000000000", { "1000000000", "1000", "100" } },
	{ "max_overflows", "16000", { "16000", "1000", "5000" } },
	{ "max_pages", "2048", { "2048", "1", "600" } },
	{ "min_period", "1000", { "1000", "100", "5000" } },
	{ "yield", "N", { "N", "Y", "x" } },
	{ "access", "local", { "local", "global", "unavailable" } },
};

static const char *const rules[] = {
	"\n", "\n", "uid=65534 raw=no\n", "uid=65534 access=force\n", "uid=65534 access=exclusive\n",
	"pid=%d max_events=2 priority=pinned\naccess=unavailable\n", "pid=%d access=global\n",
	"uid=65534 branches=full\n", "comm=fuzz* min_period=2000 host_events=no\n", "cgroup=/* max_pages=3\n",
	"access=unavailable\n", "raw\n", "# \n\n\naccess=local", "uid=65534 max_vm_events=4 max_opens=30\n",
};

static void reads(const char *path)
{
	char text[4096];
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	while (fd >= 0 && read(fd, text, sizeof(text)) > 0)
		;
	close(fd);
}

bool fuzz_admin_failed;

static void reloads(void)
{
	int err;

	if (tiny_module_unload(O_NONBLOCK))
		return;
	usleep(below(3000));
	err = tiny_module_load("");
	if (err) {
		printf("# the module does not load again: %s\n", strerror(-err));
		fuzz_admin_failed = true;
	}
}

static void writes_rules(int vmm)
{
	char text[256];

	snprintf(text, sizeof(text), rules[below(N(rules))], vmm);
	if (below(4))
		tiny_rules_write(text);
	else
		tiny_rules_append(text);
}

/* A moment in which no OPEN may be taken that began in it. */
static void closes(struct fuzz_round *round)
{
	static int nr;

	if (tiny_rules_write("access=unavailable\n"))
		return;
	round->closed = ++nr;
	usleep(below(20000));
	round->closed = 0;
}

void fuzz_admin_restore(void)
{
	int n;

	tiny_rules_write("\n");
	for (n = 0; n < N(parameters); n++)
		tiny_param_write(parameters[n].name, parameters[n].standard);
}

void fuzz_admin(struct fuzz_round *round, int vmm)
{
	int n = below(N(parameters));

	switch (below(40)) {
	case 0:
		reloads();
		break;
	case 1 ... 4:
		reads("/sys/kernel/debug/pvperf/vms");
		break;
	case 5:
		reads("/dev/pvperf_policy");
		break;
	case 6 ... 13:
		writes_rules(vmm);
		break;
	case 14 ... 15:
		closes(round);
		break;
	case 16 ... 24:	/* else VMs would mostly have nothing */
		fuzz_admin_restore();
		break;
	default:
		tiny_param_write(parameters[n].name, parameters[n].value[below(3)]);
	}
}
