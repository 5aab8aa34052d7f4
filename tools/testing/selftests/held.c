// SPDX-License-Identifier: GPL-2.0
/*
 * A VMM holds perf's own lock of a vCPU's thread for as long as it likes: another thread
 * of it reads an event of that thread into memory that never arrives. Whatever perf is asked
 * to do with our events of that thread waits then. Only this VM may wait: not other VMs, and
 * the admin a bounded time.
 */

#include "admin.h"
#include "late.h"
#include "named.h"
#include "tiny_test.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#define SOON	5	/* seconds for what must not wait */
#define BOUND	25	/* for what may wait for a while */
#define ONCE	15	/* for what may wait for one VM, once */

FIXTURE(held) {
	struct tiny_vm vm, other;
	struct tiny_totals before;
	struct runner vcpu, reader, admin;
	sem_t opened, go;	/* the vCPU's event is there; its thread may go on */
	pid_t tid;
	int late, perf;
	const char *restore;	/* this parameter was written */
	bool reset;		/* the vCPU has no code any more */
};

/* Is the vCPU in a call, which waits for the lock, too, or does its thread do something else? */
FIXTURE_VARIANT(held) {
	bool in_call;
};

FIXTURE_VARIANT_ADD(held, in_call) { .in_call = true };
FIXTURE_VARIANT_ADD(held, out_of_call) { .in_call = false };

/* The vCPU's thread. */
static void counts(struct runner *r)
{
	FIXTURE_DATA(held) *self = r->arg;
	struct guest_perf_attr attr = attr_instructions(0);
	struct tiny_vcpu *v = &self->vm.vcpu[0];

	self->tid = gettid();
	open_put(&self->vm, 0, AT_EVENT(0), &attr);
	r->result = tiny_call_here(v, KVM_PERF_OP_OPEN, AT_PARAM, 0) ?:
		    tiny_call_here(v, KVM_PERF_OP_ENABLE, 0, 0);
	sem_post(&self->opened);
	sem_wait(&self->go);
	if (!self->reset)
		tiny_call_here(v, KVM_PERF_OP_DISABLE, 0, 0);
}

static void reads(struct runner *r)
{
	FIXTURE_DATA(held) *self = r->arg;

	r->result = read(self->perf, tiny_ptr(&self->other, AT_LATE), 8);
}

FIXTURE_SETUP(held)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_HARDWARE, .size = sizeof(attr), .config = COUNT_INSTRUCTIONS,
	};

	NEED_PMU();
	ASSERT_EQ(0, tiny_totals_read(&self->before));
	ASSERT_EQ(0, tiny_vm_create(&self->vm, 2));
	sem_init(&self->opened, 0, 0);
	sem_init(&self->go, 0, 0);
	runner_start(&self->vcpu, counts, self);
	sem_wait(&self->opened);
	ASSERT_EQ(0, self->vcpu.result);
	/* A VM that comes later, and has an event on each of two vCPUs. */
	ASSERT_EQ(0, tiny_vm_create(&self->other, 2));
	ASSERT_CALL(0, open_event(&self->other.vcpu[0], 0, 0));
	ASSERT_CALL(0, open_event(&self->other.vcpu[1], 1, 0));
	self->late = late_page(&self->other);
	if (self->late == -EPERM || self->late == -ENOSYS)
		SKIP(return, "no userfaultfd");
	ASSERT_LE(0, self->late);
	self->perf = syscall(SYS_perf_event_open, &attr, self->tid, -1, -1, 0);
	ASSERT_LE(0, self->perf);
	runner_start(&self->reader, reads, self);
	ASSERT_TRUE(late_wanted(self->late, SOON * 1000));
	if (variant->in_call) {
		sem_post(&self->go);
		usleep(100000);
	}
}

FIXTURE_TEARDOWN(held)
{
	late_arrive(&self->other, self->late);
	pthread_join(self->reader.thread, NULL);
	EXPECT_EQ(8, self->reader.result);
	if (!variant->in_call)
		sem_post(&self->go);
	pthread_join(self->vcpu.thread, NULL);
	if (self->admin.thread)
		pthread_join(self->admin.thread, NULL);
	if (self->restore)
		EXPECT_EQ(0, tiny_param_write(self->restore, "local"));
	EXPECT_EQ(0, tiny_rules_write("\n"));
	close(self->perf);
	close(self->late);
	tiny_vm_destroy(&self->other);
	if (self->vm.mem)
		tiny_vm_destroy(&self->vm);
	EXPECT_TRUE(tiny_totals_wait(&self->before));
}

