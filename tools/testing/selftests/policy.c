// SPDX-License-Identifier: GPL-2.0
/*
 * The rules of who may count what. A rule holds for a VM at its first call and from when the
 * rules are written, at once; the others notice nothing. A VM's name is the one that its
 * process has at the VM's first call, so this one process has VMs of several names.
 */

#include "tiny_test.h"
#include "named.h"
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>

#define TURNS		1000000ull
#define GROUP		"/sys/fs/cgroup/pvperf_test"

FIXTURE(policy) {
	struct named vms;
};

FIXTURE_SETUP(policy)
{
	ASSERT_TRUE(named_create(&self->vms));
}

FIXTURE_TEARDOWN(policy)
{
	EXPECT_TRUE(named_destroy(&self->vms));
}

/* A VM that runs loses its events, is told, and may come back. */
TEST_F(policy, running)
{
	struct tiny_vcpu *in = &self->vms.in.vcpu[0], *out = &self->vms.out.vcpu[0];
	struct guest_perf_event *e = event_at(&self->vms.out, 0);

	ASSERT_TRUE(begins(&self->vms.in));
	ASSERT_TRUE(begins(&self->vms.out));
	ASSERT_EQ(0, tiny_spin(out, TURNS));

	ASSERT_EQ(0, tiny_rules_write("comm=nobody access=unavailable\ncomm=*_out access=unavailable\n"));
	EXPECT_TRUE(gone(&self->vms.out, KVM_PERF_REASON_DENIED));
	EXPECT_LE(measured_least(TURNS), e->count);
	check_absent(_metadata, out);
	EXPECT_TRUE(offered(in));
	EXPECT_TRUE(still_counts(in, 0, TURNS));

	/* other rules that say the same change nothing */
	ASSERT_EQ(0, tiny_rules_write("comm=pvperf_ou[st] access=unavailable"));
	check_absent(_metadata, out);
	EXPECT_TRUE(still_counts(in, 0, TURNS));

	ASSERT_EQ(0, tiny_rules_write("comm=pvperf access=unavailable\n"));
	EXPECT_TRUE(offered(out));
	EXPECT_TRUE(begins(&self->vms.out));
	EXPECT_EQ(KVM_PERF_PAGE_LIVE, head_at(&self->vms.out, 0)->state);
	EXPECT_EQ(0, head_at(&self->vms.out, 0)->reason);
	EXPECT_TRUE(still_counts(out, 0, TURNS));
}

/* A VM whose first call comes later finds nothing, and the host opens nothing for it. */
TEST_F(policy, later)
{
	struct tiny_vcpu *in = &self->vms.in.vcpu[0], *out = &self->vms.out.vcpu[0];
	struct tiny_totals before, t;

	ASSERT_EQ(0, tiny_totals_read(&before));
	ASSERT_EQ(0, tiny_rules_write("comm=pvperf_out access=unavailable\n"));
	check_absent(_metadata, out);
	EXPECT_EQ(0, tiny_totals_read(&t));
	EXPECT_EQ(before.vcpus, t.vcpus);
	EXPECT_TRUE(begins(&self->vms.in));
	EXPECT_TRUE(still_counts(in, 0, TURNS));

	ASSERT_EQ(0, tiny_rules_write("\n"));
	EXPECT_TRUE(begins(&self->vms.out));
	EXPECT_TRUE(still_counts(out, 0, TURNS));
}

/* The switch stands above the rules. */
TEST_F(policy, switched_off)
{
	ASSERT_TRUE(begins(&self->vms.in));
	ASSERT_EQ(0, tiny_rules_write("access=local\n"));
	ASSERT_EQ(0, tiny_param_write("access", "unavailable"));
	EXPECT_TRUE(gone(&self->vms.in, KVM_PERF_REASON_NONE));
	check_absent(_metadata, &self->vms.in.vcpu[0]);
	EXPECT_EQ(0, tiny_param_write("access", "local"));
	EXPECT_TRUE(begins(&self->vms.in));
}

