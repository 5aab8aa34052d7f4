// SPDX-License-Identifier: GPL-2.0
/* The tiny guest's code, and the memory that it runs in. */
#include "tiny_private.h"

#include <cpuid.h>
#include <string.h>

#define PTE_P		(1ull << 0)
#define PTE_W		(1ull << 1)
#define PTE_U		(1ull << 2)
#define PTE_A		(1ull << 5)
#define PTE_D		(1ull << 6)
#define PTE_LARGE	(1ull << 7)

/*
 * The guest's code. It is copied to GPA_CODE, so it must be position independent. %gs:N
 * are the fields of struct tiny_cpu. The code ends by OUT, because HLT does not end
 * KVM_RUN where KVM has the local APICs.
 */
#define END	"	out %al, $0x10\n"

/* Only @insn, between the two RDTSC, can make the guest exit. */
#define TIMED(name, insn) \
"tiny_code_timed_" name ":\n" \
"	mov %rcx, %r8\n" \
"1:	mov 0(%rdi), %r9\n" \
"	mov 8(%rdi), %rbx\n" \
"	mov 16(%rdi), %rcx\n" \
"	mov 24(%rdi), %r10\n" \
"	mov 32(%rdi), %rsi\n" \
"	rdtsc\n" \
"	mov %eax, %r11d\n" \
"	mov %r9, %rax\n" \
"	mov %r10, %rdx\n" \
"	" insn "\n" \
"	mov %rax, %r9\n" \
"	rdtsc\n" \
"	sub %r11d, %eax\n" \
"	mov %r9, 0(%rdi)\n" \
"	mov %rax, 40(%rdi)\n" \
"	add $48, %rdi\n" \
"	dec %r8\n" \
"	jnz 1b\n" \
END

asm(
"	.pushsection .rodata\n"
"tiny_code_begin:\n"
"tiny_code_vmcall:\n"
"	vmcall\n"
END
"tiny_code_vmmcall:\n"
"	vmmcall\n"
END
"tiny_code_cpuid:\n"
"	cpuid\n"
END
"tiny_code_spin:\n"
"	dec %rcx\n"
"	jnz tiny_code_spin\n"
END
"tiny_code_wait:\n"
"	movq $1, %gs:32\n"
"1:	pause\n"
"	cmpq $0, %gs:24\n"
"	je 1b\n"
END
"tiny_code_halt:\n"
"	movq $1, %gs:32\n"
"	hlt\n"
END
TIMED("vmcall", "vmcall")
TIMED("vmmcall", "vmmcall")
TIMED("cpuid", "cpuid")
TIMED("out", "out %al, $0x11")
TIMED("nop", "nop")
TIMED("rdmsr", "rdmsr")
TIMED("load", "mov (%rsi), %rax")
/* PAUSE: without it Bochs takes no interrupt, as each RDTSC updates its clock. */
"tiny_code_clock:\n"
"	mov %gs:48, %r8\n"
"1:	rdtsc\n"
"	pause\n"
"	cmp %r8, %gs:40\n"
"	jb 1b\n"
END
/* rdi: address to run at CPL 3, r8: stack there; int $0x80 ends it */
"tiny_code_enter_user:\n"
"	pushq $0x23\n"
"	pushq %r8\n"
"	pushq $0x2\n"
"	pushq $0x1b\n"
"	pushq %rdi\n"
"	iretq\n"
"tiny_code_user_vmcall:\n"
"	vmcall\n"
"	int $0x80\n"
"tiny_code_user_vmmcall:\n"
"	vmmcall\n"
"	int $0x80\n"
"tiny_code_user_spin:\n"
"	dec %rcx\n"
"	jnz tiny_code_user_spin\n"
"	int $0x80\n"
/* Four branches in each turn. */
"tiny_code_user_branches:\n"
"	call 2f\n"
"tiny_code_branches_jmp:\n"
"	jmp 3f\n"
"	ud2\n"
"2:\n"
"tiny_code_branches_ret:\n"
"	ret\n"
"3:\n"
"tiny_code_branches_dec:\n"
"	dec %rcx\n"
"tiny_code_branches_jnz:\n"
"	jnz tiny_code_user_branches\n"
"	int $0x80\n"
"tiny_code_leave_user:\n"
END
"tiny_code_nmi:\n"
"	push %rax\n"
"	push %rbx\n"
"	incq %gs:0\n"
"	mov %gs:8, %rbx\n"
"	test %rbx, %rbx\n"
"	jz 1f\n"
"	xor %eax, %eax\n"
"	xchg %eax, 8(%rbx)\n"
"	add %rax, %gs:16\n"
"1:	pop %rbx\n"
"	pop %rax\n"
"	iretq\n"
/* Uses registers that tiny_code_clock does not keep values in. */
"tiny_code_nmi_timed:\n"
"	mov %eax, %r11d\n"
"	rdtsc\n"
"	sub %r11d, %eax\n"
"	mov %gs:40, %r10\n"
"	mov %eax, (%r10)\n"
"	addq $4, %gs:40\n"
"	incq %gs:0\n"
"	rdtsc\n"
"	iretq\n"
"tiny_code_end:\n"
"	.popsection\n"
);

