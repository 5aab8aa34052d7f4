// SPDX-License-Identifier: GPL-2.0
/* What a VM can do that others might feel; see hostile.h. */
#include "counters.h"
#include "hostile.h"
#include "late.h"
#include "room.h"

#include <fcntl.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define TURNS		100000ull
#define FAR		(1 << 22)	/* 512 ids so far apart are all there can be */

/* Nothing: CPU 0 is idle. */
const struct worst worst_nobody;

static void spin(struct tiny_vcpu *v)
{
	struct kvm_regs r = { .rcx = TURNS };

	tiny_vcpu_exec_here(v, TINY_CODE_SPIN, &r);
}

/* No call at all, only work: what a busy CPU 0 costs others. */
const struct worst worst_busy = { .vcpus = TINY_VCPUS, .act = spin };

static bool open_one(struct tiny_vcpu *v)
{
	room_period(v, 0);
	return room_open_many(v, 1, 1, 1) == 1;
}

/* READs of one event, one after the other in the guest. */
static void call(struct tiny_vcpu *v)
{
	enum { CALLS = TINY_PAGE / sizeof(struct tiny_timed) };
	const uint64_t at = TINY_DATA + v->index * TINY_PAGE;
	struct tiny_timed *timed = tiny_ptr(v->vm, at);
	struct kvm_regs r = { .rdi = at, .rcx = CALLS };
	int i;

	for (i = 0; i < CALLS; i++)
		timed[i] = (struct tiny_timed){
			.rax = KVM_PERF_OP, .rbx = KVM_PERF_OP_READ, .rcx = room_id(v, 0, 1),
		};
	tiny_vcpu_exec_here(v, TINY_CODE_TIMED_CALL, &r);
}

const struct worst worst_calls = { .vcpus = TINY_VCPUS, .prepare = open_one, .act = call };

/* A batch of OPENs and CLOSEs, of each kind in turn. */
static bool open_and_close(struct tiny_vcpu *v)
{
	int i, pairs = KVM_PERF_BATCH_MAX / 2;

	room_period(v, 0);
	for (i = 0; i < pairs; i++) {
		room_open(v, 2 * i, i, room_id(v, i, 1), i % ROOM_KINDS);
		*room_op(v, 2 * i + 1) = (struct guest_perf_op){
			.op = KVM_PERF_OP_CLOSE, .id = room_id(v, i, 1),
		};
	}
	return room_batch(v, 2 * pairs) == 2 * pairs;
}

static void open_close(struct tiny_vcpu *v)
{
	open_and_close(v);
}

const struct worst worst_open_close = {
	.vcpus = TINY_VCPUS, .prepare = open_and_close, .act = open_close,
};

static bool open_without_counters(struct tiny_vcpu *v)
{
	int fd[COUNTERS_MAX];
	char rule[64];

	snprintf(rule, sizeof(rule), "pid=%d priority=pinned\n", getpid());
	room_period(v, 0);
	if (tiny_rules_write(rule) || room_open_many(v, 64, 1, 1) != 64)
		return false;
	if (!v->index)
		counters_take(0, 0, fd);
	return true;
}

/* As many READs of as many events as a batch holds; each event is tried again. */
static void read_many(struct tiny_vcpu *v)
{
	int i;

	for (i = 0; i < KVM_PERF_BATCH_MAX; i++)
		*room_op(v, i) = (struct guest_perf_op){
			.op = KVM_PERF_OP_READ, .id = room_id(v, 0, 1), .arg = ~0ull,
		};
	room_batch(v, KVM_PERF_BATCH_MAX);
}

const struct worst worst_read_many = {
	.vcpus = 1, .prepare = open_without_counters, .act = read_many,
};

static bool open_sampling(struct tiny_vcpu *v)
{
	room_period(v, 1000);
	return room_open_many(v, 6, 2, 1) == 6;
}

/* Overflows, each of which is an NMI of the host and one of the guest. */
const struct worst worst_nmis = {
	.vcpus = TINY_VCPUS, .prepare = open_sampling, .act = spin,
};

static bool open_all(struct tiny_vcpu *v)
{
	room_period(v, 0);
	return room_open_many(v, 64, ROOM_KINDS, 1) == 64;
}

/* All counting, while the threads take turns. */
const struct worst worst_events = { .vcpus = TINY_VCPUS, .prepare = open_all, .act = spin };

static bool open_what_it_may(struct tiny_vcpu *v)
{
	return open_all(v) || v->index > 0;
}

/* All events of all vCPUs are one thread's, which perf handles at each switch. */
const struct worst worst_one_thread = {
	.vcpus = TINY_VCPUS, .one_thread = true, .prepare = open_what_it_may, .act = spin,
};

/* The VMM resets a vCPU that has something to close. */
static void reset(struct tiny_vcpu *v)
{
	room_period(v, 0);
	room_attach(v);
	room_open_many(v, 8, ROOM_KINDS, 1);
	tiny_vcpu_reset(v);
	tiny_vcpu_mode64(v);
}