/* The first rule that is about a VM holds; what this one does not say is the default's. */
TEST_F(policy, first)
{
	struct tiny_vcpu *in = &self->vms.in.vcpu[0];

	ASSERT_EQ(0, tiny_param_write("min_period", "3000"));
	ASSERT_EQ(0, tiny_rules_write("comm=pvperf_in max_events=7\ncomm=* max_events=3 min_period=5000\n"));
	EXPECT_EQ(7, limits_read(in).events);
	EXPECT_EQ(3000, limits_read(in).min_period);
	EXPECT_EQ(3, limits_read(&self->vms.out.vcpu[0]).events);
	EXPECT_EQ(5000, limits_read(&self->vms.out.vcpu[0]).min_period);
	ASSERT_EQ(0, tiny_param_write("min_period", "4000"));
	EXPECT_EQ(4000, limits_read(in).min_period);
	EXPECT_EQ(5000, limits_read(&self->vms.out.vcpu[0]).min_period);
	EXPECT_EQ(0, tiny_param_write("min_period", "1000"));
	EXPECT_EQ(0, tiny_rules_append("max_events=1"));
	EXPECT_EQ(3, limits_read(&self->vms.out.vcpu[0]).events);
}

/* ------------------------------------------------------------------- words */

static int64_t open_as(struct tiny_vcpu *v, int id, uint32_t type, uint64_t config,
		       uint64_t period)
{
	struct guest_perf_attr attr = {
		.type = type, .size = KVM_PERF_ATTR_SIZE_VER0, .config = config,
		.sample_period = period,
	};

	return open_attr(v, id, KVM_PERF_EVENT_SIZE, &attr);
}

/* The word of a kind of events, live: they end, are refused and counted, and come back. */
static void check_kind(struct __test_metadata *_metadata, struct tiny_vm *vm, const char *word,
		       uint32_t feature, uint32_t type, uint64_t config)
{
	struct tiny_vcpu *v = &vm->vcpu[0];
	char rule[64];

	ASSERT_TRUE(begins(vm));
	ASSERT_CALL(0, open_as(v, 1, type, config, 0));
	EXPECT_TRUE(features(v) & feature);
	snprintf(rule, sizeof(rule), "comm=pvperf_in %s=no\n", word);
	ASSERT_EQ(0, tiny_rules_write(rule));
	EXPECT_TRUE(gone(vm, KVM_PERF_REASON_POLICY));
	EXPECT_EQ(KVM_PERF_STATE_GONE, event_at(vm, 1)->state);
	EXPECT_FALSE(features(v) & feature);
	EXPECT_CALL(-KVM_EPERM, open_as(v, 1, type, config, 0));
	EXPECT_EQ(1, refused(word));
	if (!by_clock) {
		EXPECT_TRUE(begins(vm));
		EXPECT_TRUE(still_counts(v, 0, TURNS));
	}
	ASSERT_EQ(0, tiny_rules_write("\n"));
	EXPECT_TRUE(features(v) & feature);
	EXPECT_CALL(0, open_as(v, 1, type, config, 0));
}

TEST_F(policy, raw)
{
	NEED_PMU();
	check_kind(_metadata, &self->vms.in, "raw", KVM_PERF_FEATURE_RAW, KVM_PERF_TYPE_RAW, 0xc0);
}

/* The second-level cache is beyond the hyperthread, whichever CPU this is. */
TEST_F(policy, raw_list)
{
	const uint32_t raw = KVM_PERF_TYPE_RAW;
	struct tiny_vcpu *v = &self->vms.in.vcpu[0];

	NEED_PMU();
	ASSERT_TRUE(begins(&self->vms.in));
	ASSERT_CALL(0, open_as(v, 1, raw, 0xc0, 0));
	ASSERT_CALL(0, open_as(v, 2, raw, 0x60, 0));
	ASSERT_EQ(0, tiny_rules_write("comm=pvperf_in raw=list\n"));
	EXPECT_TRUE(gone(&self->vms.in, KVM_PERF_REASON_POLICY));
	EXPECT_TRUE(features(v) & KVM_PERF_FEATURE_RAW);
	EXPECT_CALL(0, open_as(v, 1, raw, 0xc0, 0));
	EXPECT_CALL(-KVM_EPERM, open_as(v, 2, raw, 0x60, 0));
	EXPECT_EQ(1, refused("raw"));
	ASSERT_CALL(0, tiny_call(v, KVM_PERF_OP_ENABLE, 1, 0, 0));
	EXPECT_EQ(0, tiny_spin(v, TURNS));
	ASSERT_CALL(0, tiny_call(v, KVM_PERF_OP_DISABLE, 1, 0, 0));
	EXPECT_LE(measured_least(TURNS), event_at(&self->vms.in, 1)->count);
	ASSERT_EQ(0, tiny_rules_write("comm=pvperf_in raw=yes\n"));
	EXPECT_CALL(0, open_as(v, 2, raw, 0x60, 0));
}

