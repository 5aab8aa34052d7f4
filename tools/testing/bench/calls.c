// SPDX-License-Identifier: GPL-2.0
/*
 * What pvperf_host costs, in instructions of all levels: from one RDTSC of a
 * guest to the next, where a tick of the TSC is one instruction ("run --icount"
 * and "run --cpu intel"; tsc.per_1000 says so). It starts without the module.
 *
 * The host's timer ticks fall into some of the calls, so each figure is a median
 * of many, less what the same code takes around a NOP. QEMU's SVM has no NRIPS, so
 * that KVM decodes what it skips: 1,500 instructions of each call and CPUID there,
 * one more or less by where its vCPU lies in a slab, which differs from boot to boot.
 */

#include "../selftests/tiny_guest.h"
#include "allocs.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define MODULE		"/lab/pvperf_host.ko"
#define UNKNOWN		0x1234		/* nobody's hypercall number */
#define ROUNDS		101		/* of what takes thousands of instructions */
#define ROUNDS_BATCH	21
#define OVERFLOWS	64
#define PERIOD		200000		/* slow enough not to be stretched */
#define VMS		50
#define EVENTS		KVM_PERF_EVENTS_MAX

/* Of each vCPU: its page, its events, and what OPEN reads. */
#define AT_HEAD(v)	(TINY_DATA + (v)->index * 3 * TINY_PAGE)
#define AT_EVENT(v, n)	(AT_HEAD(v) + TINY_PAGE + (n) * KVM_PERF_EVENT_SIZE)
#define AT_ATTR(v)	(AT_HEAD(v) + 2 * TINY_PAGE)
#define AT_PARAM(v, n)	(AT_ATTR(v) + 128 + (n) * 32)
/* Of the VM. */
#define AT_TIMED	(TINY_DATA + TINY_VCPUS * 3 * TINY_PAGE)
#define AT_LOG		(TINY_MEM - TINY_PAGE)

#define EVENT_ID(v, n)	((v)->index * EVENTS + (n))

/* Ticks of TINY_CODE_TIMED_NOP. */
static uint64_t nothing;

static const struct guest_perf_attr clock_attr = {
	.type = KVM_PERF_TYPE_SOFTWARE, .config = PERF_COUNT_SW_CPU_CLOCK,
};
static const struct guest_perf_attr instructions_attr = {
	.type = KVM_PERF_TYPE_HARDWARE, .config = PERF_COUNT_HW_INSTRUCTIONS,
};

static void need(bool ok, const char *what)
{
	if (ok)
		return;
	fprintf(stderr, "calls: %s\n", what);
	exit(1);
}

static void figure(const char *key, int64_t value)
{
	printf("figure %s %lld\n", key, (long long)value);
	fflush(stdout);
}

/* A figure whose name is put together. */
static void figure_of(const char *a, const char *b, int64_t value)
{
	char key[64];

	snprintf(key, sizeof(key), "%s%s", a, b);
	figure(key, value);
}

/* Of what 64 operations take, and 1. */
static int64_t entry(int64_t all, int64_t one)
{
	return (all - one + 31) / 63;
}

static void vm_make(struct tiny_vm *vm, int vcpus)
{
	need(!tiny_vm_create(vm, vcpus), "can't create a VM");
}

/* -------------------------------------------------------------------- timing */

