// SPDX-License-Identifier: GPL-2.0
/*
 * The conditions of a guest: first those of its host, then those of its kernel.
 */
#include <errno.h>
#include <linux/kvm_pvperf.h>
#include <stdio.h>
#include <string.h>
#include "cpuid.h"
#include "finding.h"
#include "kernel.h"
#include "module.h"
#include "pmu.h"
#include "root.h"

#define N(array)	((int)(sizeof(array) / sizeof(*(array))))

#define DEVICES		"/sys/bus/event_source/devices"
#define TDX_LEAF	0x21
#define TDX_SIGNATURE	"IntelTDX    "	/* EBX, EDX, ECX */
#define SEV_LEAF	0x8000001f

/* The features that guest/caps.c requires. */
#define FEATURES_NEEDED	(KVM_PERF_FEATURE_PAGE | KVM_PERF_FEATURE_BATCH | \
			 KVM_PERF_FEATURE_TIMES)

static bool guest_host_side(void)
{
	struct cpuid base = cpuid(KVM_PERF_CPUID_BASE);

	return cpuid_is_kvm() && base.eax >= KVM_PERF_CPUID_LIMITS &&
	       cpuid_signed(&base, KVM_PERF_SIGNATURE);
}

static const char *guest_unknown(void)
{
	return guest_host_side() ? NULL : "the host does not offer pvperf";
}

static void guest_hypervisor(const struct side *side, struct finding *f)
{
	char name[13];

	cpuid_hypervisor(name);
	if (cpuid_is_kvm()) {
		finding_ok(f, "this is a guest of KVM");
	} else if (cpuid_is_guest()) {
		finding_problem(f, "the hypervisor is not KVM; it says '%s'", name);
		finding_todo(f, "run it on KVM: pvperf serves guests of KVM only");
	} else {
		finding_problem(f, "this is not a virtual machine");
		finding_todo(f, "use the machine's own PMU; on a host, pvperf check --host");
	}
}

static bool guest_is_tdx(void)
{
	struct cpuid r = cpuid(TDX_LEAF), turned;

	turned = (struct cpuid){ r.eax, r.ebx, r.edx, r.ecx };
	return cpuid_signed(&turned, TDX_SIGNATURE);
}

static void guest_memory(const struct side *side, struct finding *f)
{
	const char *what = NULL;

	if (guest_is_tdx())
		what = "TDX";
	else if (root_exists("/sys/devices/system/cpu/sev") ||
		 root_exists("/sys/class/misc/sev-guest"))
		what = "SEV";
	if (what) {
		finding_problem(f, "memory is encrypted (%s), but pvperf's pages must be shared with the host",
				what);
		finding_todo(f, "run the VM without %s, or without pvperf", what);
	} else if (cpuid_is_guest() && cpuid(SEV_LEAF).eax & 1 << 1 &&
		   !module_there(side->module)) {
		finding_unknown(f, "the CPU has SEV; only the kernel knows whether memory is encrypted");
		finding_todo(f, "dmesg | grep 'Memory Encryption'");
	} else {
		finding_ok(f, "memory is not encrypted");
	}
}

static void guest_host(const struct side *side, struct finding *f)
{
	if (guest_host_side()) {
		finding_ok(f, "the host offers pvperf");
	} else if (!cpuid_is_kvm()) {
		finding_unknown(f, "only a guest of KVM can ask its host");
	} else {
		finding_problem(f, "the host does not offer pvperf to this VM");
		finding_todo(f, "ask the VM's operator to load pvperf_host on the host, and to run pvperf check there; it does not serve VMs with protected state (SEV-ES, SEV-SNP) and nested guests");
	}
}

static void guest_abi(const struct side *side, struct finding *f)
{
	struct cpuid r = cpuid(KVM_PERF_CPUID_FEATURES);

	if (KVM_PERF_ABI_MAJOR(r.eax) != KVM_PERF_ABI_MAJOR(KVM_PERF_ABI_VERSION)) {
		finding_problem(f, "the host has ABI version %u.%u, this guest %u",
				KVM_PERF_ABI_MAJOR(r.eax), r.eax & 0xffff,
				KVM_PERF_ABI_MAJOR(KVM_PERF_ABI_VERSION));
		finding_todo(f, "install the same version of pvperf on host and guest");
	} else if (r.ecx != KVM_PERF_OP) {
		finding_problem(f, "the host uses another hypercall number, 0x%x", r.ecx);
		finding_todo(f, "install the same version of pvperf on host and guest");
	} else {
		finding_ok(f, "ABI version %u.%u", KVM_PERF_ABI_MAJOR(r.eax),
			   r.eax & 0xffff);
	}
}