TEST_F(policy, host_events)
{
	check_kind(_metadata, &self->vms.in, "host_events", KVM_PERF_FEATURE_HOST_SW,
		   KVM_PERF_TYPE_SOFTWARE, 3);
}

/* A limit below what is open ends the VM's events; then it holds. */
TEST_F(policy, limits)
{
	struct tiny_vcpu *v = &self->vms.in.vcpu[0];

	ASSERT_TRUE(begins(&self->vms.in));
	ASSERT_CALL(0, open_event(v, 1, 0));
	ASSERT_EQ(0, tiny_rules_write("comm=pvperf_in max_events=64 max_vm_events=2\n"));
	EXPECT_EQ(KVM_PERF_PAGE_LIVE, head_at(&self->vms.in, 0)->state);
	EXPECT_CALL(-KVM_ENOSPC, open_event(v, 2, 0));
	EXPECT_EQ(1, refused("max_vm_events"));

	ASSERT_EQ(0, tiny_rules_write("comm=pvperf_in max_vm_events=1\n"));
	EXPECT_TRUE(gone(&self->vms.in, KVM_PERF_REASON_POLICY));
	EXPECT_CALL(0, open_event(v, 0, 0));
	EXPECT_CALL(-KVM_ENOSPC, open_event(v, 1, 0));

	ASSERT_EQ(0, tiny_rules_write("comm=pvperf_in max_events=1\n"));
	EXPECT_EQ(1, limits_read(v).events);
	EXPECT_CALL(0, open_event(v, 0, 0));
	EXPECT_CALL(-KVM_ENOSPC, open_event(v, 1, 0));
	EXPECT_EQ(1, refused("max_events"));

	ASSERT_EQ(0, tiny_rules_write("comm=pvperf_in max_pages=1\n"));
	EXPECT_CALL(0, open_event(v, 0, 0));
	EXPECT_CALL(-KVM_ENOSPC, open_event(v, 1, 0));
	EXPECT_EQ(1, refused("max_pages"));
}

TEST_F(policy, min_period)
{
	struct tiny_vcpu *v = &self->vms.in.vcpu[0];

	NEED_PMU();
	ASSERT_EQ(0, tiny_rules_write("comm=pvperf_in min_period=50000\n"));
	EXPECT_EQ(50000, limits_read(v).min_period);
	EXPECT_CALL(-KVM_EINVAL, open_event(v, 0, 49999));
	EXPECT_EQ(1, refused("min_period"));
	EXPECT_CALL(0, open_event(v, 0, 50000));
}

/* A second's worth at once, then so many a second; no other VM waits. */
TEST_F(policy, max_calls)
{
	int64_t from, took;
	int i;

	ASSERT_EQ(0, tiny_rules_write("comm=pvperf_in max_calls=100\n"));
	from = now_ns();
	for (i = 0; i < 200; i++)
		tiny_call(&self->vms.in.vcpu[0], KVM_PERF_OP_READ, 0, 0, 0);
	took = now_ns() - from;
	EXPECT_LE(800000000, took);
	EXPECT_LE(90, refused("max_calls"));
	from = now_ns();
	for (i = 0; i < 200; i++)
		tiny_call(&self->vms.out.vcpu[0], KVM_PERF_OP_READ, 0, 0, 0);
	EXPECT_GE(took / 8, now_ns() - from);
}

