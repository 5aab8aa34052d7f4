// SPDX-License-Identifier: GPL-2.0
/*
 * What a host needs, in the order in which one would repair it.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include "cpuid.h"
#include "finding.h"
#include "kernel.h"
#include "module.h"
#include "pmu.h"
#include "root.h"

#define N(array)	((int)(sizeof(array) / sizeof(*(array))))

/* Those that host/door.c hooks, the ones that it diverts first. */
static const char *const host_hooks[] = {
	"kvm_emulate_hypercall", "kvm_cpuid", "kvm_arch_pre_destroy_vm",
	"kvm_vcpu_reset", "kvm_arch_vcpu_ioctl_set_regs",
};

static void host_symbols(struct symbol symbols[N(host_hooks)])
{
	int i;

	for (i = 0; i < N(host_hooks); i++)
		symbols[i] = (struct symbol){ .name = host_hooks[i] };
}

static const char *host_vendor(void)
{
	return cpuid_is_intel() ? "kvm_intel" : "kvm_amd";
}

static void host_kvm(const struct side *side, struct finding *f)
{
	const char *vendor = host_vendor();

	if (module_there("kvm") && module_there(vendor)) {
		finding_ok(f, "kvm and %s are loaded", vendor);
	} else if (!cpuid_has_virtualization()) {
		finding_problem(f, "the CPU has, or shows, no virtualization (svm, vmx)");
		finding_todo(f, cpuid_is_guest() ?
			     "have the host allow nested virtualization" :
			     "enable it in the firmware's setup");
	} else {
		finding_problem(f, "%s is not loaded",
				module_there("kvm") ? vendor : "kvm");
		finding_todo(f, "modprobe %s", vendor);
	}
}

static void host_no_pmu(struct finding *f, int err)
{
	switch (err) {
	case EACCES:
	case EPERM:
		finding_unknown(f, "this user may not open perf events: %s",
				strerror(err));
		finding_todo(f, "run pvperf check as root");
		break;
	case ENOENT:
	case EOPNOTSUPP:
	case ENODEV:
		finding_problem(f, "the kernel has no hardware PMU (cycles: %s), so guests get the host's software events only",
				strerror(err));
		finding_todo(f, cpuid_is_guest() ?
			     "give this VM a vPMU; or do without hardware events" :
			     "dmesg | grep -i perf says why; see also the firmware's setup");
		break;
	case ENOSYS:
		finding_problem(f, "the kernel has no perf events (CONFIG_PERF_EVENTS)");
		finding_todo(f, "boot a kernel that has");
		break;
	default:
		finding_unknown(f, "cycles can't be opened: %s", strerror(err));
	}
}

static void host_pmu(const struct side *side, struct finding *f)
{
	struct pmu_try t = pmu_try_cycles();

	if (t.err) {
		host_no_pmu(f, t.err);
	} else if (!t.running) {
		finding_problem(f, "cycles open, but don't count: somebody else has the counters");
		finding_todo(f, "look for perf sessions with pinned events, and for VMs with a mediated vPMU");
	} else {
		finding_ok(f, "hardware events count");
	}
}

/* Since 7.0; off by default. */
static void host_mediated(const struct side *side, struct finding *f)
{
	const char *vendor = host_vendor();
	char value[8];
	int err = module_parameter(vendor, "enable_mediated_pmu", value,
				   sizeof(value));

	if (err == ENOENT) {
		finding_ok(f, "%s", module_there(vendor) ?
			   "this KVM has no mediated vPMU" :
			   "no mediated vPMU while KVM is not loaded");
	} else if (err) {
		finding_unread(f, "the parameter enable_mediated_pmu", err);
	} else if (*value == 'Y' || *value == '1') {
		finding_problem(f, "%s.enable_mediated_pmu is on: VMs with a vPMU borrow the whole PMU, and exclude guests' events (and the other way round)",
				vendor);
		finding_todo(f, "stop all VMs; modprobe -r pvperf_host %s; modprobe %s enable_mediated_pmu=0; and in /etc/modprobe.d",
			     vendor, vendor);
	} else {
		finding_ok(f, "%s.enable_mediated_pmu is off", vendor);
	}
}

static void host_ftrace(const struct side *side, struct finding *f)
{
	char value[8];
	int err = root_line("/proc/sys/kernel/ftrace_enabled", value,
			    sizeof(value));

	if (err == ENOENT) {
		finding_problem(f, "the kernel has no ftrace (CONFIG_DYNAMIC_FTRACE)");
		finding_todo(f, "boot a kernel that has, such as Debian's");
	} else if (err) {
		finding_unread(f, "/proc/sys/kernel/ftrace_enabled", err);
	} else if (!strcmp(value, "0")) {
		finding_problem(f, "ftrace is switched off, nothing can be hooked");
		finding_todo(f, "sysctl kernel.ftrace_enabled=1; look into /etc/sysctl.d for who switched it off");
	} else {
		finding_ok(f, "ftrace is on");
	}
}

