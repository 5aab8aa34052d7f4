// SPDX-License-Identifier: GPL-2.0
/*
 * What pvperf_host costs, in instructions of all levels: the difference of two RDTSC of a
 * guest, where a tick of the TSC is one instruction ("run --icount" and "run --cpu intel";
 * the figure tsc.per_1000 shows it). It starts without the module.
 *
 * QEMU's SVM has no NRIPS, so KVM decodes each instruction that it skips. That is 1,500
 * instructions of each call and CPUID, and one more or less depending on where the vCPU
 * lies in a slab, which differs from boot to boot.
 */

#include "guest_events.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define MODULE		"/lab/pvperf_host.ko"
#define OVERFLOWS	64
#define PERIOD		200000		/* so long that the host does not stretch it */
#define VMS		50

/* The cost of one more operation, from those of 64 and of 1. */
static int64_t entry(int64_t all, int64_t one)
{
	return (all - one + 31) / 63;
}

/* -------------------------------------------- guests that do not use pvperf */

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

/* The same VM before and after the module is loaded; it never calls. */
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

/* -------------------------------------------------------------------- batches */

/* Are there more hardware events than counters? Then not all count at once. */
static bool multiplexed(struct tiny_vcpu *v, int n)
{
	const struct guest_perf_event *event = tiny_ptr(v->vm, AT_EVENT(v, 0));

	while (n--)
		if (event[n].state != KVM_PERF_STATE_COUNTING)
			return true;
	return false;
}

static const int sizes[] = { 1, 6, 64 };

static void figure_with(struct tiny_vcpu *v, int n, const char *format,
			const char *kind, const char *name, int64_t value)
{
	char key[64];
	int len = snprintf(key, sizeof(key), format, n, kind, name);

	snprintf(key + len, sizeof(key) - len, "%s",
		 multiplexed(v, n) ? ".multiplexed" : "");
	figure(key, value);
}

/* A batch of n READs, with n events open. */
static void batches(struct tiny_vcpu *v, const struct guest_perf_attr *attr,
		    const char *kind)
{
	uint64_t ticks[3];
	char key[64];
	int i;

	for (i = 0; i < 3; i++) {
		events_begin(v, sizes[i], attr);
		batch_reads(v, sizes[i], sizes[i]);
		ticks[i] = batch_time(v, sizes[i], ROUNDS_BATCH);
		figure_with(v, sizes[i], "batch%d.%s%s", kind, "read", ticks[i]);
		events_end(v);
	}
	snprintf(key, sizeof(key), "batch64.%s", *kind ? "hwread.entry" : "entry");
	figure(key, entry(ticks[2], ticks[0]));
}

/* A batch of one operation, with n events open. */
static void singles(struct tiny_vcpu *v, const struct guest_perf_attr *attr,
		    const char *kind)
{
	static const char * const names[] = { "disable", "enable", "readmany" };
	uint64_t ticks[3];
	int i, j;

	for (i = 0; i < 3; i++) {
		events_begin(v, sizes[i], attr);
		batch_singles(v, sizes[i]);
		single_times(v, ticks);
		for (j = 0; j < 3; j++)
			figure_with(v, sizes[i], "with%d.%s%s", kind, names[j], ticks[j]);
		events_end(v);
	}
}

/* The page of the event is already pinned for another one, which is the usual case. */
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

/*
 * The most that a call may do: as many operations of a kind as fit, on as many events. The
 * least of some rounds: a call is as long as a tenth of a tick's distance. RCU frees what was
 * closed before an OPEN is timed, or that OPEN would have to make slabs in some rounds.
 */
static void most(struct tiny_vcpu *v, const struct guest_perf_attr *attr,
		 const char *kind)
{
	static const struct {
		const char *name;
		uint32_t op;
	} ops[] = {	/* in this order, from 64 that count */
		{ "disable", KVM_PERF_OP_DISABLE }, { "enable", KVM_PERF_OP_ENABLE },
		{ "close", KVM_PERF_OP_CLOSE }, { "open", KVM_PERF_OP_OPEN },
	};
	uint64_t ticks, least[4] = { UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX };
	char key[64];
	int round, i;

	events_begin(v, 64, attr);
	for (round = 0; round < ROUNDS_MOST; round++) {
		for (i = 0; i < 4; i++) {
			batch_each(v, 64, ops[i].op);
			if (ops[i].op == KVM_PERF_OP_OPEN)
				usleep(60000);
			ticks = batch_time(v, 64, 1);
			if (ticks < least[i])
				least[i] = ticks;
		}
		batch_each(v, 64, KVM_PERF_OP_ENABLE);	/* for the next round */
		batch_time(v, 64, 1);
	}
	events_end(v);
	for (i = 0; i < 4; i++) {
		snprintf(key, sizeof(key), "most.%s%s", kind, ops[i].name);
		figure(key, least[i]);
	}
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
	batches(v, &clock_attr, "");
	singles(v, &clock_attr, "");
	open_close(v, &clock_attr, ".sw");
	most(v, &clock_attr, "");
	if (!hardware(v))
		return;
	batches(v, &instructions_attr, "hw");
	singles(v, &instructions_attr, "hw");
	open_close(v, &instructions_attr, ".hw");
	most(v, &instructions_attr, "hw");
}

/* ------------------------------------------------------------------ overflows */

