// SPDX-License-Identifier: GPL-2.0
/* A guest without a kernel, see tiny_guest.h: its VM and its vCPUs. */
#include "tiny_private.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

static int64_t run_to_end(struct tiny_vcpu *v)
{
	for (;;) {
		if (ioctl(v->fd, KVM_RUN, 0) < 0) {
			if ((errno == EINTR && !v->give_up) || errno == EAGAIN)
				continue;
			if (errno == EINTR)
				v->give_up = false;
			else if (!v->vm->quiet)
				fprintf(stderr, "# vcpu %d: KVM_RUN: %s\n",
					v->index, strerror(errno));
			return TINY_BROKEN;
		}
		if (v->run->exit_reason == KVM_EXIT_IO) {
			if (v->run->io.port == PORT_END)
				return 0;
			continue;
		}
		if (v->run->exit_reason == KVM_EXIT_MMIO)	/* of TINY_HOLE; reads 0 */
			continue;
		ioctl(v->fd, KVM_GET_REGS, &v->regs);
		if (!v->vm->quiet)
			fprintf(stderr, "# vcpu %d: exit %d at %#llx\n", v->index,
				v->run->exit_reason, v->regs.rip);
		return TINY_BROKEN;
	}
}

static void regs_run(struct tiny_vcpu *v)
{
	v->result = TINY_BROKEN;
	if (ioctl(v->fd, KVM_SET_REGS, &v->regs))
		return;
	v->runner = pthread_self();
	v->result = run_to_end(v);
	v->runner = v->thread;
	if (ioctl(v->fd, KVM_GET_REGS, &v->regs))
		v->result = TINY_BROKEN;
}

/*
 * The process of a VM usually has no rights. Here the threads of vCPUs have none, and what
 * starts the program, which also reads debugfs, is root.
 */
static void rights_drop(void)
{
	const uid_t nobody = 65534;

	/* libc's functions would change all threads */
	if (syscall(SYS_setresgid, nobody, nobody, nobody) ||
	    syscall(SYS_setresuid, nobody, nobody, nobody))
		abort();
}

static void *vcpu_thread(void *arg)
{
	struct tiny_vcpu *v = arg;

	rights_drop();
	for (;;) {
		while (sem_wait(&v->go))
			;
		if (v->quit)
			return NULL;
		regs_run(v);
		sem_post(&v->done);
	}
}

void tiny_vcpu_start(struct tiny_vcpu *v, enum tiny_code code,
		     const struct kvm_regs *regs)
{
	tiny_regs_prepare(v, code, regs);
	sem_post(&v->go);
}

int64_t tiny_vcpu_wait(struct tiny_vcpu *v, struct kvm_regs *regs)
{
	while (sem_wait(&v->done))
		;
	*regs = v->regs;
	return v->result;
}

bool tiny_vcpu_ended(struct tiny_vcpu *v)
{
	int n = 0;

	sem_getvalue(&v->done, &n);
	return n;
}

static void kicked(int unused)
{
}

void tiny_vcpu_kick(struct tiny_vcpu *v)
{
	/* without SA_RESTART, so that KVM_RUN ends with EINTR */
	const struct sigaction action = { .sa_handler = kicked };

	sigaction(SIGUSR1, &action, NULL);
	pthread_kill(v->runner, SIGUSR1);
}

int64_t tiny_vcpu_exec(struct tiny_vcpu *v, enum tiny_code code,
		       struct kvm_regs *regs)
{
	tiny_vcpu_start(v, code, regs);
	return tiny_vcpu_wait(v, regs);
}

int64_t tiny_vcpu_exec_here(struct tiny_vcpu *v, enum tiny_code code,
			    struct kvm_regs *regs)
{
	tiny_regs_prepare(v, code, regs);
	regs_run(v);
	*regs = v->regs;
	return v->result;
}

static int64_t call(struct tiny_vcpu *v, enum tiny_code code, uint32_t op,
		    uint32_t a, uint32_t b, uint32_t c)
{
	struct kvm_regs r = {
		.rax = KVM_PERF_OP, .rbx = op, .rcx = a, .rdx = b, .rsi = c,
	};

	return tiny_vcpu_exec(v, code, &r) ? TINY_BROKEN : (int64_t)r.rax;
}