/* The overflows of an event that could overflow at every microsecond. */
static uint32_t overflows_in(struct tiny_vm *vm, int64_t ns)
{
	struct tiny_vcpu *v = &vm->vcpu[0];
	int64_t until = now_ns() + ns;

	if (open_event(v, 0, 1000) || id_call(v, KVM_PERF_OP_ENABLE, 0))
		return 0;
	while (now_ns() < until)
		tiny_spin(v, TURNS / 10);
	id_call(v, KVM_PERF_OP_DISABLE, 0);
	return event_at(vm, 0)->overflows;
}

TEST_F(policy, max_overflows)
{
	uint32_t many, few;

	NEED_PMU();
	many = overflows_in(&self->vms.out, 500000000);
	ASSERT_EQ(0, tiny_rules_write("comm=pvperf_in max_overflows=1000\n"));
	few = overflows_in(&self->vms.in, 500000000);
	TH_LOG("%u overflows, with the limit %u", many, few);
	EXPECT_LT(0, few);
	EXPECT_GE(700, few);
	EXPECT_LT(4 * few, many);
}

/* Nor does each ENABLE overflow that says that a period is nearly over. */
TEST_F(policy, max_overflows_left)
{
	struct guest_perf_op *op = batch_at(&self->vms.in);
	struct tiny_vcpu *v = &self->vms.in.vcpu[0];
	int64_t until;
	uint32_t n;

	NEED_PMU();
	ASSERT_EQ(0, tiny_rules_write("comm=pvperf_in max_overflows=1000\n"));
	ASSERT_CALL(0, open_event(v, 0, 1000000));
	for (n = 0, until = now_ns() + 200000000; now_ns() < until; n++) {
		op[0] = (struct guest_perf_op){ .op = KVM_PERF_OP_DISABLE };
		op[1] = (struct guest_perf_op){ .op = KVM_PERF_OP_ENABLE, .arg = 1 };
		ASSERT_CALL(2, tiny_call_gpa(v, KVM_PERF_OP_BATCH, AT_BATCH, 2));
		ASSERT_EQ(0, tiny_spin(v, 100));
	}
	TH_LOG("%u of %u", event_at(&self->vms.in, 0)->overflows, n);
	if (n <= 1000)
		SKIP(return, "%u calls are too few for the limit", n);
	EXPECT_LT(0, event_at(&self->vms.in, 0)->overflows);
	EXPECT_GE(300, event_at(&self->vms.in, 0)->overflows);
	EXPECT_EQ(KVM_PERF_EVENT_STRETCHED, event_at(&self->vms.in, 0)->flags);
}

/* An event that counts goes on, with its count, as a pinned one. */
TEST_F(policy, priority)
{
	struct tiny_vcpu *v = &self->vms.in.vcpu[0];
	struct guest_perf_event *e = event_at(&self->vms.in, 0);

	ASSERT_TRUE(begins(&self->vms.in));
	ASSERT_EQ(0, tiny_spin(v, TURNS));
	ASSERT_EQ(0, tiny_rules_write("priority=pinned\n"));
	EXPECT_EQ(KVM_PERF_PAGE_LIVE, head_at(&self->vms.in, 0)->state);
	EXPECT_CALL(0, id_call(v, KVM_PERF_OP_READ, 0));
	EXPECT_LE(measured_least(TURNS), e->count);
	EXPECT_TRUE(still_counts(v, 0, TURNS));
}

/* The event is another perf_event then; the vCPU, which is in its own code, sees none of that. */
TEST_F(policy, priority_in_guest)
{
	struct tiny_vcpu *v = &self->vms.in.vcpu[0];
	volatile struct guest_perf_event *e = event_at(&self->vms.in, 0);
	struct kvm_regs regs = { };
	uint32_t sequence;
	uint64_t count;

	ASSERT_TRUE(begins(&self->vms.in));
	ASSERT_TRUE(starts(v, TINY_CODE_WAIT));
	sequence = e->sequence;
	count = e->count;
	ASSERT_EQ(0, tiny_rules_write("priority=pinned\n"));
	ASSERT_EQ(0, tiny_rules_write("priority=flexible\n"));
	EXPECT_EQ(sequence, e->sequence);
	EXPECT_EQ(count, e->count);
	v->cpu->stop = 1;
	ASSERT_EQ(0, tiny_vcpu_wait(v, &regs));
	EXPECT_TRUE(still_counts(v, 0, TURNS));
	EXPECT_LT(count, e->count);
}

