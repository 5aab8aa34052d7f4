// SPDX-License-Identifier: GPL-2.0
/*
 * The conditions of a host, in the order in which an operator would mend them.
 */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "cpuid.h"
#include "finding.h"
#include "kernel.h"
#include "module.h"
#include "pmu.h"
#include "root.h"
#include "rules.h"

#define N(array)	((int)(sizeof(array) / sizeof(*(array))))

/* The functions of KVM that host/door.c hooks. */
static const char *const host_hooks[] = {
	"kvm_emulate_hypercall", "kvm_cpuid", "kvm_arch_pre_destroy_vm",
	"kvm_vcpu_reset", "kvm_arch_vcpu_ioctl_set_regs", "kvm_arch_vcpu_ioctl_set_mpstate",
	"kvm_arch_flush_shadow_memslot",
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
		finding_problem(f, "the CPU has no virtualization (svm, vmx), or hides it");
		finding_todo(f, cpuid_is_guest() ?
			     "have the host allow nested virtualization" :
			     "enable it in the firmware's setup");
	} else {
		finding_problem(f, "%s is not loaded",
				module_there("kvm") ? vendor : "kvm");
		finding_run(f, "", "modprobe %s", vendor);
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
		finding_problem(f, "the kernel has no hardware PMU (cycles: %s), so guests can count only software events of the host",
				strerror(err));
		finding_todo(f, cpuid_is_guest() ?
			     "give this VM a vPMU, or do without hardware events" :
			     "dmesg | grep -i perf says why; see also the firmware's setup");
		break;
	case ENOSYS:
		finding_problem(f, "the kernel has no perf events (CONFIG_PERF_EVENTS)");
		finding_todo(f, "boot a kernel with CONFIG_PERF_EVENTS");
		break;
	default:
		finding_unknown(f, "can't open a cycles event: %s", strerror(err));
	}
}

static void host_counts(struct finding *f)
{
	char core[60], atom[60];

	if (root_line(PMU_CORE "/cpus", core, sizeof(core)) || root_line(PMU_ATOM "/cpus", atom, sizeof(atom)))
		finding_ok(f, "hardware events count");
	else
		finding_ok(f, "hardware events count, on P cores (CPUs %s) and E cores (CPUs %s)", core, atom);
}

static void host_pmu(const struct side *side, struct finding *f)
{
	struct pmu_try t = pmu_try_cycles();

	if (t.err) {
		host_no_pmu(f, t.err);
	} else if (!t.running) {
		finding_problem(f, "a cycles event opens, but does not count: somebody else holds the counters");
		finding_todo(f, "stop perf sessions with pinned events or of whole CPUs (-a), and VMs with a mediated vPMU");
	} else {
		host_counts(f);
	}
}

static bool host_yields(const struct side *side)
{
	char value[8];

	return !module_parameter(side->module, "yield", value, sizeof(value)) && *value == 'Y';
}

/* KVM has the mediated vPMU since 7.0; it is off by default. */
static void host_mediated(const struct side *side, struct finding *f)
{
	const char *vendor = host_vendor();
	char value[8];
	int err = module_parameter(vendor, "enable_mediated_pmu", value,
				   sizeof(value));

	if (err == ENOENT) {
		finding_ok(f, "%s", module_there(vendor) ?
			   "this KVM has no mediated vPMU" :
			   "KVM is not loaded, so there is no mediated vPMU");
	} else if (err) {
		finding_unread(f, "the parameter enable_mediated_pmu", err);
	} else if (*value != 'Y' && *value != '1') {
		finding_ok(f, "%s.enable_mediated_pmu is off", vendor);
	} else if (host_yields(side)) {
		finding_ok(f, "%s.enable_mediated_pmu is on, and guests' hardware events yield to such VMs (yield=1)",
			   vendor);
	} else {
		finding_problem(f, "%s.enable_mediated_pmu is on: a VM with a mediated vPMU and guests' events can't use the PMU at the same time",
				vendor);
		finding_run(f, ", once all VMs are stopped (set it in /etc/modprobe.d, too), or have guests' events yield: pvperf_host's yield=1",
			    "modprobe -r pvperf_host %s; modprobe %s enable_mediated_pmu=0; modprobe pvperf_host",
			    vendor, vendor);
	}
}

static void host_ftrace(const struct side *side, struct finding *f)
{
	char value[8];
	int err = root_line("/proc/sys/kernel/ftrace_enabled", value,
			    sizeof(value));

	if (err == ENOENT) {
		finding_problem(f, "the kernel has no ftrace (CONFIG_DYNAMIC_FTRACE)");
		finding_todo(f, "boot a kernel with ftrace, such as Debian's");
	} else if (err) {
		finding_unread(f, "/proc/sys/kernel/ftrace_enabled", err);
	} else if (!strcmp(value, "0")) {
		finding_problem(f, "ftrace is off, so pvperf_host can't hook KVM");
		finding_run(f, "; /etc/sysctl.d may have the setting that turned it off",
			    "sysctl kernel.ftrace_enabled=1");
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
			finding_run(f, "", "mount -t tracefs tracefs /sys/kernel/tracing");
		return;
	}
	for (i = 0; i < N(host_hooks); i++) {
		if (!symbols[i].traceable) {
			finding_problem(f, "ftrace can't hook %s in this kernel",
					symbols[i].name);
			finding_todo(f, "boot one of the kernels that pvperf is built for: Debian's 6.1, 6.12, 7.2 or 7.3");
			return;
		}
	}
	finding_ok(f, "ftrace can hook the %d functions of KVM", N(host_hooks));
}

