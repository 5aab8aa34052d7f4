/* SPDX-License-Identifier: GPL-2.0 */
#ifndef TINY_GUEST_H
#define TINY_GUEST_H

/*
 * A guest without a kernel: a few vCPUs, some memory, a few stubs of code, driven register
 * by register through /dev/kvm. With it a test can make any call of the ABI, also a bad
 * one.
 *
 * The vCPUs run in 64-bit mode at CPL 0, identity-mapped, without interrupts,
 * and with an NMI handler that counts. Each has a thread of its own, which makes all its
 * KVM_RUNs unless a test makes them itself.
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

/* The result of a run that ended in an unexpected way. */
#define TINY_BROKEN	INT64_MIN

/* What the guest's code and the test share; one for each vCPU. */
struct tiny_cpu {
	uint64_t nmis;		/* that the handler saw */
	uint64_t take;		/* address of an event; the handler takes its */
	uint64_t taken;		/* overflows, which are added here */
	uint64_t stop;		/* ends TINY_CODE_WAIT */
	uint64_t started;	/* set by TINY_CODE_WAIT and _HALT */
	uint64_t log;		/* address of the next delay, see TINY_CODE_CLOCK */
	uint64_t log_end;
};

/* One instruction, and how long it took: TINY_CODE_TIMED_*. */
struct tiny_timed {
	uint64_t rax;		/* values before it; rax is also the result */
	uint64_t rbx, rcx, rdx, rsi;
	uint64_t ticks;		/* of the TSC, including a few instructions around it */
};

enum tiny_code {
	TINY_CODE_CALL,		/* one hypercall */
	TINY_CODE_CALL_USER,	/* the same, at CPL 3 */
	TINY_CODE_CPUID,
	TINY_CODE_SPIN,		/* 2 instructions, rcx times */
	TINY_CODE_SPIN_USER,	/* the same, at CPL 3 */
	TINY_CODE_BRANCHES_USER,	/* tiny_branches(), rcx times, at CPL 3 */
	TINY_CODE_WAIT,		/* until tiny_cpu.stop */
	TINY_CODE_HALT,		/* HLT, until something comes */
	/* rdi: address of rcx struct tiny_timed, each of which is run once */
	TINY_CODE_TIMED_CALL,
	TINY_CODE_TIMED_CPUID,
	TINY_CODE_TIMED_OUT,	/* to TINY_PORT, and so to this program */
	TINY_CODE_TIMED_NOP,	/* what timing itself takes */
	TINY_CODE_TIMED_RDMSR,	/* of the MSR in rcx */
	TINY_CODE_TIMED_LOAD,	/* from the address in rsi */
	/*
	 * Reads the TSC all the time, until the log is full. The timed NMI handler logs
	 * how long ago the last reading was, in 32 bits.
	 */
	TINY_CODE_CLOCK,
};

#define TINY_PORT	0x11

/* Instructions in one turn of TINY_CODE_TIMED_*, with the one that is timed. */
#define TINY_TIMED_INSNS	18

/* The branches of a turn of TINY_CODE_BRANCHES_USER, and its instructions. */
#define TINY_BRANCHES	4
#define TINY_BRANCH_INSNS	5
void tiny_branches(struct guest_perf_branch branch[TINY_BRANCHES]);

/* Instructions in one turn of TINY_CODE_SPIN. */
#define TINY_SPIN_INSNS	2
/* At most so many more instructions run around the loop, or around a call. */
#define TINY_AROUND	16

struct tiny_vm;

struct tiny_vcpu {
	struct tiny_vm *vm;
	int index;
	int fd;
	struct kvm_run *run;
	struct tiny_cpu *cpu;

	pthread_t thread;
	volatile pthread_t runner;	/* makes the KVM_RUN, if there is one */
	sem_t go, done;
	bool quit;
	volatile bool give_up;	/* the next kick ends what runs */
	struct kvm_regs regs;
	int64_t result;
};

struct tiny_vm {
	int kvm, fd;
	int vcpus;
	int run_size;
	uint8_t *mem, *rom;
	bool quiet;		/* of a stub that does not end as it should */
	struct tiny_vcpu vcpu[TINY_VCPUS];
};

/* 0 or -errno; after an error there is nothing to destroy. */
int tiny_vm_create(struct tiny_vm *vm, int vcpus);
/* With the APICs in KVM: there a HLT waits in KVM. */
int tiny_vm_create_apics(struct tiny_vm *vm, int vcpus);
/* Has KVM put @mem at @gpa, or end the slot if @size is 0. 0 or -errno. */
int tiny_slot_set(struct tiny_vm *vm, int slot, uint64_t gpa, uint64_t size, void *mem, uint32_t flags);
/* Install the NMI handler that logs how late each NMI is. */
void tiny_vm_time_nmis(struct tiny_vm *vm);
/* Closes everything; no vCPU may be running. */
void tiny_vm_destroy(struct tiny_vm *vm);