/* -------------------------------------------------------------------- whom */

enum whom_end { WHOM_OFFERED, WHOM_DENIED, WHOM_FAILED };

/* What becomes of the VM of a process of its own, of which a rule denies everything. */
static enum whom_end whom(const char *rule, const char *group, uid_t uid)
{
	struct tiny_vm vm;
	pid_t pid = fork();
	char line[256];
	int status;
	FILE *f;

	if (!pid) {
		snprintf(line, sizeof(line), "%s/cgroup.procs", group ? group : "");
		f = group ? fopen(line, "we") : NULL;
		if (group && (!f || fprintf(f, "0") < 0 || fclose(f)))
			_exit(WHOM_FAILED);
		snprintf(line, sizeof(line), rule, getpid());
		if (tiny_rules_write(line) || tiny_vm_create(&vm, 1) ||
		    (uid && syscall(SYS_setresuid, uid, uid, uid)))
			_exit(WHOM_FAILED);
		_exit(offered(&vm.vcpu[0]) ? WHOM_OFFERED : WHOM_DENIED);
	}
	return waitpid(pid, &status, 0) == pid && WIFEXITED(status) ? WEXITSTATUS(status) : WHOM_FAILED;
}

TEST_F(policy, whom)
{
	mkdir(GROUP, 0755);
	EXPECT_EQ(WHOM_DENIED, whom("access=unavailable\n", NULL, 0));
	EXPECT_EQ(WHOM_OFFERED, whom("access=local\n", NULL, 0));
	EXPECT_EQ(WHOM_DENIED, whom("uid=1234 access=unavailable\n", NULL, 1234));
	EXPECT_EQ(WHOM_DENIED, whom("uid=12?? access=unavailable\n", NULL, 1234));
	EXPECT_EQ(WHOM_OFFERED, whom("uid=123 access=unavailable\n", NULL, 1234));
	EXPECT_EQ(WHOM_DENIED, whom("cgroup=/pvperf_test access=unavailable\n", GROUP, 0));
	EXPECT_EQ(WHOM_DENIED, whom("cgroup=/*_te?t* access=unavailable\n", GROUP, 0));
	EXPECT_EQ(WHOM_OFFERED, whom("cgroup=/pvperf access=unavailable\n", GROUP, 0));
	EXPECT_EQ(WHOM_OFFERED, whom("cgroup=/pvperf_test access=unavailable\n", NULL, 0));
	EXPECT_EQ(WHOM_DENIED, whom("pid=%d access=unavailable\n", NULL, 0));
	EXPECT_EQ(WHOM_OFFERED, whom("pid=1 access=unavailable\n", NULL, 0));
	EXPECT_EQ(WHOM_DENIED, whom("cgroup=/pvperf_test uid=1234 comm=pvperf_out access=unavailable\n",
			   GROUP, 1234));
	EXPECT_EQ(WHOM_OFFERED, whom("cgroup=/pvperf_test uid=1234 comm=pvperf_in access=unavailable\n",
			    GROUP, 1234));
	rmdir(GROUP);
}

static int attaches(void *arg)
{
	_exit(tiny_call_here(arg, KVM_PERF_OP_ATTACH, AT_HEAD(0), 0) != 0);
}

/* A process of the same memory makes the first call, and ends: then the VM may have nothing. */
TEST_F(policy, first_caller_ends)
{
	struct tiny_vm vm;
	struct tiny_vcpu *v = &vm.vcpu[0];

	ASSERT_EQ(0, tiny_vm_create(&vm, 1));
	ASSERT_EQ(0, tiny_in_other_process(attaches, v));
	EXPECT_EQ(KVM_PERF_PAGE_LIVE, head_at(&vm, 0)->state);
	EXPECT_CALL(-KVM_EPERM, open_event(v, 0, 0));
	EXPECT_CALL(-KVM_EPERM, tiny_call_gpa(v, KVM_PERF_OP_ATTACH, AT_HEAD(0), 0));
	ASSERT_EQ(0, tiny_rules_write("comm=nobody raw=no\n"));
	check_absent(_metadata, v);
	tiny_vm_destroy(&vm);
}