static int uint64_compare(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

static uint64_t median(uint64_t *value, int n)
{
	qsort(value, n, sizeof(*value), uint64_compare);
	return value[n / 2];
}

static struct tiny_timed call_of(uint32_t op, uint64_t a, uint32_t c)
{
	return (struct tiny_timed){
		.rax = KVM_PERF_OP, .rbx = op, .rcx = (uint32_t)a,
		.rdx = a >> 32, .rsi = c,
	};
}

/* Those of one kind in a table of @n kinds that take turns. */
static uint64_t timed_median(const struct tiny_timed *t, int n, int rounds)
{
	uint64_t ticks[ROUNDS];
	int i;

	for (i = 0; i < rounds; i++) {
		need((int64_t)t[i * n].rax >= 0 || t[i * n].rbx == UNKNOWN, "a call failed");
		ticks[i] = t[i * n].ticks;
	}
	return median(ticks, rounds) - nothing;
}

/* Does @n things in turn, @rounds times; the median of each. */
static void timed(struct tiny_vcpu *v, enum tiny_code code, const struct tiny_timed *what,
		  int n, int rounds, uint64_t *ticks)
{
	struct kvm_regs regs = { .rdi = AT_TIMED, .rcx = n * rounds };
	struct tiny_timed *t = tiny_ptr(v->vm, AT_TIMED);
	int i;

	for (i = 0; i < n * rounds; i++)
		t[i] = what[i % n];
	need(!tiny_vcpu_exec(v, code, &regs), "the guest broke");
	for (i = 0; i < n; i++)
		ticks[i] = timed_median(t + i, n, rounds);
}

static uint64_t timed_one(struct tiny_vcpu *v, enum tiny_code code, struct tiny_timed what)
{
	uint64_t ticks;

	timed(v, code, &what, 1, ROUNDS, &ticks);
	return ticks;
}

/* In this program, of a loop of two instructions. */
static uint64_t loop_ticks(long turns)
{
	const uint64_t before = __builtin_ia32_rdtsc();

	asm volatile("1: dec %0; jnz 1b" : "+r" (turns));
	return __builtin_ia32_rdtsc() - before;
}

static void timing_check(void)
{
	struct tiny_vm vm;

	figure("tsc.per_1000", loop_ticks(1000) - loop_ticks(500));
	vm_make(&vm, 1);
	nothing = timed_one(&vm.vcpu[0], TINY_CODE_TIMED_NOP, (struct tiny_timed){});
	figure("call.nothing", nothing);
	tiny_vm_destroy(&vm);
}

/* -------------------------------------------------------------------- nobody */

static const char * const foreign_name[] = {
	"foreign.hypercall", "foreign.cpuid", "foreign.io",
};

static void foreign_take(struct tiny_vm *vm, uint64_t cost[3])
{
	static const enum tiny_code code[] = {
		TINY_CODE_TIMED_CALL, TINY_CODE_TIMED_CPUID, TINY_CODE_TIMED_OUT,
	};
	const struct tiny_timed what[] = {
		{ .rax = UNKNOWN, .rbx = UNKNOWN }, {}, {},
	};
	int i;

	for (i = 0; i < 3; i++)
		cost[i] = timed_one(&vm->vcpu[0], code[i], what[i]);
}

static void module_load(void)
{
	int fd = open(MODULE, O_RDONLY | O_CLOEXEC);

	need(fd >= 0 && !syscall(SYS_finit_module, fd, "", 0), "can't load " MODULE);
	close(fd);
}

static void module_unload(void)
{
	need(!syscall(SYS_delete_module, "pvperf_host", O_NONBLOCK), "can't unload pvperf_host");
}

/* The same VM before and after: it never calls. */
static void foreign(void)
{
	uint64_t without[3], loaded[3];
	struct tiny_vm vm;
	int i;

	vm_make(&vm, 1);
	foreign_take(&vm, without);
	module_load();
	foreign_take(&vm, loaded);
	tiny_vm_destroy(&vm);
	for (i = 0; i < 3; i++) {
		figure_of(foreign_name[i], ".without", without[i]);
		figure_of(foreign_name[i], ".loaded", loaded[i]);
		figure_of(foreign_name[i], ".cost", loaded[i] - without[i]);
	}
}

/* -------------------------------------------------------------------- events */

static void attach(struct tiny_vcpu *v)
{
	need(!tiny_call_gpa(v, KVM_PERF_OP_ATTACH, AT_HEAD(v), 0), "ATTACH failed");
}

/* Where OPEN of event @n finds what it reads. */
static void param_put(struct tiny_vcpu *v, int n, const struct guest_perf_attr *attr)
{
	struct guest_perf_event_param *param = tiny_ptr(v->vm, AT_PARAM(v, n));

	memcpy(tiny_ptr(v->vm, AT_ATTR(v)), attr, sizeof(*attr));
	*param = (struct guest_perf_event_param){
		.attr_addr = AT_ATTR(v), .guest_event_addr = AT_EVENT(v, n),
		.id = EVENT_ID(v, n), .event_size = KVM_PERF_EVENT_SIZE,
	};
}

static int64_t event_open(struct tiny_vcpu *v, int n, const struct guest_perf_attr *attr)
{
	param_put(v, n, attr);
	return tiny_call_gpa(v, KVM_PERF_OP_OPEN, AT_PARAM(v, n), 0);
}

/* @n events of the kind, that count, and a page. */
static void events_begin(struct tiny_vcpu *v, int n, const struct guest_perf_attr *attr)
{
	int i;

	attach(v);
	for (i = 0; i < n; i++) {
		need(!event_open(v, i, attr), "OPEN failed");
		need(!tiny_call(v, KVM_PERF_OP_ENABLE, EVENT_ID(v, i), 0, 0),
		     "ENABLE failed");
	}
}

static void events_end(struct tiny_vcpu *v)
{
	need(!tiny_call(v, KVM_PERF_OP_DETACH, 0, 0, 0), "DETACH failed");
}

static struct guest_perf_op *batch_of(struct tiny_vcpu *v)
{
	struct guest_perf_page *head = tiny_ptr(v->vm, AT_HEAD(v));

	return head->batch;
}

/* READs of @events events in turn. */
static void batch_reads(struct tiny_vcpu *v, int n, int events)
{
	int i;

	for (i = 0; i < n; i++)
		batch_of(v)[i] = (struct guest_perf_op){
			.op = KVM_PERF_OP_READ, .id = EVENT_ID(v, i % events),
		};
}

/* DISABLE and ENABLE of one event after the other. */
static void batch_toggles(struct tiny_vcpu *v, int n, int events)
{
	int i;

	for (i = 0; i < n; i++)
		batch_of(v)[i] = (struct guest_perf_op){
			.op = i % 2 ? KVM_PERF_OP_ENABLE : KVM_PERF_OP_DISABLE,
			.id = EVENT_ID(v, i / 2 % events),
		};
}

static struct tiny_timed batch_call(struct tiny_vcpu *v, int from, int n)
{
	return call_of(KVM_PERF_OP_BATCH, AT_HEAD(v) + offsetof(struct guest_perf_page, batch) +
		       from * sizeof(struct guest_perf_op), n);
}

static uint64_t batch_time(struct tiny_vcpu *v, int n)
{
	const struct tiny_timed call = batch_call(v, 0, n);
	uint64_t ticks;
	int i;

	timed(v, TINY_CODE_TIMED_CALL, &call, 1, ROUNDS_BATCH, &ticks);
	for (i = 0; i < n; i++)
		need(!batch_of(v)[i].result, "an operation of a batch failed");
	return ticks;
}

/* Batches of one: what a DISABLE takes and what an ENABLE takes differ. */
static uint64_t toggle_time(struct tiny_vcpu *v)
{
	const struct tiny_timed call[] = { batch_call(v, 0, 1), batch_call(v, 1, 1) };
	uint64_t ticks[2];

	timed(v, TINY_CODE_TIMED_CALL, call, 2, ROUNDS_BATCH, ticks);
	return (ticks[0] + ticks[1]) / 2;
}

/* -------------------------------------------------------------------- batches */

static uint64_t read_cost(struct tiny_vcpu *v, int n)
{
	batch_reads(v, n, n);
	return batch_time(v, n);
}

static uint64_t toggle_cost(struct tiny_vcpu *v, int n)
{
	batch_toggles(v, n > 1 ? n : 2, n);
	return n > 1 ? batch_time(v, n) : toggle_time(v);
}

/* Of hardware events no more than there are counters count at a time. */
static bool multiplexed(struct tiny_vcpu *v, int n)
{
	const struct guest_perf_event *event = tiny_ptr(v->vm, AT_EVENT(v, 0));

	while (n--)
		if (event[n].state != KVM_PERF_STATE_COUNTING)
			return true;
	return false;
}

/* A batch of n operations while n events are open. */
static void batches(struct tiny_vcpu *v, const struct guest_perf_attr *attr,
		    const char *name, uint64_t (*cost)(struct tiny_vcpu *v, int n))
{
	static const int sizes[] = { 1, 6, 64 };
	uint64_t ticks[3];
	char key[64];
	int i;

	for (i = 0; i < 3; i++) {
		events_begin(v, sizes[i], attr);
		ticks[i] = cost(v, sizes[i]);
		snprintf(key, sizeof(key), "batch%d%s%s", sizes[i], name,
			 multiplexed(v, sizes[i]) ? ".multiplexed" : "");
		figure(key, ticks[i]);
		events_end(v);
	}
	snprintf(key, sizeof(key), "batch64%s.entry", strcmp(name, ".read") ? name : "");
	figure(key, entry(ticks[2], ticks[0]));
}

/* As a rule the event's page is pinned already, for another event. */
static void open_close(struct tiny_vcpu *v, const struct guest_perf_attr *attr,
		       const char *name)
{
	const struct tiny_timed call[] = {
		call_of(KVM_PERF_OP_OPEN, AT_PARAM(v, 1), 0),
		call_of(KVM_PERF_OP_CLOSE, EVENT_ID(v, 1), 0),
	};
	uint64_t ticks[2];

	events_begin(v, 1, attr);
	param_put(v, 1, attr);
	timed(v, TINY_CODE_TIMED_CALL, call, 2, ROUNDS, ticks);
	events_end(v);
	figure_of("open", name, ticks[0]);
	figure_of("close", name, ticks[1]);
}

static bool hardware(struct tiny_vcpu *v)
{
	int64_t ret = event_open(v, 0, &instructions_attr);

	if (!ret)
		tiny_call(v, KVM_PERF_OP_CLOSE, EVENT_ID(v, 0), 0, 0);
	return !ret;
}

static void calls(struct tiny_vcpu *v)
{
	const struct tiny_timed unknown = { .rax = UNKNOWN, .rbx = UNKNOWN };

	figure("call.empty", timed_one(v, TINY_CODE_TIMED_CALL,
				       call_of(KVM_PERF_OP_PROBE, 0, 0)));
	figure("call.exit", timed_one(v, TINY_CODE_TIMED_CALL, unknown));
	batches(v, &clock_attr, ".read", read_cost);
	batches(v, &clock_attr, ".toggle", toggle_cost);
	open_close(v, &clock_attr, ".sw");
	if (!hardware(v))
		return;
	batches(v, &instructions_attr, ".hwread", read_cost);
	batches(v, &instructions_attr, ".hwtoggle", toggle_cost);
	open_close(v, &instructions_attr, ".hw");
}

/* ------------------------------------------------------------------ overflows */

/*
 * The guest does nothing but look at the clock, every fourth instruction; so what
 * its handler finds is at most four more than since the overflow, its own first
 * instruction included. If the host's timer tick comes together with one, that is
 * the longest.
 */
static void overflows(struct tiny_vm *vm, const struct guest_perf_attr *kind,
		      const char *key)
{
	struct tiny_vcpu *v = &vm->vcpu[0];
	struct guest_perf_attr attr = *kind;
	uint32_t *log = tiny_ptr(vm, AT_LOG);
	uint64_t ticks[OVERFLOWS];
	struct kvm_regs regs = {};
	int i;

	attr.sample_period = PERIOD;
	v->cpu->log = AT_LOG;
	v->cpu->log_end = AT_LOG + OVERFLOWS * sizeof(*log);
	events_begin(v, 1, &attr);
	need(!tiny_vcpu_exec(v, TINY_CODE_CLOCK, &regs), "the guest broke");
	events_end(v);
	for (i = 0; i < OVERFLOWS; i++)
		ticks[i] = log[i];
	figure(key, median(ticks, OVERFLOWS));
	figure_of(key, ".max", ticks[OVERFLOWS - 1]);
}

static void overflow(void)
{
	struct tiny_vm vm;

	vm_make(&vm, 1);
	tiny_vm_time_nmis(&vm);
	overflows(&vm, &clock_attr, "overflow.handler.sw");
	if (hardware(&vm.vcpu[0]))
		overflows(&vm, &instructions_attr, "overflow.handler.hw");
	tiny_vm_destroy(&vm);
}

/* ------------------------------------------------------------------- flatness */

/* What one READ takes in a batch, of @events that are open. */
static int64_t flat_read(struct tiny_vcpu *v, int events)
{
	uint64_t one, all;

	batch_reads(v, 64, events);
	one = batch_time(v, 1);
	all = batch_time(v, 64);
	return entry(all, one);
}

static void flat_vcpus(const char *key, int vcpus, int events)
{
	struct tiny_vm vm;
	int i;

	vm_make(&vm, vcpus);
	for (i = 0; i < vcpus; i++)
		events_begin(&vm.vcpu[i], events, &clock_attr);
	figure(key, flat_read(&vm.vcpu[vcpus / 2], events));
	tiny_vm_destroy(&vm);
}

static void flat_vms(const char *key)
{
	static struct tiny_vm vm[VMS];
	int i;

	for (i = 0; i < VMS; i++) {
		vm_make(&vm[i], 1);
		events_begin(&vm[i].vcpu[0], 1, &clock_attr);
	}
	figure(key, flat_read(&vm[VMS / 2].vcpu[0], 1));
	for (i = 0; i < VMS; i++)
		tiny_vm_destroy(&vm[i]);
}

static void flat(void)
{
	flat_vcpus("flat.1", 1, 1);
	flat_vcpus("flat.64", 1, 64);
	flat_vcpus("flat.8vcpus", TINY_VCPUS, 8);
	flat_vms("flat.50vms");
}

/* --------------------------------------------------------------------- memory */

/* By the calling thread, so that all that is allocated is its. */
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

/* What KVM itself takes when a vCPU runs first is not ours. */
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

/* Each node of a tree holds many: so it is shared out among all. */
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

/* A new one: loading the module has left perf's context in this one. */
static void memory(void)
{
	pthread_t thread;

	need(!pthread_create(&thread, NULL, memory_thread, NULL), "can't start a thread");
	pthread_join(thread, NULL);
}

static void calls_one(void)
{
	struct tiny_vm vm;

	vm_make(&vm, 1);
	calls(&vm.vcpu[0]);
	tiny_vm_destroy(&vm);
}

static const struct part {
	const char *name;
	void (*measure)(void);
} parts[] = {
	{ "calls", calls_one }, { "overflow", overflow }, { "flat", flat }, { "memory", memory },
};

static bool wanted(const char *name, char **names)
{
	const bool all = !*names;

	while (*names)
		if (!strcmp(*names++, name))
			return true;
	return all;
}

/* Arguments: the parts to measure; without, all. */
int main(int argc, char **argv)
{
	int i;

	need(access("/sys/module/pvperf_host", F_OK), "pvperf_host is loaded already");
	timing_check();
	foreign();
	for (i = 0; i < 4; i++)
		if (wanted(parts[i].name, argv + 1))
			parts[i].measure();
	module_unload();
	return 0;
}