int64_t tiny_call(struct tiny_vcpu *v, uint32_t op, uint32_t a, uint32_t b,
		  uint32_t c)
{
	return call(v, TINY_CODE_CALL, op, a, b, c);
}

int64_t tiny_call_user(struct tiny_vcpu *v, uint32_t op, uint32_t a, uint32_t b,
		       uint32_t c)
{
	return call(v, TINY_CODE_CALL_USER, op, a, b, c);
}

int64_t tiny_call_gpa(struct tiny_vcpu *v, uint32_t op, uint64_t gpa, uint32_t c)
{
	return tiny_call(v, op, gpa, gpa >> 32, c);
}

int64_t tiny_call_here(struct tiny_vcpu *v, uint32_t op, uint64_t gpa, uint32_t c)
{
	struct kvm_regs r = {
		.rax = KVM_PERF_OP, .rbx = op, .rcx = (uint32_t)gpa, .rdx = gpa >> 32, .rsi = c,
	};

	return tiny_vcpu_exec_here(v, TINY_CODE_CALL, &r) ? TINY_BROKEN : (int64_t)r.rax;
}

int64_t tiny_spin(struct tiny_vcpu *v, uint64_t turns)
{
	struct kvm_regs r = { .rcx = turns };

	return tiny_vcpu_exec(v, TINY_CODE_SPIN, &r);
}

int64_t tiny_spin_user(struct tiny_vcpu *v, uint64_t turns)
{
	struct kvm_regs r = { .rcx = turns };

	return tiny_vcpu_exec(v, TINY_CODE_SPIN_USER, &r);
}

int64_t tiny_cpuid(struct tiny_vcpu *v, uint32_t leaf, uint32_t out[4])
{
	struct kvm_regs r = { .rax = leaf };

	if (tiny_vcpu_exec(v, TINY_CODE_CPUID, &r))
		return TINY_BROKEN;
	out[0] = r.rax;
	out[1] = r.rbx;
	out[2] = r.rcx;
	out[3] = r.rdx;
	return 0;
}

int tiny_slot_set(struct tiny_vm *vm, int slot, uint64_t gpa, uint64_t size, void *mem, uint32_t flags)
{
	struct kvm_userspace_memory_region region = {
		.slot = slot, .flags = flags, .guest_phys_addr = gpa,
		.memory_size = size, .userspace_addr = (uintptr_t)mem,
	};

	return ioctl(vm->fd, KVM_SET_USER_MEMORY_REGION, &region) ? -errno : 0;
}

static int cpuid_set(struct tiny_vm *vm, struct tiny_vcpu *v, bool hyperv)
{
	enum { ENTRIES = 256 };
	struct kvm_cpuid2 *cpuid;
	unsigned int i;
	int err = 0;

	cpuid = calloc(1, sizeof(*cpuid) + ENTRIES * sizeof(cpuid->entries[0]));
	if (!cpuid)
		return -ENOMEM;
	cpuid->nent = ENTRIES;
	if (ioctl(vm->kvm, KVM_GET_SUPPORTED_CPUID, cpuid))
		cpuid->nent = 0;
	for (i = 0; hyperv && i < cpuid->nent; i++)
		if (cpuid->entries[i].function == 0x40000001)
			cpuid->entries[i].eax = 0x31237648;	/* "Hv#1" */
	if (!cpuid->nent || ioctl(v->fd, KVM_SET_CPUID2, cpuid))
		err = -errno;
	free(cpuid);
	return err;
}

#define HV_X64_MSR_GUEST_OS_ID	0x40000000

int tiny_vcpu_hyperv(struct tiny_vcpu *v, uint64_t id)
{
	struct {
		struct kvm_msrs head;
		struct kvm_msr_entry id;
	} msrs = { { .nmsrs = 1 }, { .index = HV_X64_MSR_GUEST_OS_ID, .data = id } };

	/* A vCPU that has run keeps what it has: an error then is none. */
	cpuid_set(v->vm, v, true);
	return ioctl(v->fd, KVM_SET_MSRS, &msrs) == 1 ? 0 : -EINVAL;
}

