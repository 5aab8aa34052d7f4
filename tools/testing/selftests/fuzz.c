// SPDX-License-Identifier: GPL-2.0
/*
 * fuzz [SEED [CALLS]]: a guest, its VMM, which is an ordinary user, and the admin do anything at
 * random, round after round. A VMM ends or is killed; then nothing of its VM may be left. Four pages
 * that no call names are looked at if the VMM was not killed; what is written elsewhere, as to pages
 * that were taken out of a slot, is for the kernel to say (make check-debug). The seed is printed, and gives the same run under -icount.
 */
#include "fuzz.h"
#include "tiny_test.h"
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

struct actor {
	struct fuzz_vm *f;
	struct tiny_vcpu *v;		/* NULL: the VMM */
	pthread_t thread;
};

static void *acts(void *arg)
{
	struct actor *a = arg;

	chance_seed(a->f->round->seed * 16 + (a->v ? a->v->index : FUZZ_VCPUS));
	if (a->v)
		fuzz_guest(a->f, a->v, a->f->round->calls);
	else
		fuzz_vmm(a->f);
	return NULL;
}

static bool is_whole(struct fuzz_vm *f)
{
	const uint8_t *canary = tiny_ptr(&f->vm, AT_CANARY);
	size_t i;

	for (i = 0; i < CANARY_SIZE; i++)
		if (canary[i] != CANARY)
			return false;
	return true;
}

/* It may not ask the kernel to wait for it; root has. */
static int faults_open(void)
{
	struct uffdio_api api = { .api = UFFD_API };
	int fd = syscall(SYS_userfaultfd, O_CLOEXEC | O_NONBLOCK);

	if (fd >= 0)
		ioctl(fd, UFFDIO_API, &api);
	return fd;
}

static int calls_once(void *arg)
{
	tiny_call_here(arg, KVM_PERF_OP_RESET, 0, 0);
	_exit(0);
}

/* The VM's first call is that of a process that has the VMM's memory, and ends. */
static void first_caller_ends(struct fuzz_vm *f)
{
	tiny_in_other_process(calls_once, &f->vm.vcpu[0]);
}

/* In any order, and some never: then they end with the process. */
static void closes(struct fuzz_vm *f)
{
	int n;

	for (n = below(2 * FUZZ_VCPUS); n; n--) {
		close(below(3) ? f->vm.vcpu[below(FUZZ_VCPUS)].fd : f->vm.fd);
		usleep(below(2000));
	}
}

/* Ends with the process, so that KVM mostly finds all of it still there. */
static void vmm(struct fuzz_round *round)
{
	static struct fuzz_vm f;
	struct actor actor[FUZZ_VCPUS + 1];
	int i;

	f.round = round;
	f.faults = faults_open();
	if (setgid(FUZZ_USER) || setuid(FUZZ_USER) || !fuzz_vm_create(&f) || !fuzz_slot_add(&f)) {
		printf("# an ordinary user has no VM\n");
		round->broken = true;
		return;
	}
	memset(tiny_ptr(&f.vm, AT_CANARY), CANARY, CANARY_SIZE);
	if (!below(8))
		first_caller_ends(&f);
	for (i = FUZZ_VCPUS; i >= 0; i--) {
		actor[i] = (struct actor){ .f = &f, .v = i < FUZZ_VCPUS ? &f.vm.vcpu[i] : NULL };
		pthread_create(&actor[i].thread, NULL, acts, &actor[i]);
	}
	for (i = 0; i < FUZZ_VCPUS; i++)
		pthread_join(actor[i].thread, NULL);
	f.stop = true;
	pthread_join(actor[FUZZ_VCPUS].thread, NULL);
	if (!is_whole(&f)) {
		printf("# the host has written where nobody asked for it\n");
		round->broken = true;
	}
	closes(&f);
}

/* The admin acts until the VMM has ended, or kills it after @steps. */
static bool watch(struct fuzz_round *round, pid_t pid, int steps)
{
	bool killed = false;
	int status;

	while (!waitpid(pid, &status, WNOHANG)) {
		fuzz_admin(round, pid);
		usleep(below(4000));
		if (!steps--)
			killed = !kill(pid, SIGKILL);
	}
	round->signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
	return !status || (killed && round->signal == SIGKILL);
}

/* The totals are those of VMs that are there; one that has ended may still have something. */
static bool all_freed(void)
{
	char text[512];
	int fd, tries;
	ssize_t n;

	for (tries = 0; tries < 100; tries++, usleep(100000)) {
		fd = open("/sys/kernel/debug/pvperf/totals", O_RDONLY | O_CLOEXEC);
		n = read(fd, text, sizeof(text) - 1);
		close(fd);
		text[n < 0 ? 0 : n] = '\0';
		if (strstr(text, "\nunfreed 0\n"))
			return true;
	}
	return false;
}

static void round_run(struct fuzz_round *round, const struct tiny_totals *none)
{
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (!pid) {
		vmm(round);
		fflush(stdout);
		_exit(0);
	}
	chance_seed(round->seed * 16 + FUZZ_VCPUS + 1);
	if (!watch(round, pid, below(3) ? -1 : below(40))) {
		printf("# the VMM has failed, or died of signal %d\n", round->signal);
		round->broken = true;
	}
	fuzz_admin_restore();
	round->broken |= fuzz_admin_failed;
	if (!tiny_totals_wait(none) || !all_freed()) {
		printf("# events, pages or VMs are left\n");
		round->broken = true;
	}
}

/* After all that the module does what it is for, once no VM has the host alone any more. */
static bool counts(void)
{
	struct tiny_vm vm;
	bool right;

	if (tiny_vm_create(&vm, 1))
		return false;
	measured_choose(&vm.vcpu[0]);
	right = opens_soon(&vm.vcpu[0], 0) && !id_call(&vm.vcpu[0], KVM_PERF_OP_ENABLE, 0) &&
		tiny_spin(&vm.vcpu[0], 100000) != TINY_BROKEN &&
		!id_call(&vm.vcpu[0], KVM_PERF_OP_DISABLE, 0) && counted(event_at(&vm, 0)->count, 100000);
	tiny_vm_destroy(&vm);
	return right;
}

int main(int argc, char **argv)
{
	uint64_t seed = argc > 1 ? strtoull(argv[1], NULL, 0) : 1;
	long calls = argc > 2 ? strtol(argv[2], NULL, 0) : 2000;
	const struct tiny_totals none = { 0 };
	struct fuzz_round *round;
	bool after;
	int rounds;

	round = mmap(NULL, sizeof(*round), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	setvbuf(stdout, NULL, _IOLBF, 0);	/* a VMM may be killed */
	printf("TAP version 13\n1..2\n");
	for (rounds = 0; round->done < calls && !round->broken; rounds++) {
		round->seed = seed * 100000 + rounds;
		chance_seed(round->seed);
		round->calls = 20 + below(400);
		round_run(round, &none);
	}
	/* Else it has tested refusals. */
	if (round->opened < round->done / 200) {
		printf("# hardly an OPEN was taken\n");
		round->broken = true;
	}
	printf("%sok 1 - %ld things done, %ld of them opened events, in %d VMs, seed %llu\n",
	       round->broken ? "not " : "", round->done, round->opened, rounds, (unsigned long long)seed);
	after = counts();
	printf("%sok 2 - a VM counts right after that\n", after ? "" : "not ");
	return round->broken || !after;
}
