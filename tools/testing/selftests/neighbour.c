// SPDX-License-Identifier: GPL-2.0
/*
 * While a VM does its worst on CPU 0 (worst.c), another VM and the host's admin do on CPU 1
 * what they always do. Prints what that costs them, and wants it within limits.
 */

#include "cost.h"
#include "hostile.h"
#include "room.h"
#include "tiny_test.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>

#define REPEATS		3
#define READS		500
/* Seconds after which something will never end. */
#define NEVER		5
/*
 * To end an event, rmmod interrupts the CPU on which it counts: some 900 times for 64 events
 * on each of 8 vCPUs. The emulator's CPU 0 answers when it has its turn, milliseconds later.
 */
#define NEVER_UNLOADED	30
/* So long is CPU 1 left alone. */
#define IDLE_MS		100
#define INTERRUPTS_MAX	300

/* ---------------------------------------------------------------- another VM */

/* A VM that has run, and made no call. */
static void vm_begin(void *arg)
{
	struct tiny_vm *vm = arg;

	if (tiny_vm_create(vm, 1))
		abort();
	tiny_call_here(&vm->vcpu[0], KVM_PERF_OP_PROBE, 0, 0);
}

static int64_t vm_first_calls(void *arg)
{
	struct tiny_vm *vm = arg;
	struct guest_perf_attr attr = attr_instructions(0);

	open_put(vm, 0, AT_EVENT(0), &attr);
	return tiny_call_here(&vm->vcpu[0], KVM_PERF_OP_ATTACH, AT_HEAD(0), 0) ?:
	       tiny_call_here(&vm->vcpu[0], KVM_PERF_OP_OPEN, AT_PARAM, 0) ?:
	       tiny_call_here(&vm->vcpu[0], KVM_PERF_OP_ENABLE, 0, 0);
}

static void vm_begin_and_call(void *arg)
{
	vm_begin(arg);
	vm_first_calls(arg);
}

static int64_t vm_end(void *arg)
{
	tiny_vm_destroy(arg);
	return 0;
}

static void vm_gone(void *arg)
{
	tiny_vm_destroy(arg);
}

static int64_t vm_reads(void *arg)
{
	enum { CALLS = 50 };
	struct tiny_vm *vm = arg;
	struct tiny_timed *timed = tiny_ptr(vm, AT_BATCH);
	struct kvm_regs r;
	int64_t bad = 0;
	int i, k;

	for (k = 0; k < READS / CALLS; k++) {
		for (i = 0; i < CALLS; i++)
			timed[i] = (struct tiny_timed){
				.rax = KVM_PERF_OP, .rbx = KVM_PERF_OP_READ,
			};
		r = (struct kvm_regs){ .rdi = AT_BATCH, .rcx = CALLS };
		if (tiny_vcpu_exec_here(&vm->vcpu[0], TINY_CODE_TIMED_CALL, &r))
			return TINY_BROKEN;
		for (i = 0; i < CALLS; i++)
			bad |= timed[i].rax;
	}
	return bad;
}

static const struct act first_calls = { vm_begin, vm_first_calls, vm_gone };
static const struct act ends = { vm_begin_and_call, vm_end };
static const struct act reads = { vm_begin_and_call, vm_reads, vm_gone };

/* -------------------------------------------------------------------- the admin */

/* What pvperf list reads. */
static int64_t admin_lists(void *unused)
{
	int fd = open("/sys/kernel/debug/pvperf/vms", O_RDONLY | O_CLOEXEC);
	char text[4096];
	int64_t n;

	if (fd < 0)
		return -errno;
	do {
		n = read(fd, text, sizeof(text));
	} while (n > 0);
	close(fd);
	return n;
}

/* A work on each CPU, in a workqueue of the kernel's. */
static int64_t admin_refreshes(void *unused)
{
	return tiny_text_write("/proc/sys/vm/stat_refresh", 0, "1");
}

static int64_t admin_unloads(void *unused)
{
	return tiny_module_unload(O_NONBLOCK);
}

static const struct act lists = { .act = admin_lists };
static const struct act refreshes = { .act = admin_refreshes };
static const struct act unloads = { .act = admin_unloads };

/* ------------------------------------------------------------------- an idle CPU */

/* All interrupts that a CPU has had, of any kind. */
static uint64_t interrupts_of(int cpu)
{
	char line[4096], *at;
	uint64_t n = 0;
	FILE *f = fopen("/proc/interrupts", "re");
	int i;

	while (f && fgets(line, sizeof(line), f)) {
		at = strchr(line, ':');
		if (!at || !strncmp(line + strspn(line, " "), "ERR", 3) ||
		    !strncmp(line + strspn(line, " "), "MIS", 3))
			continue;
		at++;
		for (i = 0; i < cpu; i++)
			strtoull(at, &at, 10);
		n += strtoull(at, &at, 10);
	}
	if (f)
		fclose(f);
	return n;
}