static int closes(void *arg)
{
	_exit(tiny_call_here(arg, KVM_PERF_OP_CLOSE, 0, 0) == 0);
}

/* A process of the same memory runs a vCPU that a rule has ended before: that is not for a rule. */
TEST_F(policy, another_runs_it)
{
	struct tiny_vm *vm = &self->vms.in;

	ASSERT_TRUE(begins(vm));
	ASSERT_EQ(0, tiny_rules_write("comm=pvperf_in host_events=no\n"));
	EXPECT_TRUE(gone(vm, KVM_PERF_REASON_POLICY));
	ASSERT_TRUE(begins(vm));
	EXPECT_EQ(0, tiny_in_other_process(closes, &vm->vcpu[0]));
	EXPECT_TRUE(gone(vm, KVM_PERF_REASON_NONE));
}

struct led {
	struct tiny_vm vm;
	int told[2];
};

static void *asks_again(void *arg)
{
	struct led *led = arg;
	char byte;

	_exit(read(led->told[0], &byte, 1) || offered(&led->vm.vcpu[0]));
}

/* The first thread ends, and the admin moves the others into another cgroup. */
TEST_F(policy, first_thread_ends)
{
	static struct led led;
	pthread_t thread;
	int status;
	pid_t pid;
	FILE *f;

	mkdir(GROUP, 0755);
	ASSERT_EQ(0, tiny_rules_write("comm=nobody raw=no\n"));
	ASSERT_EQ(0, pipe(led.told));
	pid = fork();
	if (!pid) {
		close(led.told[1]);
		if (tiny_vm_create(&led.vm, 1) || !offered(&led.vm.vcpu[0]) ||
		    pthread_create(&thread, NULL, asks_again, &led))
			_exit(2);
		syscall(SYS_exit, 0);
	}
	usleep(500000);
	f = fopen(GROUP "/cgroup.procs", "we");
	ASSERT_NE(NULL, f);
	fprintf(f, "%d", pid);
	EXPECT_EQ(0, fclose(f));
	ASSERT_EQ(0, tiny_rules_write("cgroup=/pvperf_test access=unavailable\n"));
	close(led.told[1]);
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	EXPECT_EQ(0, status);
	close(led.told[0]);
	rmdir(GROUP);
}

static void *tells_tid(void *arg)
{
	*(volatile pid_t *)arg = gettid();
	pause();
	return NULL;
}

/* A number is a process's, and the rule goes with the process. */
TEST_F(policy, number)
{
	struct tiny_vm *vm = &self->vms.in;
	pthread_t thread;
	char rule[64], was[4096];
	volatile pid_t tid = 0;
	int status;
	pid_t pid;

	ASSERT_EQ(0, pthread_create(&thread, NULL, tells_tid, (void *)&tid));
	while (!tid)
		usleep(1000);
	snprintf(rule, sizeof(rule), "pid=%d raw=no\n", tid);
	EXPECT_EQ(-EINVAL, tiny_rules_write(rule));
	pthread_cancel(thread);
	pthread_join(thread, NULL);
	pid = fork();
	if (!pid) {
		pause();
		_exit(0);
	}
	snprintf(rule, sizeof(rule), "pid=%d access=unavailable\n", pid);
	EXPECT_EQ(0, tiny_rules_write(rule));
	EXPECT_TRUE(offered(&vm->vcpu[0]));
	kill(pid, SIGKILL);
	EXPECT_EQ(pid, waitpid(pid, &status, 0));
	/* What is shown can be written again, as the command does, and is about nobody else. */
	EXPECT_EQ(0, tiny_rules_read(was, sizeof(was)));
	EXPECT_EQ('#', *was);
	EXPECT_EQ(0, tiny_rules_write(was));
	EXPECT_EQ(0, tiny_rules_append("comm=nobody raw=no\n"));
	EXPECT_EQ(0, tiny_rules_read(was, sizeof(was)));
	EXPECT_EQ(0, strncmp(was, "comm=nobody raw=no\n#", 20));
}

