// SPDX-License-Identifier: GPL-2.0
#include <grp.h>
#include <linux/capability.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "rights.h"

#define NOBODY		65534

/* Bytes of memory to read them with. */
#ifdef __SANITIZE_ADDRESS__
#define DATA_MAX	RLIM_INFINITY
#else
#define DATA_MAX	(4ull << 30)
#endif

/* Has this user namespace nobody? The machine's own has; a container may have its root alone. */
static bool lacks_nobody(void)
{
	FILE *f = fopen("/proc/self/uid_map", "re");
	unsigned int inside, outside, n;
	bool lacks = f;

	while (lacks && fscanf(f, "%u %u %u", &inside, &outside, &n) == 3)
		lacks = NOBODY < inside || NOBODY - inside >= n;
	if (f)
		fclose(f);
	return lacks;
}

static bool capabilities_drop(void)
{
	struct __user_cap_header_struct head = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct none[_LINUX_CAPABILITY_U32S_3] = { };

	return !syscall(SYS_capset, &head, none);
}

static bool root_drop(void)
{
	if (geteuid())
		return true;
	if (lacks_nobody())
		return capabilities_drop();
	return !setgroups(0, NULL) && !setgid(NOBODY) && !setuid(NOBODY);
}

bool rights_limit(int what, rlim_t most)
{
	struct rlimit has;

	if (getrlimit(what, &has))
		return false;
	if (has.rlim_max > most)
		has.rlim_max = most;
	if (has.rlim_cur > has.rlim_max)
		has.rlim_cur = has.rlim_max;
	return !setrlimit(what, &has);
}

bool rights_give_up(void)
{
	return !prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) && rights_limit(RLIMIT_DATA, DATA_MAX) && root_drop();
}
