/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _NAMED_H
#define _NAMED_H

/* What tests of rules ask of a VM, and of the host about it. */

#include "tiny_test.h"
#include <sys/prctl.h>

/* Two VMs that rules can tell apart: comm=pvperf_in and comm=pvperf_out, once it makes a call. */
struct named {
	struct tiny_vm in, out;
	struct tiny_totals before;
};

static inline bool named_create(struct named *vms)
{
	if (tiny_rules_write("\n") || tiny_totals_read(&vms->before) ||
	    tiny_vm_create(&vms->in, 1) || tiny_vm_create(&vms->out, 1) ||
	    prctl(PR_SET_NAME, "pvperf_in"))
		return false;
	/* A VM has the name that its process has at the VM's first call. */
	measured_choose(&vms->in.vcpu[0]);
	return !prctl(PR_SET_NAME, "pvperf_out");
}

/* Is no rule left, and nothing else? */
static inline bool named_destroy(struct named *vms)
{
	tiny_vm_destroy(&vms->in);
	tiny_vm_destroy(&vms->out);
	return !tiny_rules_write("\n") && tiny_totals_wait(&vms->before);
}

/* The guest attaches its page, and opens and starts an event. */
static inline bool begins(struct tiny_vm *vm)
{
	struct tiny_vcpu *v = &vm->vcpu[0];

	return !tiny_call_gpa(v, KVM_PERF_OP_ATTACH, AT_HEAD(0), 0) &&
	       !open_event(v, 0, 0) && !id_call(v, KVM_PERF_OP_ENABLE, 0);
}

static inline bool offered(struct tiny_vcpu *v)
{
	uint32_t r[4] = { 0 };

	return !tiny_cpuid(v, KVM_PERF_CPUID_BASE, r) &&
	       !memcmp(&r[1], KVM_PERF_SIGNATURE, 12) &&
	       tiny_call(v, KVM_PERF_OP_PROBE, 0, 0, 0) == KVM_PERF_ABI_VERSION;
}

static inline uint32_t features(struct tiny_vcpu *v)
{
	uint32_t r[4] = { 0 };

	tiny_cpuid(v, KVM_PERF_CPUID_FEATURES, r);
	return r[1];
}

static inline bool gone(struct tiny_vm *vm, uint32_t reason)
{
	const struct guest_perf_page *head = head_at(vm, 0);

	return head->state == KVM_PERF_PAGE_GONE && head->reason == reason &&
	       event_at(vm, 0)->state == KVM_PERF_STATE_GONE;
}

/* How often @word has refused this process's VMs something, or let them wait. */
static inline long refused(const char *word)
{
	FILE *f = fopen("/sys/kernel/debug/pvperf/vms", "re");
	char line[512], want[64];
	long all = 0, times;
	char *at;

	if (!f)
		return -1;
	snprintf(want, sizeof(want), "  refused word=%s times=", word);
	while (fgets(line, sizeof(line), f)) {
		at = strstr(line, want);
		if (at == line && sscanf(line + strlen(want), "%ld", &times) == 1)
			all += times;
	}
	fclose(f);
	return all;
}

#endif /* _NAMED_H */