static void guest_feature_names(uint32_t features, char *names, size_t size)
{
	static const struct { uint32_t bit; const char *name; } all[] = {
		{ KVM_PERF_FEATURE_PAGE, "page" },
		{ KVM_PERF_FEATURE_BATCH, "batch" },
		{ KVM_PERF_FEATURE_TIMES, "times" },
		{ KVM_PERF_FEATURE_SAMPLING, "sampling" },
		{ KVM_PERF_FEATURE_RAW, "raw" },
		{ KVM_PERF_FEATURE_HOST_SW, "host-software" },
		{ KVM_PERF_FEATURE_READ_MANY, "read-many" },
		{ KVM_PERF_FEATURE_COUNTERS, "counters" },
		{ KVM_PERF_FEATURE_NARROW, "narrow" },
		{ KVM_PERF_FEATURE_OPEN_PAGE, "open-page" },
		{ KVM_PERF_FEATURE_CPU, "cpu" },
		{ KVM_PERF_FEATURE_CLOCK, "clock" },
		{ KVM_PERF_FEATURE_REASON, "reason" },
		{ KVM_PERF_FEATURE_HOST, "host-side" },
		{ KVM_PERF_FEATURE_HOST_CPUS, "host-cpus" },
		{ KVM_PERF_FEATURE_KINDS, "kinds" },
		{ KVM_PERF_FEATURE_BRANCHES, "branches" },
	};
	size_t used = 0;
	int i;

	*names = '\0';
	for (i = 0; i < N(all) && used < size; i++) {
		if (features & all[i].bit)
			used += snprintf(names + used, size - used, "%s%s",
					 used ? " " : "", all[i].name);
	}
}

static void guest_features(const struct side *side, struct finding *f)
{
	uint32_t has = cpuid(KVM_PERF_CPUID_FEATURES).ebx;
	char names[160];

	if (FEATURES_NEEDED & ~has) {
		guest_feature_names(FEATURES_NEEDED & ~has, names, sizeof(names));
		finding_problem(f, "the host lacks what this guest needs: %s", names);
		finding_todo(f, "install the same version of pvperf on host and guest");
	} else {
		guest_feature_names(has, names, sizeof(names));
		finding_ok(f, "%s", names);
	}
}

static void guest_limits(const struct side *side, struct finding *f)
{
	struct cpuid r = cpuid(KVM_PERF_CPUID_LIMITS);

	if (!r.eax || !r.ebx) {
		finding_problem(f, "the host allows no events");
		finding_todo(f, "on the host, raise max_events of this VM's policy");
	} else {
		finding_ok(f, "%u events a vCPU, %u counters, %u operations a batch, sampling periods from %u",
			   r.eax, r.ecx, r.ebx, r.edx);
	}
}

/* Raw codes, also those of the lists that perf has for a model, are the host's. */
static void guest_cpu(const struct side *side, struct finding *f)
{
	const uint32_t stepping = 0xf;
	uint32_t here = cpuid(1).eax, there = cpuid(KVM_PERF_CPUID_CPU).eax;

	if (!(cpuid(KVM_PERF_CPUID_FEATURES).ebx & KVM_PERF_FEATURE_CPU)) {
		finding_ok(f, "the host does not tell its CPU's model");
	} else if ((here ^ there) & ~stepping) {
		finding_problem(f, "the VM's CPU model (%#x) is not the host's (%#x): raw events and those of perf list's tables count what their codes mean at the host",
				here, there);
		finding_todo(f, "use generic events (cycles, cache-misses), or have the VM run with the host's model (QEMU: -cpu host)");
	} else {
		finding_ok(f, "the VM has the model of the host's CPU (%#x)", there);
	}
}

/* What the guest refuses, and what to use instead, in the words of guest/. */

static void guest_samples(const struct side *side, struct finding *f)
{
	uint32_t has = cpuid(KVM_PERF_CPUID_FEATURES).ebx;

	if (!(has & KVM_PERF_FEATURE_SAMPLING)) {
		finding_problem(f, "the host reports no overflows, so perf record gets no hardware samples");
		finding_todo(f, "install the same version of pvperf on host and guest");
	} else {
		finding_ok(f, "frequencies (-F), and periods from %u on (-c); not :p, as an NMI arrives some instructions late; %s",
			   cpuid(KVM_PERF_CPUID_LIMITS).edx, has & KVM_PERF_FEATURE_BRANCHES ?
			   "user mode's branches (-j any,u)" : "not -b: -g gives call chains");
	}
}

/* Intel's counters for instructions, cycles, reference cycles. */
static uint32_t guest_fixed(void)
{
	struct cpuid leaf = cpuid(KVM_PERF_CPUID_FEATURES);

	return leaf.ebx & KVM_PERF_FEATURE_COUNTERS ?
	       leaf.edx & (KVM_PERF_COUNTERS_INSTRUCTIONS | KVM_PERF_COUNTERS_CYCLES |
			   KVM_PERF_COUNTERS_REF_CYCLES) : 0;
}

static void guest_groups(const struct side *side, struct finding *f)
{
	uint32_t counters = cpuid(KVM_PERF_CPUID_LIMITS).ecx;

	if (!counters)
		finding_ok(f, "of any size, as the host does not report its number of counters; a large group may never count");
	else
		finding_ok(f, "up to %u hardware events in a group%s; larger groups must be weak ({...}:W)",
			   counters, guest_fixed() ? ", not counting one each that a fixed counter takes" : "");
}

