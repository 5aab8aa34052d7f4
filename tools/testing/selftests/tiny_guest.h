/* SPDX-License-Identifier: GPL-2.0 */
#ifndef TINY_GUEST_H
#define TINY_GUEST_H

/*
 * A guest without a kernel: a few vCPUs, some memory, a few stubs of code,
 * driven register by register through /dev/kvm. It is what a test needs to make
 * each call of the ABI exactly as it likes, badly too.
 *
 * The vCPUs run in 64-bit mode at CPL 0, identity-mapped, without interrupts,
 * and with an NMI handler that counts. Each has a thread of its own, which
 * makes all its KVM_RUNs unless a test says otherwise.
 */

#include <linux/kvm.h>
#include <linux/kvm_pvperf.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TINY_VCPUS	8
#define TINY_PAGE	0x1000ull

/* Guest-physical addresses. */
#define TINY_DATA	0x10000ull	/* the test's, up to TINY_MEM */
#define TINY_MEM	0x100000ull	/* end of what can be written */
#define TINY_ROM	0x100000ull	/* two pages that can only be read */
#define TINY_ROM_SIZE	0x2000ull
#define TINY_HOLE	0x180000ull	/* nothing here */

#define TINY_DATA_SIZE	(TINY_MEM - TINY_DATA)

/* What a run gives that did not end as it should. */
#define TINY_BROKEN	INT64_MIN

/* What the guest's code and the test share, for each vCPU. */
struct tiny_cpu {
	uint64_t nmis;		/* that the handler saw */
	uint64_t take;		/* address of an event; the handler takes its */
	uint64_t taken;		/* overflows, and adds them here */
	uint64_t stop;		/* ends TINY_CODE_WAIT */
	uint64_t started;	/* set by TINY_CODE_WAIT and _HALT */
	uint64_t log;		/* address of the next delay, see TINY_CODE_CLOCK */
	uint64_t log_end;
};

/* One instruction, and how long it took: TINY_CODE_TIMED_*. */
struct tiny_timed {
	uint64_t rax;		/* these go in; rax comes back */
	uint64_t rbx, rcx, rdx, rsi;
	uint64_t ticks;		/* of the TSC, with those of a few instructions */
};

enum tiny_code {
	TINY_CODE_CALL,		/* one hypercall */
	TINY_CODE_CALL_USER,	/* the same, at CPL 3 */
	TINY_CODE_CPUID,
	TINY_CODE_SPIN,		/* 2 instructions, rcx times */
	TINY_CODE_SPIN_USER,	/* the same, at CPL 3 */
	TINY_CODE_WAIT,		/* until tiny_cpu.stop */
	TINY_CODE_HALT,		/* HLT, until something comes */
	/* rdi: address of rcx struct tiny_timed, of which each is done once */
	TINY_CODE_TIMED_CALL,
	TINY_CODE_TIMED_CPUID,
	TINY_CODE_TIMED_OUT,	/* to TINY_PORT, and so to this program */
	TINY_CODE_TIMED_NOP,	/* what timing takes itself */
	/*
	 * Reads the TSC all the time, until the log is full: the timed NMI handler
	 * puts there how long ago that was, 32 bits each.
	 */
	TINY_CODE_CLOCK,
};

#define TINY_PORT	0x11

/* Instructions in one turn of TINY_CODE_SPIN. */
#define TINY_SPIN_INSNS	2
/* At most so many more are run around it, and around a call. */
#define TINY_AROUND	16

struct tiny_vm;

struct tiny_vcpu {
	struct tiny_vm *vm;
	int index;
	int fd;
	struct kvm_run *run;
	struct tiny_cpu *cpu;

	pthread_t thread;
	sem_t go, done;
	bool quit;
	volatile bool give_up;	/* what runs ends at the next kick */
	struct kvm_regs regs;
	int64_t result;
};

struct tiny_vm {
	int kvm, fd;
	int vcpus;
	int run_size;
	uint8_t *mem, *rom;
	struct tiny_vcpu vcpu[TINY_VCPUS];
};

/* 0 or -errno; after an error there is nothing to destroy. */
int tiny_vm_create(struct tiny_vm *vm, int vcpus);
/* One vCPU, and KVM has its APIC: it is KVM where a HLT waits. */
int tiny_vm_create_apics(struct tiny_vm *vm);
/* From now on its NMIs only find out how late they are. */
void tiny_vm_time_nmis(struct tiny_vm *vm);
/* Closes everything; no vCPU may be running. */
void tiny_vm_destroy(struct tiny_vm *vm);

static inline void *tiny_ptr(struct tiny_vm *vm, uint64_t gpa)
{
	return gpa >= TINY_ROM ? vm->rom + (gpa - TINY_ROM) : vm->mem + gpa;
}

/*
 * Runs a stub until its end; regs goes in and comes back. By the vCPU's thread,
 * with start and wait apart or in one; or by the caller's own.
 */
void tiny_vcpu_start(struct tiny_vcpu *v, enum tiny_code code,
		     const struct kvm_regs *regs);
int64_t tiny_vcpu_wait(struct tiny_vcpu *v, struct kvm_regs *regs);
/* It has ended, so that the wait will be none. */
bool tiny_vcpu_ended(struct tiny_vcpu *v);
/* Out of the guest, or out of its sleep in the kernel, and in again. */
void tiny_vcpu_kick(struct tiny_vcpu *v);
int64_t tiny_vcpu_exec(struct tiny_vcpu *v, enum tiny_code code,
		       struct kvm_regs *regs);
int64_t tiny_vcpu_exec_here(struct tiny_vcpu *v, enum tiny_code code,
			    struct kvm_regs *regs);

/* KVM_PERF_OP; what is in RAX afterwards, as a signed number. */
int64_t tiny_call(struct tiny_vcpu *v, uint32_t op, uint32_t a, uint32_t b,
		  uint32_t c);
int64_t tiny_call_user(struct tiny_vcpu *v, uint32_t op, uint32_t a, uint32_t b,
		       uint32_t c);
/* The same with an address as its first argument. */
int64_t tiny_call_gpa(struct tiny_vcpu *v, uint32_t op, uint64_t gpa, uint32_t c);
int64_t tiny_spin(struct tiny_vcpu *v, uint64_t turns);
int64_t tiny_spin_user(struct tiny_vcpu *v, uint64_t turns);
int64_t tiny_cpuid(struct tiny_vcpu *v, uint32_t leaf, uint32_t out[4]);

/* The modes a vCPU can be put in; reset is what a machine's reset leaves. */
void tiny_vcpu_mode64(struct tiny_vcpu *v);
void tiny_vcpu_mode32(struct tiny_vcpu *v);
void tiny_vcpu_reset(struct tiny_vcpu *v);

/* What the host module has in hand, of all VMs. */
struct tiny_totals {
	long vms, vcpus, events, pages;
};

/* 0 or -errno. */
int tiny_totals_read(struct tiny_totals *t);
/* Waits up to some seconds for the totals to be @want; true if they are. */
bool tiny_totals_wait(const struct tiny_totals *want);

/* A module parameter of pvperf_host; 0 or -errno. */
int tiny_param_read(const char *name, char *value, size_t size);
int tiny_param_write(const char *name, const char *value);

#endif /* TINY_GUEST_H */