static bool is_gone(struct tiny_vm *vm, int id)
{
	int tries;

	for (tries = 0; tries < SOON * 100; tries++) {
		if (*(volatile uint32_t *)&event_at(vm, id)->state == KVM_PERF_STATE_GONE)
			return true;
		usleep(10000);
	}
	return false;
}

static void opens(struct runner *r)
{
	r->result = open_event(r->arg, 2, 0);
}

TEST_F(held, another_vm_opens)
{
	runner_start(&self->admin, opens, &self->other.vcpu[0]);
	ASSERT_TRUE(runner_ends(&self->admin, SOON));
	EXPECT_EQ(0, self->admin.result);
}

TEST_F(held, debugfs)
{
	runner_start(&self->admin, admin_shows_vms, NULL);
	ASSERT_TRUE(runner_ends(&self->admin, SOON));
	EXPECT_EQ(0, self->admin.result);
}

/* The events of a vCPU of the other VM end, although both are reset. */
TEST_F(held, resets)
{
	struct tiny_totals want;

	ASSERT_EQ(0, tiny_totals_read(&want));
	self->reset = !variant->in_call;	/* nobody can reset a vCPU that runs */
	if (self->reset)
		tiny_vcpu_reset(&self->vm.vcpu[0]);
	tiny_vcpu_reset(&self->other.vcpu[1]);
	want.events--;
	want.pages--;
	EXPECT_TRUE(tiny_totals_wait(&want));
}

/* The other VM's events end at once, the write soon after; then rmmod fails at once. */
TEST_F_TIMEOUT(held, switched_off, 2 * BOUND)
{
	self->restore = "access";
	runner_start(&self->admin, admin_writes, "access=unavailable");
	EXPECT_TRUE(is_gone(&self->other, 0));
	EXPECT_TRUE(is_gone(&self->other, 1));
	ASSERT_TRUE(runner_ends(&self->admin, BOUND));
	EXPECT_EQ(-EBUSY, self->admin.result);
	pthread_join(self->admin.thread, NULL);
	runner_start(&self->admin, admin_unloads, NULL);
	ASSERT_TRUE(runner_ends(&self->admin, SOON));
	EXPECT_EQ(-EAGAIN, self->admin.result);
}

static int log_open(void)
{
	int log = open("/dev/kmsg", O_RDONLY | O_NONBLOCK | O_CLOEXEC);

	lseek(log, 0, SEEK_END);
	return log;
}

/* How often the log has said since log_open() that a VM holds up perf. */
static int log_blames(int log)
{
	char line[8192];
	int blames = 0;
	ssize_t n;

	while ((n = read(log, line, sizeof(line) - 1)) > 0 || (n < 0 && errno == EPIPE)) {
		line[n < 0 ? 0 : n] = '\0';
		blames += !!strstr(line, "keeps perf from ending its events");
	}
	close(log);
	return blames;
}

/* The rules hold, but one VM follows later, and the log names its process. */
TEST_F_TIMEOUT(held, denied, 2 * BOUND)
{
	int log = log_open();

	runner_start(&self->admin, admin_writes_rules, "access=unavailable\n");
	EXPECT_TRUE(is_gone(&self->other, 0));
	EXPECT_TRUE(is_gone(&self->other, 1));
	ASSERT_TRUE(runner_ends(&self->admin, BOUND));
	EXPECT_EQ(-EBUSY, self->admin.result);
	EXPECT_EQ(1, log_blames(log));
}

/* What a vCPU opens after a change of the rules stays, when its VM's work gets that far. */
TEST_F_TIMEOUT(held, opened_since, 2 * BOUND)
{
	struct tiny_vcpu *v = &self->vm.vcpu[1];
	int tries;

	ASSERT_CALL(0, open_event(v, 1, 0));
	runner_start(&self->admin, admin_writes_rules, "comm=* host_events=no\n");
	for (tries = 0; tries < SOON * 100 && id_call(v, KVM_PERF_OP_READ, 1) == 0; tries++)
		usleep(10000);
	EXPECT_EQ(KVM_PERF_STATE_GONE, event_at(&self->vm, 1)->state);
	ASSERT_CALL(0, open_event(v, 1, 0));
	late_arrive(&self->other, self->late);
	ASSERT_TRUE(runner_ends(&self->admin, BOUND));
	EXPECT_EQ(0, self->admin.result);
	EXPECT_CALL(0, id_call(v, KVM_PERF_OP_READ, 1));
}