static void guest_raw(const struct side *side, struct finding *f)
{
	if (!(cpuid(KVM_PERF_CPUID_FEATURES).ebx & KVM_PERF_FEATURE_RAW))
		finding_ok(f, "the host refuses raw events (rXXXX); use events that perf list names, or ask the VM's operator to allow them (raw=yes)");
	else if (cpuid_is_intel())
		finding_ok(f, "select, umask, edge, inv, cmask; not AnyThread, in-transaction, equal, a second umask, or config1");
	else
		finding_ok(f, "select, umask, edge, inv, cmask; other bits are ignored, as on bare metal");
}

/* The functions that compat/perf.c looks up, the last three up to 6.1 only. */
static void guest_functions(const struct side *side, struct finding *f)
{
	struct symbol symbols[] = {
		{ .name = "perf_event_overflow" },
		{ .name = "perf_sample_event_took" },
		{ .name = "perf_pmu_nop_void" },
		{ .name = "perf_pmu_nop_txn" },
		{ .name = "perf_pmu_nop_int" },
	};
	int n = strncmp(root_release(), "6.1.", 4) ? N(symbols) - 3 : N(symbols);

	if (kernel_has(f, symbols, n, "this kernel lacks functions of perf"))
		finding_ok(f, "the kernel has the functions of perf that the module needs");
}

/* The module does not load by itself when the host offers pvperf after the boot. */
static void guest_module(const struct side *side, struct finding *f)
{
	kernel_module(side, f);
	if (f->fit == FIT_PROBLEM && !guest_host_side() &&
	    !strncmp(f->run, "modprobe", 8))
		finding_todo(f, "modprobe %s, once the host offers pvperf",
			     side->module);
}

static void guest_pmus(const struct side *side, struct finding *f)
{
	bool cpu = root_exists(DEVICES "/cpu"), own = root_exists(DEVICES "/pvperf");
	/* Only pvperf_guest's PMU has min_period, the host's limit. */
	bool ours = root_exists(DEVICES "/cpu/caps/min_period");
	bool kinds = root_exists(DEVICES "/cpu_core/caps/min_period") ||
		     root_exists(DEVICES "/cpu_atom/caps/min_period");

	if (own && kinds)
		finding_ok(f, "the PMUs cpu_core and cpu_atom, for what runs on the host's P and on its E cores, and pvperf, for both, count by the host's events; perf needs no option");
	else if (own && ours)
		finding_ok(f, "the PMUs cpu and pvperf count by the host's events; perf needs no option");
	else if (own)
		finding_ok(f, "the guest has a vPMU, cpu, which perf takes for cycles and the like; the host's events are pvperf/vcpu-cycles/ and so on. "
			   "To have perf take these, ask the VM's operator to start it with -cpu ...,pmu=off (libvirt: <pmu state='off'/>), "
			   "or, for all VMs of the host, to load kvm with enable_pmu=0");
	else if (module_there(side->module))
		finding_problem(f, "%s is loaded, but the PMU pvperf is missing",
				side->module);
	else if (cpu)
		finding_unknown(f, "the guest has a vPMU, cpu, but no PMU pvperf yet, as %s is not loaded",
				side->module);
	else
		finding_unknown(f, "the guest has no PMU yet, as %s is not loaded",
				side->module);
}

static void guest_counting(const struct side *side, struct finding *f)
{
	struct pmu_try t = pmu_try_cycles();

	if (t.err == EACCES || t.err == EPERM) {
		finding_unknown(f, "this user may not open perf events: %s",
				strerror(t.err));
		finding_run(f, ", as root, lets every user count his own programs; or run pvperf check as root",
			    "sysctl kernel.perf_event_paranoid=2");
	} else if (t.err) {
		finding_problem(f, "can't open a cycles event: %s", strerror(t.err));
		finding_todo(f, "see the problems above");
	} else if (!t.running) {
		finding_problem(f, "a cycles event opens, but the host does not count it");
		finding_todo(f, "ask the VM's operator: pvperf_host may be unloaded, or the host's own perf may have the counters");
	} else {
		finding_ok(f, "a cycles event counts");
	}
}

static const struct condition guest_conditions[] = {
	{ "kernel", kernel_version },
	{ "hypervisor", guest_hypervisor },
	{ "memory", guest_memory },
	{ "host-side", guest_host },
	{ "abi", guest_abi, guest_unknown },
	{ "features", guest_features, guest_unknown },
	{ "limits", guest_limits, guest_unknown },
	{ "cpu", guest_cpu, guest_unknown },
	{ "samples", guest_samples, guest_unknown },
	{ "groups", guest_groups, guest_unknown },
	{ "raw", guest_raw, guest_unknown },
	{ "functions", guest_functions },
	{ "signature", kernel_signature },
	{ "module", guest_module },
	{ "pmus", guest_pmus },
	{ "counting", guest_counting },
	{ 0 },
};

const struct side side_guest = {
	.name = "guest",
	.module = "pvperf_guest",
	.package = "pvperf-guest",
	.conditions = guest_conditions,
};