extern const char tiny_code_begin[], tiny_code_end[], tiny_code_vmcall[],
	tiny_code_vmmcall[], tiny_code_cpuid[], tiny_code_spin[],
	tiny_code_wait[], tiny_code_halt[], tiny_code_enter_user[], tiny_code_user_vmcall[],
	tiny_code_user_vmmcall[], tiny_code_user_spin[], tiny_code_leave_user[],
	tiny_code_user_branches[], tiny_code_branches_jmp[], tiny_code_branches_ret[],
	tiny_code_branches_dec[], tiny_code_branches_jnz[],
	tiny_code_nmi[], tiny_code_nmi_timed[], tiny_code_timed_vmcall[],
	tiny_code_timed_vmmcall[], tiny_code_timed_cpuid[], tiny_code_timed_out[],
	tiny_code_timed_nop[], tiny_code_timed_rdmsr[], tiny_code_timed_load[],
	tiny_code_clock[];

_Static_assert(offsetof(struct tiny_cpu, nmis) == 0, "tiny_code_nmi");
_Static_assert(offsetof(struct tiny_cpu, take) == 8, "tiny_code_nmi");
_Static_assert(offsetof(struct tiny_cpu, taken) == 16, "tiny_code_nmi");
_Static_assert(offsetof(struct tiny_cpu, stop) == 24, "tiny_code_wait");
_Static_assert(offsetof(struct tiny_cpu, started) == 32, "tiny_code_wait");
_Static_assert(offsetof(struct tiny_cpu, log) == 40, "tiny_code_clock");
_Static_assert(offsetof(struct tiny_cpu, log_end) == 48, "tiny_code_clock");
_Static_assert(offsetof(struct tiny_timed, rdx) == 24, "TIMED");
_Static_assert(offsetof(struct tiny_timed, ticks) == 40, "TIMED");
_Static_assert(sizeof(struct tiny_timed) == 48, "TIMED");
_Static_assert(TINY_PORT == 0x11, "TIMED");
_Static_assert(PORT_END == 0x10, "END");
_Static_assert(offsetof(struct guest_perf_event, overflows) == 8,
	       "tiny_code_nmi");

static uint64_t code_gpa(const char *label)
{
	return GPA_CODE + (label - tiny_code_begin);
}

static bool cpu_is_amd(void)
{
	unsigned int eax, ebx, ecx, edx;

	/* Hygon's CPUs have VMMCALL as AMD's; all others that run KVM have VMCALL. */
	__cpuid(0, eax, ebx, ecx, edx);
	return !memcmp(&ebx, "Auth", 4) || !memcmp(&ebx, "Hygo", 4);
}

static void put64(struct tiny_vm *vm, uint64_t gpa, uint64_t value)
{
	memcpy(vm->mem + gpa, &value, sizeof(value));
}

static void idt_gate(struct tiny_vm *vm, int vector, int dpl, const char *label)
{
	uint64_t to = code_gpa(label);

	/* present, 64-bit interrupt gate */
	put64(vm, GPA_IDT + vector * 16,
	      (to & 0xffff) | SEL_CODE << 16 | (0x8eull | dpl << 5) << 40 |
	      (to >> 16 & 0xffff) << 48);
	put64(vm, GPA_IDT + vector * 16 + 8, to >> 32);
}