static void host_traceable(struct finding *f, struct symbol *symbols)
{
	int i, err = symbols_traceable(symbols, N(host_hooks));

	if (err) {
		finding_unread(f, "available_filter_functions of tracefs", err);
		if (err == ENOENT)
			finding_todo(f, "mount -t tracefs tracefs /sys/kernel/tracing");
		return;
	}
	for (i = 0; i < N(host_hooks); i++) {
		if (!symbols[i].traceable) {
			finding_problem(f, "ftrace can't hook %s in this kernel",
					symbols[i].name);
			finding_todo(f, "boot a kernel that the modules fit: Documentation/kernels.md");
			return;
		}
	}
	finding_ok(f, "KVM has the %d functions that are hooked", N(host_hooks));
}

static void host_functions(const struct side *side, struct finding *f)
{
	struct symbol symbols[N(host_hooks)];
	char names[256];
	int err;

	host_symbols(symbols);
	if (!module_there("kvm")) {
		finding_unknown(f, "KVM is not loaded, its functions can't be seen");
		finding_todo(f, "modprobe %s", host_vendor());
		return;
	}
	err = symbols_known(symbols, N(host_hooks));
	kernel_lacks(symbols, N(host_hooks), names, sizeof(names));
	if (err) {
		finding_unread(f, "/proc/kallsyms", err);
	} else if (*names) {
		finding_problem(f, "this kernel's KVM lacks what is hooked: %s", names);
		finding_todo(f, "boot a kernel that the modules fit: Documentation/kernels.md");
	} else {
		host_traceable(f, symbols);
	}
}

/* Whoever else has diverted one of the first three. */
static void host_conflict(const struct side *side, struct finding *f)
{
	struct symbol symbols[N(host_hooks)];
	char pattern[128];
	int i, err;

	host_symbols(symbols);
	for (i = 0; i < 3; i++) {
		snprintf(pattern, sizeof(pattern),
			 "/sys/kernel/livepatch/*/kvm/%s,*", host_hooks[i]);
		if (root_matches(pattern)) {
			finding_problem(f, "a live patch has %s", host_hooks[i]);
			finding_todo(f, "disable that patch (/sys/kernel/livepatch/*/enabled), or boot a kernel that does not need it");
			return;
		}
	}
	if (module_there(side->module)) {
		finding_ok(f, "the functions are ours");
		return;
	}
	err = symbols_taken(symbols, N(host_hooks));
	for (i = 0; i < 3; i++) {
		if (symbols[i].taken) {
			finding_problem(f, "somebody has %s already (see /sys/kernel/tracing/enabled_functions)",
					host_hooks[i]);
			finding_todo(f, "unload the module that has it");
			return;
		}
	}
	if (err)
		finding_unread(f, "enabled_functions of tracefs", err);
	else
		finding_ok(f, "no live patch, nobody else has the functions");
}

static void host_access(const struct side *side, struct finding *f)
{
	char value[32];
	int err = module_parameter(side->module, "access", value, sizeof(value));

	if (err == ENOENT) {
		finding_unknown(f, "%s is not loaded", side->module);
	} else if (err) {
		finding_unread(f, "the parameter access", err);
	} else if (!strcmp(value, "unavailable")) {
		finding_problem(f, "access=unavailable: no guest sees that there is a host side");
		finding_todo(f, "modprobe -r %s; modprobe %s access=local; and in /etc/modprobe.d",
			     side->module, side->module);
	} else {
		finding_ok(f, "access=%s", value);
	}
}

static void host_debugfs(const struct side *side, struct finding *f)
{
	char line[128];
	int err = root_line("/sys/kernel/debug/pvperf/totals", line, sizeof(line));

	if (!err) {
		finding_ok(f, "/sys/kernel/debug/pvperf can be read, pvperf list works");
	} else if (err == ENOENT && !module_there(side->module)) {
		finding_unknown(f, "%s is not loaded", side->module);
	} else if (err == ENOENT) {
		finding_problem(f, "there is no /sys/kernel/debug/pvperf, which pvperf list needs; all else works");
		finding_todo(f, "mount -t debugfs debugfs /sys/kernel/debug");
	} else {
		finding_unread(f, "/sys/kernel/debug/pvperf", err);
	}
}

static const struct condition host_conditions[] = {
	{ "kernel", kernel_version },
	{ "kvm", host_kvm },
	{ "pmu", host_pmu },
	{ "mediated-vpmu", host_mediated },
	{ "ftrace", host_ftrace },
	{ "functions", host_functions },
	{ "conflict", host_conflict },
	{ "signature", kernel_signature },
	{ "module", kernel_module },
	{ "access", host_access },
	{ "debugfs", host_debugfs },
	{ 0 },
};

const struct side side_host = {
	.name = "host",
	.module = "pvperf_host",
	.package = "pvperf-host",
	.conditions = host_conditions,
};