const struct worst worst_resets = { .vcpus = TINY_VCPUS, .act = reset };

/*
 * So many VMs have seven vCPUs each to reset while the eighth waits: more works than a
 * workqueue of the kernel's does at a time on a CPU (256 on 6.12).
 */
#define HERD		38

static struct tiny_vm *late_vm[HERD];
static int late_fd[HERD], nr_late;

static void let_go(void)
{
	while (nr_late--)
		late_arrive(late_vm[nr_late], late_fd[nr_late]);
}

/* An OPEN in a page that never arrives. */
static bool stall_open(struct tiny_vm *vm)
{
	struct kvm_regs regs = {
		.rax = KVM_PERF_OP, .rbx = KVM_PERF_OP_OPEN, .rcx = TINY_DATA + TINY_PAGE,
	};
	struct guest_perf_attr attr = {
		.type = KVM_PERF_TYPE_HARDWARE, .size = KVM_PERF_ATTR_SIZE_VER0, .config = 1,
	};
	struct guest_perf_event_param param = {
		.attr_addr = TINY_DATA, .guest_event_addr = AT_LATE,
		.event_size = KVM_PERF_EVENT_SIZE,
	};
	int fd = late_page(vm);

	if (fd < 0)
		return false;
	late_vm[nr_late] = vm;
	late_fd[nr_late++] = fd;
	memcpy(tiny_ptr(vm, TINY_DATA), &attr, sizeof(attr));
	memcpy(tiny_ptr(vm, TINY_DATA + TINY_PAGE), &param, sizeof(param));
	tiny_vcpu_start(&vm->vcpu[0], TINY_CODE_CALL, &regs);
	return late_wanted(fd, 5000);
}

static bool stall(struct tiny_vcpu *v)
{
	return v->index || stall_open(v->vm);
}

/* Somebody of the host looks at the VMs meanwhile. */
static void look(struct tiny_vcpu *v)
{
	char text[4096];
	int fd;

	if (v->index) {
		fd = open("/sys/kernel/debug/pvperf/vms", O_RDONLY);
		while (read(fd, text, sizeof(text)) > 0)
			;
		close(fd);
	}
	usleep(10000);
}

const struct worst worst_stall = {
	.vcpus = 2, .prepare = stall, .act = look, .let_go = let_go,
};

/* The VM of each vCPU that is reset has a call that waits for a page. */
static bool stall_resets(struct tiny_vcpu *v)
{
	static struct tiny_vm herd[HERD];
	int i, k;

	for (i = 0; i < HERD; i++) {
		if (tiny_vm_create(&herd[i], TINY_VCPUS))
			return false;
		for (k = 1; k < TINY_VCPUS; k++)
			tiny_call_here(&herd[i].vcpu[k], KVM_PERF_OP_ATTACH,
				  TINY_DATA + (2 + k) * TINY_PAGE, 0);
		if (!stall_open(&herd[i]))
			return false;
		for (k = 1; k < TINY_VCPUS; k++)
			tiny_vcpu_reset(&herd[i].vcpu[k]);
	}
	return true;
}

static void rest(struct tiny_vcpu *v)
{
	usleep(100000);
}

const struct worst worst_stalled_resets = {
	.vcpus = 1, .prepare = stall_resets, .act = rest, .let_go = let_go,
};

/* Pins as many pages as a VM may, and gives them back. */
static void pages(struct tiny_vcpu *v)
{
	open_all(v);
	room_attach(v);
	tiny_call_here(v, KVM_PERF_OP_DETACH, 0, 0);
}

const struct worst worst_pages = { .vcpus = TINY_VCPUS, .prepare = open_all, .act = pages };

/* As many events as there may be, with ids that share no node of the table. */
static bool open_far(struct tiny_vcpu *v)
{
	room_period(v, 0);
	return room_open_many(v, 64, ROOM_KINDS, FAR) == 64;
}

/* One goes and comes back, and one more is refused. */
static void beyond(struct tiny_vcpu *v)
{
	int i;

	for (i = 0; i + 2 < KVM_PERF_BATCH_MAX; i += 3) {
		int32_t id = room_id(v, i, FAR);

		*room_op(v, i) = (struct guest_perf_op){ .op = KVM_PERF_OP_CLOSE, .id = id };
		room_open(v, i + 1, i, id, i % ROOM_KINDS);
		room_open(v, i + 2, i, id + 1, i % ROOM_KINDS);
	}
	room_batch(v, i);
}

const struct worst worst_limits = { .vcpus = TINY_VCPUS, .prepare = open_far, .act = beyond };

/* VMs that make one call, and end. */
static void end(struct tiny_vcpu *v)
{
	struct tiny_vm vm;

	if (tiny_vm_create(&vm, 1))
		return;
	tiny_call_here(&vm.vcpu[0], KVM_PERF_OP_ATTACH, TINY_DATA, 0);
	tiny_vm_destroy(&vm);
}

const struct worst worst_churn = { .vcpus = 4, .act = end };