static void host_functions(const struct side *side, struct finding *f)
{
	struct symbol symbols[N(host_hooks)];

	host_symbols(symbols);
	if (!module_there("kvm")) {
		finding_unknown(f, "KVM is not loaded, so its functions are not visible");
		finding_run(f, "", "modprobe %s", host_vendor());
		return;
	}
	if (kernel_has(f, symbols, N(host_hooks), "this kernel's KVM lacks functions to hook"))
		host_traceable(f, symbols);
}

/* The functions that host/door.c diverts: three of KVM, and two of perf for a mediated vPMU. */
static const char *const host_diverts[] = {
	"kvm_emulate_hypercall", "kvm_cpuid", "kvm_arch_pre_destroy_vm",
	"perf_create_mediated_pmu", "perf_release_mediated_pmu",
};

/* ftrace lets only one user divert a function: a live patch, or one module. */
static void host_conflict(const struct side *side, struct finding *f)
{
	struct symbol symbols[N(host_diverts)];
	char pattern[128];
	int i, err;

	for (i = 0; i < N(host_diverts); i++) {
		symbols[i] = (struct symbol){ .name = host_diverts[i] };
		snprintf(pattern, sizeof(pattern),
			 "/sys/kernel/livepatch/*/*/%s,*", host_diverts[i]);
		if (root_matches(pattern)) {
			finding_problem(f, "a live patch diverts %s", host_diverts[i]);
			finding_todo(f, "disable that patch (/sys/kernel/livepatch/*/enabled), or boot a kernel that does not need the patch");
			return;
		}
	}
	if (module_there(side->module)) {
		finding_ok(f, "pvperf_host diverts the functions");
		return;
	}
	err = symbols_taken(symbols, N(host_diverts));
	for (i = 0; i < N(host_diverts); i++) {
		if (symbols[i].taken) {
			finding_problem(f, "another module diverts %s (see /sys/kernel/tracing/enabled_functions)",
					host_diverts[i]);
			finding_todo(f, "unload that module");
			return;
		}
	}
	if (err)
		finding_unread(f, "enabled_functions of tracefs", err);
	else
		finding_ok(f, "no live patch and no other module diverts the functions");
}

/* Are the module's @rules those that its unit gives it, but for the rules about a process? */
static bool policy_d_holds(struct rules *rules)
{
	const char *prefix = root_prefix();
	struct rules files = { 0 };
	char path[PATH_MAX];
	bool holds;

	snprintf(path, sizeof(path), "%s" POLICY_D, prefix ? prefix : "");
	holds = rules_add(&files, path);
	rules_drop(&files, 0);
	rules_drop(rules, 0);
	holds &= rules_same(&files, rules);
	rules_free(&files);
	return holds;
}

/* Its rules may still give some VMs nothing. */
static void host_rules(struct finding *f, const char *access)
{
	const bool files = root_matches(POLICY_D "/*.conf");
	FILE *device = root_open(RULES_DEVICE);	/* after that: errno */
	struct rules rules = { 0 };
	char standard[1024];
	int n;

	if (!device && !files) {
		finding_ok(f, "access=%s", access);
		return;
	}
	if (!device) {
		finding_unread(f, RULES_DEVICE, errno);
		return;
	}
	fclose(device);
	if (!rules_read(&rules, standard, sizeof(standard))) {
		finding_unknown(f, "access=%s, and " RULES_DEVICE " can't be understood", access);
		finding_todo(f, "install pvperf of the module's version");
		rules_free(&rules);
		return;
	}
	n = rules.n;
	if (files && !policy_d_holds(&rules)) {
		finding_problem(f, "access=%s, and the module's rules are not those in " POLICY_D ", which may have a mistake: pvperf policy --check " POLICY_D " tells", access);
		finding_run(f, "", "pvperf policy --apply " POLICY_D);
	} else if (n) {
		finding_ok(f, "access=%s, and %d rules; pvperf policy shows which VM may have what", access, n);
	} else {
		finding_ok(f, "access=%s", access);
	}
	rules_free(&rules);
}

static void host_access(const struct side *side, struct finding *f)
{
	char value[32];
	int err = module_parameter(side->module, "access", value, sizeof(value));

	if (err == ENOENT) {
		finding_unknown(f, "%s is not loaded", side->module);
		finding_todo(f, "see module above");
	} else if (err) {
		finding_unread(f, "the parameter access", err);
	} else if (strcmp(value, "unavailable")) {
		host_rules(f, value);
	} else if (root_matches(POLICY_D "/*.conf")) {
		finding_problem(f, "access=unavailable hides pvperf from every guest, as after a mistake in the rules of " POLICY_D ", which pvperf policy --check " POLICY_D " tells");
		finding_run(f, "", "{ pvperf policy --apply " POLICY_D " || [ $? = 3 ]; } && echo local > /sys/module/%s/parameters/access", side->module);
	} else {
		finding_problem(f, "access=unavailable hides pvperf from every guest");
		finding_run(f, "; set it in /etc/modprobe.d, too",
			    "echo local > /sys/module/%s/parameters/access", side->module);
	}
}

static void host_debugfs(const struct side *side, struct finding *f)
{
	char line[128];
	int err = root_line("/sys/kernel/debug/pvperf/totals", line, sizeof(line));

	if (!err) {
		finding_ok(f, "/sys/kernel/debug/pvperf is readable, so pvperf list works");
	} else if (err == ENOENT && !module_there(side->module)) {
		finding_unknown(f, "%s is not loaded", side->module);
		finding_todo(f, "see module above");
	} else if (err == ENOENT) {
		finding_problem(f, "/sys/kernel/debug/pvperf does not exist; pvperf list, policy, set and refused need it");
		finding_run(f, "", "mount -t debugfs debugfs /sys/kernel/debug");
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