static void opens_twice(struct runner *r)
{
	struct tiny_vcpu *v = r->arg;
	struct guest_perf_attr attr = attr_measured(0);
	struct guest_perf_op *op = batch_at(v->vm);

	open_put(v->vm, 2, AT_EVENT(2), &attr);
	op[0] = op[1] = (struct guest_perf_op){ .op = KVM_PERF_OP_OPEN, .id = 2, .arg = AT_PARAM };
	r->result = tiny_call_gpa(v, KVM_PERF_OP_BATCH, AT_BATCH, 2);
}

/*
 * A third VM wants the host alone, and does not get it, as one VM does not follow. Its batch ends
 * with the OPEN that has waited: the second one would wait as long.
 */
TEST_F_TIMEOUT(held, claimed, 2 * BOUND)
{
	struct tiny_vm third;

	ASSERT_EQ(0, tiny_rules_write("uid=0 comm=pvperf_in access=force\n"));
	ASSERT_EQ(0, tiny_vm_create(&third, 1));
	ASSERT_EQ(0, prctl(PR_SET_NAME, "pvperf_in"));
	EXPECT_TRUE(offered(&third.vcpu[0]));
	runner_start(&self->admin, opens_twice, &third.vcpu[0]);
	EXPECT_TRUE(is_gone(&self->other, 0));
	EXPECT_TRUE(is_gone(&self->other, 1));
	ASSERT_TRUE(runner_ends(&self->admin, ONCE));
	EXPECT_EQ(1, self->admin.result);
	EXPECT_EQ(-KVM_EUSERS, batch_at(&third)[0].result);
	EXPECT_TRUE(opens_soon(&self->other.vcpu[0], 3));
	tiny_vm_destroy(&third);
}

static bool child_ends(pid_t pid, int tenths)
{
	int status;

	while (tenths-- && waitpid(pid, &status, WNOHANG) != pid)
		usleep(100000);
	return tenths >= 0;
}

/* Whoever closes the VM's last descriptor does not wait for perf; rmmod fails at once. */
TEST_F(held, ends_elsewhere)
{
	int go[2];
	pid_t pid;

	if (variant->in_call)
		SKIP(return, "KVM_RUN has the VM");
	ASSERT_EQ(0, pipe(go));
	pid = fork();
	if (!pid) {
		close(go[1]);
		_exit(read(go[0], go, 1));
	}
	self->reset = true;
	tiny_vm_destroy(&self->vm);
	close(go[1]);
	EXPECT_TRUE(child_ends(pid, 10));
	runner_start(&self->admin, admin_unloads, NULL);
	ASSERT_TRUE(runner_ends(&self->admin, SOON));
	EXPECT_EQ(-EAGAIN, self->admin.result);
	close(go[0]);
}

/* KVM destroys a VM whose work waits for perf: its vendor's module may go then. */
TEST_F(held, ends_in_work)
{
	char kvms[64];

	if (variant->in_call)
		SKIP(return, "KVM_RUN has the VM");
	snprintf(kvms, sizeof(kvms), "/sys/kernel/debug/kvm/%d-%d", getpid(), self->vm.fd);
	ASSERT_EQ(0, access(kvms, F_OK));
	runner_start(&self->admin, admin_writes_rules, "access=unavailable\n");
	usleep(500000);
	self->reset = true;
	tiny_vm_destroy(&self->vm);
	EXPECT_NE(0, access(kvms, F_OK));
	EXPECT_FALSE(runner_ends(&self->admin, 1));
}

TEST_F_TIMEOUT(held, priority, 2 * BOUND)
{
	runner_start(&self->admin, admin_sets_priority, NULL);
	ASSERT_TRUE(runner_ends(&self->admin, BOUND));
	EXPECT_EQ(-EBUSY, self->admin.result);
}

/* A VMM that counts in its guest, or has made its calls and does nothing. */
static void counts_for_ever(bool in_guest)
{
	struct kvm_regs regs = { };
	struct tiny_vm vm;

	if (tiny_vm_create(&vm, 1) || open_event(&vm.vcpu[0], 0, 0) ||
	    id_call(&vm.vcpu[0], KVM_PERF_OP_ENABLE, 0))
		exit(1);
	if (in_guest)
		tiny_vcpu_exec(&vm.vcpu[0], TINY_CODE_WAIT, &regs);
	pause();
	exit(2);
}