static int vcpu_create(struct tiny_vm *vm, int index, bool apics)
{
	const struct kvm_mp_state runnable = { .mp_state = KVM_MP_STATE_RUNNABLE };
	struct tiny_vcpu *v = &vm->vcpu[index];
	int err;

	v->vm = vm;
	v->index = index;
	v->cpu = tiny_ptr(vm, GPA_CPU(index));
	v->fd = ioctl(vm->fd, KVM_CREATE_VCPU, (long)index);
	if (v->fd < 0)
		return -errno;
	v->run = mmap(NULL, vm->run_size, PROT_READ | PROT_WRITE, MAP_SHARED,
		      v->fd, 0);
	if (v->run == MAP_FAILED) {
		err = -errno;
		v->run = NULL;
		return err;
	}
	err = cpuid_set(vm, v, false);
	if (err)
		return err;
	/* Else it waits for the first one's INIT. */
	if (apics && ioctl(v->fd, KVM_SET_MP_STATE, &runnable))
		return -errno;
	tiny_vcpu_mode64(v);
	sem_init(&v->go, 0, 0);
	sem_init(&v->done, 0, 0);
	err = -pthread_create(&v->thread, NULL, vcpu_thread, v);
	v->runner = v->thread;
	if (!err)
		vm->vcpus++;
	return err;
}

static int vm_create(struct tiny_vm *vm, int vcpus, bool apics)
{
	const int prot = PROT_READ | PROT_WRITE;
	const int flags = MAP_PRIVATE | MAP_ANONYMOUS;
	int i, err;

	memset(vm, 0, sizeof(*vm));
	vm->fd = -1;
	for (i = 0; i < TINY_VCPUS; i++)
		vm->vcpu[i].fd = -1;
	vm->mem = mmap(NULL, TINY_MEM, prot, flags, -1, 0);
	vm->rom = mmap(NULL, TINY_ROM_SIZE, prot, flags, -1, 0);
	vm->kvm = open("/dev/kvm", O_RDWR | O_CLOEXEC);
	if (vm->kvm < 0)
		goto fail;
	vm->run_size = ioctl(vm->kvm, KVM_GET_VCPU_MMAP_SIZE, 0);
	vm->fd = ioctl(vm->kvm, KVM_CREATE_VM, 0l);
	if (vm->fd < 0)
		goto fail;
	/* KVM on Intel wants this before the vCPUs; on AMD it does nothing. */
	ioctl(vm->fd, KVM_SET_TSS_ADDR, 0xfffbd000l);
	if (apics && ioctl(vm->fd, KVM_CREATE_IRQCHIP, 0l))
		goto fail;

	tiny_memory_fill(vm);
	err = tiny_slot_set(vm, 0, 0, TINY_MEM, vm->mem, 0);
	if (!err)
		err = tiny_slot_set(vm, 1, TINY_ROM, TINY_ROM_SIZE, vm->rom, KVM_MEM_READONLY);
	for (i = 0; i < vcpus && !err; i++)
		err = vcpu_create(vm, i, apics);
	if (err) {
		errno = -err;
		goto fail;
	}
	return 0;

fail:
	err = -errno;
	tiny_vm_destroy(vm);
	return err;
}

int tiny_vm_create(struct tiny_vm *vm, int vcpus)
{
	return vm_create(vm, vcpus, false);
}

int tiny_vm_create_apics(struct tiny_vm *vm, int vcpus)
{
	return vm_create(vm, vcpus, true);
}

void tiny_vm_destroy(struct tiny_vm *vm)
{
	int i;

	for (i = 0; i < TINY_VCPUS; i++) {
		struct tiny_vcpu *v = &vm->vcpu[i];

		if (i < vm->vcpus) {
			v->quit = true;
			sem_post(&v->go);
			pthread_join(v->thread, NULL);
		}
		if (v->run)
			munmap(v->run, vm->run_size);
		if (v->fd >= 0)
			close(v->fd);
	}
	if (vm->fd >= 0)
		close(vm->fd);
	if (vm->kvm >= 0)
		close(vm->kvm);
	munmap(vm->mem, TINY_MEM);
	munmap(vm->rom, TINY_ROM_SIZE);
	memset(vm, 0, sizeof(*vm));
}
