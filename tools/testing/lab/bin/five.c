// SPDX-License-Identifier: GPL-2.0
/*
 * five loop|syscalls|faults|switches|ipis: five ways to spend time, each with as
 * many user instructions wherever it runs. No library, as a library's start-up
 * differs from CPU to CPU.
 */
#include <asm/unistd.h>

#define LOOPS		10000000
#define SYSCALLS	20000
#define PAGES		4000
#define SWITCHES	2000
#define IPIS		2000

#define PROT_RW		3
#define MAP_PRIVATE_ANON 0x22
#define CLONE_VM	0x100
#define CLONE_THREAD	0x50000		/* THREAD and SYSVSEM */
#define CLONE_SHARE	0xe00		/* FS, FILES, SIGHAND */
#define SIGCHLD		17
#define MEMBARRIER_EXPEDITED	(1 << 3)
#define MEMBARRIER_REGISTER	(1 << 4)

static long call(long nr, long a, long b, long c, long d, long e, long f)
{
	register long r10 asm("r10") = d, r8 asm("r8") = e, r9 asm("r9") = f;
	long ret;

	asm volatile("syscall" : "=a" (ret)
		     : "a" (nr), "D" (a), "S" (b), "d" (c), "r" (r10), "r" (r8), "r" (r9)
		     : "rcx", "r11", "memory");
	return ret;
}

static void loop(void)
{
	unsigned long n = LOOPS;

	asm volatile("1: dec %0\n\tjnz 1b" : "+r" (n) : : "cc");
}

static void syscalls(void)
{
	for (int i = 0; i < SYSCALLS; i++)
		call(__NR_getppid, 0, 0, 0, 0, 0, 0);
}

static void faults(void)
{
	volatile char *p = (char *)call(__NR_mmap, 0, PAGES * 4096L, PROT_RW,
					MAP_PRIVATE_ANON, -1, 0);

	for (long i = 0; i < PAGES; i++)
		p[i * 4096] = 1;
}

/* A byte goes to and fro between two processes. */
static void switches(void)
{
	int there[2], back[2];
	char byte = 0;
	long child;

	call(__NR_pipe2, (long)there, 0, 0, 0, 0, 0);
	call(__NR_pipe2, (long)back, 0, 0, 0, 0, 0);
	child = call(__NR_clone, SIGCHLD, 0, 0, 0, 0, 0);
	for (int i = 0; i < SWITCHES; i++) {
		if (!child) {
			call(__NR_read, there[0], (long)&byte, 1, 0, 0, 0);
			call(__NR_write, back[1], (long)&byte, 1, 0, 0, 0);
		} else {
			call(__NR_write, there[1], (long)&byte, 1, 0, 0, 0);
			call(__NR_read, back[0], (long)&byte, 1, 0, 0, 0);
		}
	}
	if (child)
		call(__NR_wait4, child, 0, 0, 0, 0, 0);
}

static char stack[4096] __attribute__((aligned(16)));

/* A thread that only spins, elsewhere. */
static void spinner_start(void)
{
	register long r10 asm("r10") = 0, r8 asm("r8") = 0;
	long ret;

	asm volatile("syscall\n\t"
		     "test %%rax, %%rax\n\t"
		     "jnz 1f\n"
		     "2:\tpause\n\t"
		     "jmp 2b\n"
		     "1:"
		     : "=a" (ret)
		     : "a" (__NR_clone), "D" (CLONE_VM | CLONE_SHARE | CLONE_THREAD),
		       "S" (stack + sizeof(stack)), "d" (0), "r" (r10), "r" (r8)
		     : "rcx", "r11", "memory");
}

/* Each makes the other's CPU take an interrupt. */
static void ipis(void)
{
	call(__NR_membarrier, MEMBARRIER_REGISTER, 0, 0, 0, 0, 0);
	spinner_start();
	for (int i = 0; i < IPIS; i++)
		call(__NR_membarrier, MEMBARRIER_EXPEDITED, 0, 0, 0, 0, 0);
}

__attribute__((used)) static void five(long *sp)
{
	const char *how = sp[0] > 1 ? (const char *)sp[2] : "";

	if (how[0] == 'l')
		loop();
	else if (how[0] == 's' && how[1] == 'y')
		syscalls();
	else if (how[0] == 'f')
		faults();
	else if (how[0] == 's')
		switches();
	else if (how[0] == 'i')
		ipis();
	call(__NR_exit_group, !how[0], 0, 0, 0, 0, 0);
}

asm(".globl _start\n_start:\n\tmov %rsp, %rdi\n\tand $-16, %rsp\n\tcall five\n");