void tiny_vm_time_nmis(struct tiny_vm *vm)
{
	idt_gate(vm, 2, 0, tiny_code_nmi_timed);
}

void tiny_memory_fill(struct tiny_vm *vm)
{
	uint64_t table = PTE_P | PTE_W | PTE_U | PTE_A;
	int i;

	put64(vm, GPA_PML4, GPA_PDPT | table);
	put64(vm, GPA_PDPT, GPA_PD | table);
	put64(vm, GPA_PD, table | PTE_D | PTE_LARGE);

	/* flat, accessed; long mode ignores most of it */
	put64(vm, GPA_GDT + SEL_CODE, 0x00af9b000000ffffull);
	put64(vm, GPA_GDT + SEL_DATA, 0x00cf93000000ffffull);
	put64(vm, GPA_GDT + (SEL_CODE_USER & ~7), 0x00affb000000ffffull);
	put64(vm, GPA_GDT + (SEL_DATA_USER & ~7), 0x00cff3000000ffffull);

	idt_gate(vm, 2, 0, tiny_code_nmi);
	idt_gate(vm, 0x80, 3, tiny_code_leave_user);
	memcpy(vm->mem + GPA_CODE, tiny_code_begin,
	       tiny_code_end - tiny_code_begin);
	for (i = 0; i < TINY_VCPUS; i++)
		put64(vm, GPA_TSS(i) + 4, GPA_STACK(i));	/* rsp0 */
}

void tiny_regs_prepare(struct tiny_vcpu *v, enum tiny_code code,
		       const struct kvm_regs *regs)
{
	static const struct {
		const char *kernel, *amd, *user, *user_amd;	/* amd: where it is not Intel's */
	} code_of[] = {
		[TINY_CODE_CALL] = { tiny_code_vmcall, tiny_code_vmmcall },
		[TINY_CODE_CALL_USER] = { .user = tiny_code_user_vmcall, .user_amd = tiny_code_user_vmmcall },
		[TINY_CODE_CPUID] = { tiny_code_cpuid },
		[TINY_CODE_SPIN] = { tiny_code_spin },
		[TINY_CODE_SPIN_USER] = { .user = tiny_code_user_spin },
		[TINY_CODE_BRANCHES_USER] = { .user = tiny_code_user_branches },
		[TINY_CODE_WAIT] = { tiny_code_wait },
		[TINY_CODE_HALT] = { tiny_code_halt },
		[TINY_CODE_TIMED_CALL] = { tiny_code_timed_vmcall, tiny_code_timed_vmmcall },
		[TINY_CODE_TIMED_CPUID] = { tiny_code_timed_cpuid },
		[TINY_CODE_TIMED_OUT] = { tiny_code_timed_out },
		[TINY_CODE_TIMED_NOP] = { tiny_code_timed_nop },
		[TINY_CODE_TIMED_RDMSR] = { tiny_code_timed_rdmsr },
		[TINY_CODE_TIMED_LOAD] = { tiny_code_timed_load },
		[TINY_CODE_CLOCK] = { tiny_code_clock },
	};
	const bool amd = cpu_is_amd();
	const char *label = amd && code_of[code].amd ? code_of[code].amd : code_of[code].kernel;
	const char *user = amd && code_of[code].user_amd ? code_of[code].user_amd : code_of[code].user;

	v->regs = *regs;
	v->regs.rflags = 2;
	v->regs.rsp = GPA_STACK(v->index);
	if (user) {
		v->regs.rdi = code_gpa(user);
		v->regs.r8 = GPA_STACK_USER(v->index);
		label = tiny_code_enter_user;
	}
	v->regs.rip = code_gpa(label);
}

void tiny_branches(struct guest_perf_branch branch[TINY_BRANCHES])
{
	const char *const way[TINY_BRANCHES][2] = {
		{ tiny_code_user_branches, tiny_code_branches_ret },
		{ tiny_code_branches_ret, tiny_code_branches_jmp },
		{ tiny_code_branches_jmp, tiny_code_branches_dec },
		{ tiny_code_branches_jnz, tiny_code_user_branches },
	};
	int i;

	for (i = 0; i < TINY_BRANCHES; i++)
		branch[i] = (struct guest_perf_branch){
			.from = code_gpa(way[i][0]), .to = code_gpa(way[i][1]),
		};
}