/* A VM whose process has moved follows when the rules are written. */
TEST_F(policy, moves)
{
	FILE *f;

	mkdir(GROUP, 0755);
	ASSERT_EQ(0, tiny_rules_write("cgroup=/pvperf_test* access=unavailable\n"));
	ASSERT_TRUE(begins(&self->vms.in));
	f = fopen(GROUP "/cgroup.procs", "we");
	ASSERT_NE(NULL, f);
	fprintf(f, "0");
	EXPECT_EQ(0, fclose(f));
	EXPECT_TRUE(still_counts(&self->vms.in.vcpu[0], 0, TURNS));
	EXPECT_EQ(0, tiny_rules_append("\n"));
	EXPECT_TRUE(gone(&self->vms.in, KVM_PERF_REASON_DENIED));
	f = fopen("/sys/fs/cgroup/cgroup.procs", "we");
	ASSERT_NE(NULL, f);
	fprintf(f, "0");
	EXPECT_EQ(0, fclose(f));
	rmdir(GROUP);
}

/* -------------------------------------------------------------------- races */

struct loop {
	struct tiny_vcpu *v;
	volatile bool stop;
	int opened, refused, other;
};

static void *open_and_close(void *arg)
{
	struct loop *loop = arg;

	while (!loop->stop) {
		int64_t ret = open_event(loop->v, 0, 0);

		loop->opened += !ret;
		loop->refused += ret == -KVM_ENOSYS;
		loop->other += ret && ret != -KVM_ENOSYS;
		if (!ret && loop->opened % 2)
			id_call(loop->v, KVM_PERF_OP_CLOSE, 0);
		else
			tiny_call(loop->v, KVM_PERF_OP_DETACH, 0, 0, 0);
	}
	return NULL;
}

/* While the guest opens events the rules change; nothing is left of what it opened. */
TEST_F(policy, racing)
{
	struct loop loop = { .v = &self->vms.out.vcpu[0] };
	struct tiny_totals t;
	pthread_t thread;
	int i, tries;

	ASSERT_EQ(0, pthread_create(&thread, NULL, open_and_close, &loop));
	for (i = 0; i < 40; i++) {
		usleep(1000 + i * 37);
		ASSERT_EQ(0, tiny_rules_write(i % 2 ? "\n" : "comm=pvperf_out access=unavailable"));
		if (i % 2)
			continue;
		/* An OPEN that was under way ends the event that it has made. */
		for (tries = 0; !tries || (t.events != self->vms.before.events && tries < 100); tries++) {
			usleep(tries * 100);
			EXPECT_EQ(0, tiny_totals_read(&t));
		}
		EXPECT_EQ(self->vms.before.events, t.events);
	}
	loop.stop = true;
	ASSERT_EQ(0, pthread_join(thread, NULL));
	ASSERT_EQ(0, tiny_rules_write("comm=pvperf_out access=unavailable"));
	EXPECT_EQ(0, tiny_totals_read(&t));
	EXPECT_EQ(self->vms.before.events, t.events);
	EXPECT_EQ(self->vms.before.pages, t.pages);
	EXPECT_LT(0, loop.opened);
	EXPECT_LT(0, loop.refused);
	EXPECT_EQ(0, loop.other);
}

static char text[16384];

/* A hundred rules, written a thousand times while a VM that they do not change counts. */
TEST_F(policy, rewritten)
{
	size_t n = 0;
	int i;

	for (i = 0; i < 99; i++)
		n += sprintf(text + n, "comm=vm-%d-* cgroup=/machine.slice/*-%d.scope max_events=%d\n",
			     i, i, 1 + i % 64);
	ASSERT_TRUE(begins(&self->vms.in));
	for (i = 0; i < 1000; i++) {
		sprintf(text + n, "comm=pvperf_out max_events=%d\n", 1 + i % 64);
		ASSERT_EQ(0, tiny_rules_write(text));
		if (i % 100)
			continue;
		EXPECT_EQ(1 + i % 64, limits_read(&self->vms.out.vcpu[0]).events);
		EXPECT_TRUE(still_counts(&self->vms.in.vcpu[0], 0, TURNS / 10));
	}
}

TEST_HARNESS_MAIN