/* The admin takes the events of a VM whose process is stopped, as by a debugger. */
static bool taken_while_stopped(bool in_guest)
{
	struct tiny_totals before, with;
	struct runner admin;
	pid_t pid;
	bool fine;

	tiny_totals_read(&before);
	with = before;
	with.vms++;
	with.vcpus++;
	with.events++;
	with.pages++;
	pid = fork();
	if (!pid)
		counts_for_ever(in_guest);
	fine = tiny_totals_wait(&with);
	usleep(100000);
	kill(pid, SIGSTOP);
	waitpid(pid, NULL, WUNTRACED);
	runner_start(&admin, admin_writes, "access=unavailable");
	fine &= runner_ends(&admin, SOON) && !admin.result && tiny_totals_wait(&before);
	tiny_param_write("access", "local");
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	return fine;
}

TEST(stopped)
{
	EXPECT_TRUE(taken_while_stopped(false));
	EXPECT_TRUE(taken_while_stopped(true));
}

/* ------------------------------------------------- hardly any time for a VMM */

#define SLOW	"/sys/fs/cgroup/pvperf_slow"

/* Opens and closes events without end: nearly always its vCPU's lock is taken. */
static void calls_for_ever(void)
{
	struct tiny_vm vm;

	if (tiny_vm_create(&vm, 1))
		exit(1);
	for (;;) {
		open_event(&vm.vcpu[0], 0, 0);
		id_call(&vm.vcpu[0], KVM_PERF_OP_CLOSE, 0);
	}
}

/* A thousandth of a CPU. */
static bool slowed_by_bandwidth(pid_t pid)
{
	char text[32];

	snprintf(text, sizeof(text), "%d", pid);
	tiny_text_write("/sys/fs/cgroup/cgroup.subtree_control", 0, "+cpu");
	mkdir(SLOW, 0755);
	return !tiny_text_write(SLOW "/cpu.max", 0, "1000 1000000") && !tiny_text_write(SLOW "/cgroup.procs", 0, text);
}

static bool slowed_as_idle(pid_t pid)
{
	const struct sched_param param = { };
	struct dirent *entry;
	char path[64];
	bool fine = true;
	DIR *tasks;

	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	tasks = opendir(path);
	while (tasks && (entry = readdir(tasks)))
		if (*entry->d_name != '.')
			fine &= !sched_setscheduler(atoi(entry->d_name), SCHED_IDLE, &param);
	if (tasks)
		closedir(tasks);
	return tasks && fine;
}

FIXTURE(slow) {
};

FIXTURE_VARIANT(slow) {
	bool (*slow)(pid_t pid);
};

FIXTURE_VARIANT_ADD(slow, bandwidth) { .slow = slowed_by_bandwidth };
FIXTURE_VARIANT_ADD(slow, idle_class) { .slow = slowed_as_idle };

FIXTURE_SETUP(slow)
{
}

FIXTURE_TEARDOWN(slow)
{
}

/* The slow VMM's lock keeps the admin for a bounded time only. */
TEST_F_TIMEOUT(slow, taken, 4 * BOUND)
{
	pid_t pid = fork(), hog;
	struct runner admin;

	if (!pid)
		calls_for_ever();
	usleep(500000);
	hog = fork();
	if (!hog)
		for (;;)
			;
	EXPECT_TRUE(variant->slow(pid));
	runner_start(&admin, admin_shows_vms, NULL);
	EXPECT_TRUE(runner_ends(&admin, SOON));
	pthread_join(admin.thread, NULL);
	runner_start(&admin, admin_writes_rules, "access=unavailable\n");
	EXPECT_TRUE(runner_ends(&admin, BOUND));
	pthread_join(admin.thread, NULL);
	EXPECT_TRUE(!admin.result || admin.result == -EBUSY);
	runner_start(&admin, admin_writes, "access=unavailable");
	EXPECT_TRUE(runner_ends(&admin, BOUND));
	kill(hog, SIGKILL);
	kill(pid, SIGKILL);
	waitpid(hog, NULL, 0);
	waitpid(pid, NULL, 0);
	pthread_join(admin.thread, NULL);
	EXPECT_EQ(0, tiny_param_write("access", "local"));
	EXPECT_EQ(0, tiny_rules_write("\n"));
	rmdir(SLOW);
}

TEST_HARNESS_MAIN
