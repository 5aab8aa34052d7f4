// SPDX-License-Identifier: GPL-2.0
/*
 * The conditions of the kernel, on either side: its version, whether it accepts the
 * module, and whether the module is installed.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include "kernel.h"
#include "module.h"
#include "root.h"

#define LOCKDOWN	"/sys/kernel/security/lockdown"

void kernel_version(const struct side *side, struct finding *f)
{
	unsigned int major, minor;

	if (sscanf(root_release(), "%u.%u", &major, &minor) != 2) {
		finding_unknown(f, "the kernel's version is %s", root_release());
	} else if (major < 6 || (major == 6 && minor < 1)) {
		finding_problem(f, "%s is older than 6.1", root_release());
		finding_todo(f, "boot a kernel of version 6.1 or newer");
	} else {
		finding_ok(f, "%s, 6.1 or newer", root_release());
	}
}

/* The file lists all modes, with the current one in brackets: "[none] integrity ...". */
static int kernel_lockdown(char mode[32])
{
	char line[128];
	int err = root_line(LOCKDOWN, line, sizeof(line));

	strcpy(mode, "none");
	if (!err && sscanf(line, "%*[^[][%31[^]]", mode) != 1)
		sscanf(line, "[%31[^]]", mode);
	/* A kernel without lockdown has the directory, but not the file. */
	return err == ENOENT && root_exists("/sys/kernel/security/lsm") ? 0 : err;
}

static bool kernel_enforces(void)
{
	char value[8];

	return !root_line("/sys/module/module/parameters/sig_enforce", value,
			  sizeof(value)) && *value == 'Y';
}

static void kernel_file_signed(const struct side *side, struct finding *f,
			       const char *reason)
{
	char path[512];

	if (!module_file(side->module, path, sizeof(path))) {
		finding_unknown(f, "%s, so only signed modules load; no %s is installed yet",
				reason, side->module);
		finding_todo(f, "install it by dkms, which makes a key at its first build; then mokutil --import /var/lib/dkms/mok.pub, reboot");
		return;
	}
	switch (module_signed(path)) {
	case 0:
		finding_problem(f, "%s, so only signed modules load, and %s has no signature",
				reason, path);
		finding_todo(f, "have dkms sign it (mok_signing_key and mok_certificate in /etc/dkms/framework.conf), and the machine trust that key: mokutil --import /var/lib/dkms/mok.pub, reboot");
		return;
	case 1:
		finding_unknown(f, "%s, and %s is signed; only loading it shows whether the machine trusts the key",
				reason, path);
		break;
	default:
		finding_unknown(f, "%s, so only signed modules load; %s is compressed, so its signature is not visible",
				reason, path);
	}
	finding_todo(f, "mokutil --test-key /var/lib/dkms/mok.pub; if it is not enrolled: mokutil --import, reboot");
}

/* If the module is loaded, the kernel accepted it, whatever else is readable. */
void kernel_signature(const struct side *side, struct finding *f)
{
	char mode[32], reason[96];
	int err = kernel_lockdown(mode);
	bool there = module_there(side->module), enforces = kernel_enforces();

	if (err && there) {
		finding_ok(f, "the kernel has accepted %s", side->module);
	} else if (err && !enforces) {
		finding_unread(f, LOCKDOWN, err);
		if (err == ENOENT)
			finding_run(f, "", "mount -t securityfs securityfs /sys/kernel/security");
	} else if (!strcmp(mode, "none") && !enforces) {
		finding_ok(f, "the kernel is not locked down, so unsigned modules load");
	} else {
		if (strcmp(mode, "none"))
			snprintf(reason, sizeof(reason),
				 "the kernel is locked down (%s)", mode);
		else
			strcpy(reason, "the kernel has module.sig_enforce set");
		if (there)
			finding_ok(f, "%s, and has accepted %s", reason, side->module);
		else
			kernel_file_signed(side, f, reason);
	}
}

/* As in 6.1.0-56-amd64, 6.12.118+deb13-amd64, 7.2.13+deb14-cloud-amd64. */
static bool kernel_is_debians(const char *release)
{
	const char *end = strrchr(release, '-');

	return end && !strcmp(end, "-amd64") && (strstr(release, "+deb") || strstr(release, ".0-"));
}

/* Of a kernel that is Debian's: its metapackage brings later headers, of the suite that apt prefers. */
static const char *kernel_flavour(const char *release)
{
	const char *at = strstr(release, "+deb");

	at = strchr(at ?: strchr(release, '-') + 1, '-');
	return at ? at + 1 : "amd64";
}

static void kernel_no_module(const struct side *side, struct finding *f)
{
	char path[256], version[64];
	const char *release = root_release();
	bool headers, dkms;

	finding_problem(f, "no %s is installed for kernel %s", side->module, release);
	snprintf(path, sizeof(path), "/lib/modules/%s/build/Makefile", release);
	headers = root_exists(path);
	snprintf(path, sizeof(path), "/usr/src/%s-*/dkms.conf", side->package);
	dkms = root_part(path, version, sizeof(version));
	if (!headers && kernel_is_debians(release))
		finding_run(f, dkms ? "" : "; then, in pvperf's source: make install-modules",
			    "apt install linux-headers-%s linux-headers-%s", release, kernel_flavour(release));
	else if (!headers)
		finding_todo(f, "install the headers of this kernel from where it came; /lib/modules/%s/build has to lead to them", release);
	else if (dkms)
		finding_run(f, "; if that fails, see make.log below /var/lib/dkms", "dkms install %s/%s -k %s",
			    side->package, version, release);
	else
		finding_todo(f, "in pvperf's source: make install-modules");
}

void kernel_module(const struct side *side, struct finding *f)
{
	char path[512], file[96], version[32];

	if (module_there(side->module)) {
		snprintf(file, sizeof(file), "/sys/module/%s/version", side->module);
		if (root_line(file, version, sizeof(version)))
			finding_ok(f, "%s is loaded", side->module);
		else
			finding_ok(f, "%s %s is loaded", side->module, version);
	} else if (module_file(side->module, path, sizeof(path))) {
		finding_problem(f, "%s is installed, but not loaded", side->module);
		finding_run(f, "; if that fails, see dmesg", "modprobe %s", side->module);
	} else {
		kernel_no_module(side, f);
	}
}

bool kernel_has(struct finding *f, struct symbol *symbols, int n, const char *problem)
{
	int err = symbols_known(symbols, n), i;
	char names[256] = "";
	size_t used = 0;

	for (i = 0; !err && i < n && used < sizeof(names); i++) {
		if (!symbols[i].known)
			used += snprintf(names + used, sizeof(names) - used, "%s%s",
					 used ? ", " : "", symbols[i].name);
	}
	if (err) {
		finding_unread(f, "/proc/kallsyms", err);
	} else if (used) {
		finding_problem(f, "%s: %s", problem, names);
		finding_todo(f, "boot one of the kernels that pvperf is built for: Debian's 6.1, 6.12, 7.2 or 7.3");
	}
	return !err && !used;
}