/* ------------------------------------------------------------------- the worst */

/* An act, how often it is measured, and what the dearest may cost. */
struct measure {
	const char *name;
	const struct act *act;
	int repeats;
	uint64_t insns, us;	/* limits */
	int never;		/* seconds */
};

/*
 * About twice what the lab has measured for the worst; the bystanders' own work, and the
 * grace periods that KVM and rmmod wait for, are most of it.
 */
static const struct measure measures[] = {
	{ "first_calls", &first_calls, REPEATS, 150000, 20000, NEVER },
	{ "reads", &reads, 1, READS * 5000, 20000, NEVER },
	{ "ends", &ends, REPEATS, 2000000, 500000, NEVER },
	{ "lists", &lists, 1, 15000000, NEVER * 1000000, NEVER },
	{ "refreshes", &refreshes, REPEATS, 100000, 200000, NEVER },
};

static const struct measure unload = {
	"unloads", &unloads, 1, 100000000, 14000000, NEVER_UNLOADED
};

#define MEASURES	(sizeof(measures) / sizeof(measures[0]))

FIXTURE(worst) {
	struct tiny_totals before;
	struct hostile hostile;
	/* Each act's own, since it may be stuck until the worst is over. */
	struct cost cost[MEASURES];
	struct tiny_vm vm[MEASURES];
	bool unloads;
};

FIXTURE_VARIANT(worst) {
	const char *name;
	const struct worst *does;
};

#define WORST(what)	\
	FIXTURE_VARIANT_ADD(worst, what) { .name = #what, .does = &worst_##what }

WORST(nobody);
WORST(busy);
WORST(calls);
WORST(open_close);
WORST(read_many);
WORST(nmis);
WORST(events);
WORST(one_thread);
WORST(resets);
WORST(pages);
WORST(limits);
WORST(churn);
WORST(stall);
WORST(stalled_resets);

FIXTURE_SETUP(worst)
{
	if (!getenv("LAB_ICOUNT") || strcmp(getenv("LAB_ICOUNT"), "1"))
		SKIP(return, "counts instructions: needs tools/testing/lab, with --icount");
	tiny_stay_on(1);
	ASSERT_EQ(0, tiny_totals_read(&self->before));
	ASSERT_TRUE(hostile_start(&self->hostile, variant->does));
}

FIXTURE_TEARDOWN(worst)
{
	int i;

	hostile_end(&self->hostile);
	for (i = 0; i < MEASURES; i++)
		cost_end(&self->cost[i]);
	/* Perhaps only now: rmmod may have waited for the hostile VM. */
	if (self->unloads && !self->cost[0].result)
		EXPECT_EQ(0, tiny_module_load(""));
	EXPECT_TRUE(tiny_totals_wait(&self->before));
}

/* The dearest of some; false if it is beyond the limit, or has not ended. */
static bool within(const struct measure *m, struct cost *cost, struct tiny_vm *vm)
{
	uint64_t insns = 0, us = 0;
	int i;

	for (i = 0; i < m->repeats; i++) {
		cost_measure(cost, m->act, vm, m->never);
		if (cost->never)
			return false;
		cost_end(cost);
		insns = cost->insns > insns ? cost->insns : insns;
		us = (uint64_t)cost->slept / 1000 > us ? cost->slept / 1000 : us;
	}
	printf("# %s: %llu instructions, %llu us asleep\n", m->name,
	       (unsigned long long)insns, (unsigned long long)us);
	return insns <= m->insns && us <= m->us;
}

static uint64_t interrupts_of_idle(void)
{
	uint64_t before = interrupts_of(1);

	usleep(IDLE_MS * 1000);
	return interrupts_of(1) - before;
}

TEST_F(worst, costs_others_nothing)
{
	int i;

	EXPECT_GE(INTERRUPTS_MAX, interrupts_of_idle());
	for (i = 0; i < MEASURES; i++) {
		EXPECT_TRUE(within(&measures[i], &self->cost[i], &self->vm[i])) {
			TH_LOG("beyond its limit: %s", measures[i].name);
		}
		EXPECT_EQ(0, self->cost[i].result);
	}
}

TEST_F(worst, rmmod)
{
	struct cost *cost = &self->cost[0];

	self->unloads = true;
	EXPECT_TRUE(within(&unload, cost, NULL));
	/* It can't while a call waits for a page, and says so. */
	EXPECT_EQ(variant->does->let_go ? -EAGAIN : 0, cost->result);
}

TEST_HARNESS_MAIN
