// SPDX-License-Identifier: GPL-2.0
/* How much of the host's memory a VM, a vCPU and an event take. */
#include "allocs.h"
#include "guest_events.h"
#include "memory.h"

#include <pthread.h>
#include <string.h>

/* Called in this thread, so that all allocations are of this thread. */
static int64_t call_here(struct tiny_vcpu *v, struct tiny_timed call)
{
	struct kvm_regs r = {
		.rax = call.rax, .rbx = call.rbx, .rcx = call.rcx, .rdx = call.rdx,
		.rsi = call.rsi,
	};

	need(!tiny_vcpu_exec_here(v, TINY_CODE_CALL, &r), "the guest broke");
	return r.rax;
}

static struct allocs call_memory(struct tiny_vcpu *v, struct tiny_timed call)
{
	struct allocs a;
	int64_t ret;

	need(!allocs_begin(), "can't trace allocations");
	ret = call_here(v, call);
	need(!allocs_end(&a), "can't read the trace");
	need(ret >= 0 || call.rbx == UNKNOWN, "a call failed");
	return a;
}

/* Runs a vCPU once, because KVM allocates memory of its own at the first run. */
static void vcpu_warm(struct tiny_vcpu *v)
{
	memset(tiny_ptr(v->vm, AT_HEAD(v)), 0, 3 * TINY_PAGE);
	call_here(v, call_of(KVM_PERF_OP_PROBE, 0, 0));
}

static struct allocs attach_memory(struct tiny_vcpu *v)
{
	vcpu_warm(v);
	return call_memory(v, call_of(KVM_PERF_OP_ATTACH, AT_HEAD(v), 0));
}

static struct allocs open_memory(struct tiny_vcpu *v, int n)
{
	param_put(v, n, &clock_attr);
	return call_memory(v, call_of(KVM_PERF_OP_OPEN, AT_PARAM(v, n), 0));
}

/* A node of a tree holds many events, so this is an average. */
static void memory_events(struct tiny_vcpu *v)
{
	struct allocs a, all = {};
	int i;

	a = open_memory(v, 0);
	figure("memory.event.first", allocs_sum(&a));
	for (i = 1; i < EVENTS; i++) {
		a = open_memory(v, i);
		all.ours += a.ours;
		all.tree += a.tree;
		all.perf += a.perf;
		all.rest += a.rest;
	}
	figure("memory.event", (allocs_sum(&all) + 31) / 63);
	figure("memory.event.perf", (all.perf + all.rest + 31) / 63);
}

static void *memory_thread(void *unused)
{
	const struct tiny_timed unknown = { .rax = UNKNOWN, .rbx = UNKNOWN };
	struct allocs a;
	struct tiny_vm vm;

	vm_make(&vm, 2);
	vcpu_warm(&vm.vcpu[0]);
	a = call_memory(&vm.vcpu[0], unknown);
	figure("memory.idle", allocs_sum(&a));
	a = attach_memory(&vm.vcpu[0]);
	figure("memory.vm", allocs_sum(&a));
	a = attach_memory(&vm.vcpu[1]);
	figure("memory.vcpu", allocs_sum(&a));
	memory_events(&vm.vcpu[0]);
	tiny_vm_destroy(&vm);
	return NULL;
}

/* In a new thread: loading the module has left a perf context in this one. */
void memory(void)
{
	pthread_t thread;

	need(!pthread_create(&thread, NULL, memory_thread, NULL), "can't start a thread");
	pthread_join(thread, NULL);
}