/*
 * The guest reads the TSC in every fourth instruction. So the time that its handler logs is
 * at most four instructions more than the time since the overflow, including the handler's
 * first instruction. The longest is one that coincides with the host's timer tick.
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

/* ------------------------------------------------------------------- branches */

#define AT_BRANCHES	(AT_LOG - TINY_PAGE)

static void branching_begin(struct tiny_vcpu *v)
{
	struct guest_perf_event_param *param = tiny_ptr(v->vm, AT_PARAM(v, 0));
	struct guest_perf_attr attr = instructions_attr;
	int64_t err;

	attr.sample_period = PERIOD;
	attr.sample_type = KVM_PERF_SAMPLE_BRANCHES;
	attr.flags = KVM_PERF_FLAG_EXCLUDE_KERNEL;
	param_put(v, 0, &attr);
	param->branches_addr = AT_BRANCHES;
	do {	/* a work installs the hook; an OPEN waits 0.1 s for it */
		err = tiny_call_gpa(v, KVM_PERF_OP_OPEN, AT_PARAM(v, 0), 0);
	} while (err == -KVM_EBUSY);
	need(!err, "OPEN with branches failed");
	need(!tiny_call(v, KVM_PERF_OP_ENABLE, EVENT_ID(v, 0), 0, 0), "ENABLE failed");
}

/* What @samples take, guest and all; of event 0, which is closed then. */
static uint64_t samples_time(struct tiny_vcpu *v, int samples)
{
	struct kvm_regs regs = { .rcx = (uint64_t)samples * PERIOD / TINY_BRANCH_INSNS };
	const struct guest_perf_event *event = tiny_ptr(v->vm, AT_EVENT(v, 0));
	const uint64_t was = event->overflows, start = __builtin_ia32_rdtsc();
	uint64_t ticks;

	need(!tiny_vcpu_exec(v, TINY_CODE_BRANCHES_USER, &regs), "the guest broke");
	ticks = __builtin_ia32_rdtsc() - start;
	need(event->overflows - was >= samples - 1, "samples are missing");
	need(!tiny_call(v, KVM_PERF_OP_CLOSE, EVENT_ID(v, 0), 0, 0), "CLOSE failed");
	return ticks;
}

/* A vCPU of a VM that does not call leaves to its VMM and comes back. */
static uint64_t other_time(void)
{
	const struct tiny_timed out = {};
	struct tiny_vm vm;
	uint64_t ticks;

	vm_make(&vm, 1);
	ticks = timed_one(&vm.vcpu[0], TINY_CODE_TIMED_OUT, out);
	tiny_vm_destroy(&vm);
	return ticks;
}

/*
 * What a sample's branches take, and what the hook on vCPUs takes where no event has any. A round
 * has three ticks or four: the least of some has three.
 */
static void branches(void)
{
	uint64_t alone = other_time(), ticks, plain = UINT64_MAX, with = UINT64_MAX;
	struct guest_perf_attr attr = instructions_attr;
	struct tiny_vm vm;
	uint32_t r[4];
	int i;

	if (tiny_param_write("branches", "addresses"))
		return;
	vm_make(&vm, 1);
	tiny_cpuid(&vm.vcpu[0], KVM_PERF_CPUID_FEATURES, r);
	if (!(r[1] & KVM_PERF_FEATURE_BRANCHES)) {
		tiny_vm_destroy(&vm);
		return;
	}
	attr.sample_period = PERIOD;
	attr.flags = KVM_PERF_FLAG_EXCLUDE_KERNEL;
	for (i = 0; i < 2 * ROUNDS_MOST; i++) {
		events_begin(&vm.vcpu[0], 1, &attr);
		ticks = samples_time(&vm.vcpu[0], OVERFLOWS);
		plain = ticks < plain ? ticks : plain;
		branching_begin(&vm.vcpu[0]);
		ticks = samples_time(&vm.vcpu[0], OVERFLOWS);
		with = ticks < with ? ticks : with;
		events_end(&vm.vcpu[0]);
	}
	figure("branches.sample", (int64_t)(with - plain) / OVERFLOWS);
	branching_begin(&vm.vcpu[0]);
	figure("branches.others", (int64_t)other_time() - (int64_t)alone);
	tiny_vm_destroy(&vm);
}

/* ------------------------------------------------------------------- flatness */

/* The cost of one READ in a batch, with @events open. */
static int64_t flat_read(struct tiny_vcpu *v, int events)
{
	uint64_t one, all;

	batch_reads(v, 64, events);
	one = batch_time(v, 1, ROUNDS_BATCH);
	all = batch_time(v, 64, ROUNDS_BATCH);
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

/* ---------------------------------------------------------------------- main */

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
	{ "calls", calls_one }, { "overflow", overflow }, { "flat", flat },
	{ "branches", branches },
};

static bool wanted(const char *name, char **names)
{
	const bool all = !*names;

	while (*names)
		if (!strcmp(*names++, name))
			return true;
	return all;
}

/* Arguments: the parts to measure (all). */
int main(int argc, char **argv)
{
	int i;

	need(access("/sys/module/pvperf_host", F_OK), "pvperf_host is loaded already");
	timing_check();
	foreign();
	for (i = 0; i < sizeof(parts) / sizeof(*parts); i++)
		if (wanted(parts[i].name, argv + 1))
			parts[i].measure();
	module_unload();
	return 0;
}