static inline void *tiny_ptr(struct tiny_vm *vm, uint64_t gpa)
{
	return gpa >= TINY_ROM ? vm->rom + (gpa - TINY_ROM) : vm->mem + gpa;
}

/*
 * Run a stub to its end, with @regs before and after it: in the vCPU's thread, by start
 * and wait or by exec; or in the caller's thread, by exec_here.
 */
void tiny_vcpu_start(struct tiny_vcpu *v, enum tiny_code code,
		     const struct kvm_regs *regs);
int64_t tiny_vcpu_wait(struct tiny_vcpu *v, struct kvm_regs *regs);
/* The stub has ended, so tiny_vcpu_wait() returns at once. */
bool tiny_vcpu_ended(struct tiny_vcpu *v);
/* Makes the thread leave KVM_RUN, also out of a HLT, and enter it again. */
void tiny_vcpu_kick(struct tiny_vcpu *v);
int64_t tiny_vcpu_exec(struct tiny_vcpu *v, enum tiny_code code,
		       struct kvm_regs *regs);
int64_t tiny_vcpu_exec_here(struct tiny_vcpu *v, enum tiny_code code,
			    struct kvm_regs *regs);

/* KVM_PERF_OP; returns RAX as a signed number. */
int64_t tiny_call(struct tiny_vcpu *v, uint32_t op, uint32_t a, uint32_t b,
		  uint32_t c);
int64_t tiny_call_user(struct tiny_vcpu *v, uint32_t op, uint32_t a, uint32_t b,
		       uint32_t c);
/* The same with an address as the first argument; _here: in the caller's thread. */
int64_t tiny_call_gpa(struct tiny_vcpu *v, uint32_t op, uint64_t gpa, uint32_t c);
int64_t tiny_call_here(struct tiny_vcpu *v, uint32_t op, uint64_t gpa, uint32_t c);
int64_t tiny_spin(struct tiny_vcpu *v, uint64_t turns);
int64_t tiny_spin_user(struct tiny_vcpu *v, uint64_t turns);
int64_t tiny_cpuid(struct tiny_vcpu *v, uint32_t leaf, uint32_t out[4]);

/* KVM takes the vCPU's hypercalls for Hyper-V's, as Windows makes them, if @id is not 0; or -errno. */
int tiny_vcpu_hyperv(struct tiny_vcpu *v, uint64_t id);

/* Put a vCPU in a mode; reset is the state after a machine's reset. */
void tiny_vcpu_mode64(struct tiny_vcpu *v);
void tiny_vcpu_mode32(struct tiny_vcpu *v);
void tiny_vcpu_reset(struct tiny_vcpu *v);
/* As a machine's reset, but for the registers that KVM_SET_REGS writes. */
void tiny_vcpu_real(struct tiny_vcpu *v);
/* The vCPU runs a guest of the guest's, until mode64 or mode32; on AMD, else -errno. */
int tiny_vcpu_nested(struct tiny_vcpu *v);

/* What the host module has for all VMs. */
struct tiny_totals {
	long vms, vcpus, events, pages;
};

/* 0 or -errno. */
int tiny_totals_read(struct tiny_totals *t);
/* Waits up to some seconds for the totals to be @want; true if they are. */
bool tiny_totals_wait(const struct tiny_totals *want);

/* Opens @path with @flags besides O_WRONLY. */
int tiny_text_write(const char *path, int flags, const char *text);
/* The host's module: its file, and 0 or -errno. */
const char *tiny_module_path(void);
int tiny_module_load(const char *parameters);
int tiny_module_unload(int flags);
/* This thread, and those that it creates from now on. */
int tiny_stay_on(int cpu);

/* Has a process with this one's memory do @f, which ends it; returns its status as wait() does, or -1. */
int tiny_in_other_process(int (*f)(void *arg), void *arg);
/* @how: "1" or "0" */
int tiny_online_write(int cpu, const char *how);
/*
 * Interrupts that a CPU has had, by their name in /proc/interrupts: "CAL:", by which text is patched,
 * too, or "LOC:", the timer; -1: unknown.
 */
long tiny_interrupts_of(int cpu, const char *kind);
/* A module parameter of pvperf_host; 0 or -errno. */
int tiny_param_read(const char *name, char *value, size_t size);
int tiny_param_write(const char *name, const char *value);
/* The list of rules, replaced or read with its comments; 0 or -errno. */
int tiny_rules_write(const char *rules);
int tiny_rules_append(const char *rules);
int tiny_rules_read(char *rules, size_t size);

#endif /* TINY_GUEST_H */
