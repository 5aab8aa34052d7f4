// SPDX-License-Identifier: GPL-2.0
/*
 * A guest without a kernel, see tiny_guest.h. Memory below TINY_DATA is this
 * file's: page tables, descriptors, the code, stacks and struct tiny_cpu.
 */

#include "tiny_guest.h"

#include <cpuid.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#define GPA_PML4	0x1000
#define GPA_PDPT	0x2000
#define GPA_PD		0x3000
#define GPA_GDT		0x4000
#define GPA_IDT		0x5000
#define GPA_CODE	0x6000
#define GPA_TSS(i)	(0x7000 + (i) * 0x100)
#define GPA_CPU(i)	(0x8000 + (i) * 0x100)
#define GPA_STACK(i)	(0x9400 + (i) * 0x400)	/* tops; they grow down */
#define GPA_STACK_USER(i) (0xb400 + (i) * 0x400)

#define PTE_P		(1ull << 0)
#define PTE_W		(1ull << 1)
#define PTE_U		(1ull << 2)
#define PTE_A		(1ull << 5)
#define PTE_D		(1ull << 6)
#define PTE_LARGE	(1ull << 7)

#define CR0_PE		(1ull << 0)
#define CR0_ET		(1ull << 4)
#define CR0_NE		(1ull << 5)
#define CR0_PG		(1ull << 31)
#define CR4_PAE		(1ull << 5)
#define EFER_LME	(1ull << 8)
#define EFER_LMA	(1ull << 10)

/* Selectors; the values iretq below takes too. */
#define SEL_CODE	0x08
#define SEL_DATA	0x10
#define SEL_CODE_USER	0x1b
#define SEL_DATA_USER	0x23
#define SEL_TSS		0x28

/*
 * The guest's code. It is copied to GPA_CODE, and so must not care where it is.
 * %gs:N are the fields of struct tiny_cpu. HLT would not end KVM_RUN where KVM
 * has the local APICs.
 */
#define END	"	out %al, $0x10\n"
#define PORT_END	0x10

/* Between the two RDTSC is nothing that could make the guest exit but @insn. */
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
/* Without PAUSE Bochs looks at no interrupt: each RDTSC brings its clock up to date. */
"tiny_code_clock:\n"
"	mov %gs:48, %r8\n"
"1:	rdtsc\n"
"	pause\n"
"	cmp %r8, %gs:40\n"
"	jb 1b\n"
END
/* rdi: where to in CPL 3, r8: the stack there; ends with int $0x80 */
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
/* The registers are those of tiny_code_clock, which needs none for long. */
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
	tiny_code_nmi[], tiny_code_nmi_timed[], tiny_code_timed_vmcall[],
	tiny_code_timed_vmmcall[], tiny_code_timed_cpuid[], tiny_code_timed_out[],
	tiny_code_timed_nop[], tiny_code_clock[];

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
_Static_assert(offsetof(struct guest_perf_event, overflows) == 8,
	       "tiny_code_nmi");

static uint64_t code_gpa(const char *label)
{
	return GPA_CODE + (label - tiny_code_begin);
}

static bool cpu_is_amd(void)
{
	unsigned int eax, ebx, ecx, edx;

	/* Hygon's are AMD's in this; the others that run KVM have VMCALL. */
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

static void memory_fill(struct tiny_vm *vm)
{
	uint64_t table = PTE_P | PTE_W | PTE_U | PTE_A;
	int i;

	put64(vm, GPA_PML4, GPA_PDPT | table);
	put64(vm, GPA_PDPT, GPA_PD | table);
	put64(vm, GPA_PD, table | PTE_D | PTE_LARGE);

	/* flat, accessed; long mode looks at little of it */
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

static void segment(struct kvm_segment *s, int selector, int type, int l)
{
	*s = (struct kvm_segment){
		.limit = 0xffffffff, .selector = selector, .type = type,
		.present = 1, .s = 1, .l = l, .db = !l, .g = 1,
	};
}

static void protected_mode(struct tiny_vcpu *v, struct kvm_sregs *s, int l)
{
	segment(&s->cs, SEL_CODE, 0xb, l);
	segment(&s->ds, SEL_DATA, 0x3, 0);
	s->es = s->fs = s->gs = s->ss = s->ds;
	s->gs.base = GPA_CPU(v->index);
	s->tr = (struct kvm_segment){
		.base = GPA_TSS(v->index), .limit = 103, .selector = SEL_TSS,
		.type = 0xb, .present = 1,
	};
	s->gdt.base = GPA_GDT;
	s->gdt.limit = SEL_TSS - 1;
	s->idt.base = GPA_IDT;
	s->idt.limit = 0x81 * 16 - 1;
	s->cr0 = CR0_PE | CR0_ET | CR0_NE;
	s->cr3 = 0;
	s->cr4 = 0;
	s->efer = 0;
}

static void sregs_set(struct tiny_vcpu *v, const struct kvm_sregs *s)
{
	if (ioctl(v->fd, KVM_SET_SREGS, s)) {
		perror("# KVM_SET_SREGS");
		abort();
	}
}

static void sregs_get(struct tiny_vcpu *v, struct kvm_sregs *s)
{
	if (ioctl(v->fd, KVM_GET_SREGS, s)) {
		perror("# KVM_GET_SREGS");
		abort();
	}
}

void tiny_vcpu_mode32(struct tiny_vcpu *v)
{
	struct kvm_sregs s;

	sregs_get(v, &s);
	protected_mode(v, &s, 0);
	sregs_set(v, &s);
}

void tiny_vcpu_mode64(struct tiny_vcpu *v)
{
	struct kvm_sregs s;

	sregs_get(v, &s);
	protected_mode(v, &s, 1);
	s.cr0 |= CR0_PG;
	s.cr3 = GPA_PML4;
	s.cr4 = CR4_PAE;
	s.efer = EFER_LME | EFER_LMA;
	sregs_set(v, &s);
}

void tiny_vcpu_reset(struct tiny_vcpu *v)
{
	struct kvm_regs regs = { .rip = 0xfff0, .rflags = 2 };
	struct kvm_segment data = {
		.limit = 0xffff, .type = 0x3, .present = 1, .s = 1,
	};
	struct kvm_sregs s;

	sregs_get(v, &s);
	s.ds = s.es = s.fs = s.gs = s.ss = data;
	s.cs = data;
	s.cs.type = 0xb;
	s.cs.selector = 0xf000;
	s.cs.base = 0xffff0000;
	s.tr = (struct kvm_segment){ .limit = 0xffff, .type = 0xb, .present = 1 };
	s.ldt = (struct kvm_segment){ .limit = 0xffff, .type = 0x2, .present = 1 };
	s.gdt.base = s.idt.base = 0;
	s.gdt.limit = s.idt.limit = 0xffff;
	s.cr0 = CR0_ET;
	s.cr2 = s.cr3 = s.cr4 = 0;
	s.efer = 0;
	/* in the order of QEMU's own reset */
	sregs_set(v, &s);
	ioctl(v->fd, KVM_SET_REGS, &regs);
}

static int64_t run_to_end(struct tiny_vcpu *v)
{
	for (;;) {
		if (ioctl(v->fd, KVM_RUN, 0) < 0) {
			if ((errno == EINTR && !v->give_up) || errno == EAGAIN)
				continue;
			if (errno != EINTR)
				fprintf(stderr, "# vcpu %d: KVM_RUN: %s\n",
					v->index, strerror(errno));
			return TINY_BROKEN;
		}
		if (v->run->exit_reason == KVM_EXIT_IO) {
			if (v->run->io.port == PORT_END)
				return 0;
			continue;
		}
		ioctl(v->fd, KVM_GET_REGS, &v->regs);
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
	v->result = run_to_end(v);
	if (ioctl(v->fd, KVM_GET_REGS, &v->regs))
		v->result = TINY_BROKEN;
}

static void *vcpu_thread(void *arg)
{
	struct tiny_vcpu *v = arg;

	for (;;) {
		while (sem_wait(&v->go))
			;
		if (v->quit)
			return NULL;
		regs_run(v);
		sem_post(&v->done);
	}
}

static void regs_prepare(struct tiny_vcpu *v, enum tiny_code code,
			 const struct kvm_regs *regs)
{
	const bool amd = cpu_is_amd();
	const char *label = NULL, *user = NULL;

	switch (code) {
	case TINY_CODE_CALL:
		label = amd ? tiny_code_vmmcall : tiny_code_vmcall;
		break;
	case TINY_CODE_CALL_USER:
		user = amd ? tiny_code_user_vmmcall : tiny_code_user_vmcall;
		break;
	case TINY_CODE_CPUID:
		label = tiny_code_cpuid;
		break;
	case TINY_CODE_SPIN:
		label = tiny_code_spin;
		break;
	case TINY_CODE_SPIN_USER:
		user = tiny_code_user_spin;
		break;
	case TINY_CODE_WAIT:
		label = tiny_code_wait;
		break;
	case TINY_CODE_HALT:
		label = tiny_code_halt;
		break;
	case TINY_CODE_TIMED_CALL:
		label = amd ? tiny_code_timed_vmmcall : tiny_code_timed_vmcall;
		break;
	case TINY_CODE_TIMED_CPUID:
		label = tiny_code_timed_cpuid;
		break;
	case TINY_CODE_TIMED_OUT:
		label = tiny_code_timed_out;
		break;
	case TINY_CODE_TIMED_NOP:
		label = tiny_code_timed_nop;
		break;
	case TINY_CODE_CLOCK:
		label = tiny_code_clock;
		break;
	}
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

void tiny_vcpu_start(struct tiny_vcpu *v, enum tiny_code code,
		     const struct kvm_regs *regs)
{
	regs_prepare(v, code, regs);
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
	/* without SA_RESTART: what is under way ends with EINTR */
	const struct sigaction action = { .sa_handler = kicked };

	sigaction(SIGUSR1, &action, NULL);
	pthread_kill(v->thread, SIGUSR1);
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
	regs_prepare(v, code, regs);
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

static int slot_add(struct tiny_vm *vm, int slot, uint64_t gpa, uint64_t size,
		    void *mem, uint32_t flags)
{
	struct kvm_userspace_memory_region region = {
		.slot = slot, .flags = flags, .guest_phys_addr = gpa,
		.memory_size = size, .userspace_addr = (uintptr_t)mem,
	};

	return ioctl(vm->fd, KVM_SET_USER_MEMORY_REGION, &region) ? -errno : 0;
}

static int cpuid_set(struct tiny_vm *vm, struct tiny_vcpu *v)
{
	enum { ENTRIES = 256 };
	struct kvm_cpuid2 *cpuid;
	int err = 0;

	cpuid = calloc(1, sizeof(*cpuid) + ENTRIES * sizeof(cpuid->entries[0]));
	if (!cpuid)
		return -ENOMEM;
	cpuid->nent = ENTRIES;
	if (ioctl(vm->kvm, KVM_GET_SUPPORTED_CPUID, cpuid) ||
	    ioctl(v->fd, KVM_SET_CPUID2, cpuid))
		err = -errno;
	free(cpuid);
	return err;
}

static int vcpu_create(struct tiny_vm *vm, int index)
{
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
	err = cpuid_set(vm, v);
	if (err)
		return err;
	tiny_vcpu_mode64(v);
	sem_init(&v->go, 0, 0);
	sem_init(&v->done, 0, 0);
	err = -pthread_create(&v->thread, NULL, vcpu_thread, v);
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
	/* Intel's wants it before the vCPUs; elsewhere it does nothing. */
	ioctl(vm->fd, KVM_SET_TSS_ADDR, 0xfffbd000l);
	if (apics && ioctl(vm->fd, KVM_CREATE_IRQCHIP, 0l))
		goto fail;

	memory_fill(vm);
	err = slot_add(vm, 0, 0, TINY_MEM, vm->mem, 0);
	if (!err)
		err = slot_add(vm, 1, TINY_ROM, TINY_ROM_SIZE, vm->rom,
			       KVM_MEM_READONLY);
	for (i = 0; i < vcpus && !err; i++)
		err = vcpu_create(vm, i);
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

int tiny_vm_create_apics(struct tiny_vm *vm)
{
	return vm_create(vm, 1, true);
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

/* ---------------------------------------------------- the host module's own */

int tiny_totals_read(struct tiny_totals *t)
{
	FILE *f = fopen("/sys/kernel/debug/pvperf/totals", "re");
	char name[32];
	int found = 0;
	long value;

	if (!f)
		return -errno;
	while (fscanf(f, "%31s %ld", name, &value) == 2) {
		if (!strcmp(name, "vms"))
			t->vms = value, found |= 1;
		else if (!strcmp(name, "vcpus"))
			t->vcpus = value, found |= 2;
		else if (!strcmp(name, "events"))
			t->events = value, found |= 4;
		else if (!strcmp(name, "pages"))
			t->pages = value, found |= 8;
	}
	fclose(f);
	return found == 15 ? 0 : -EINVAL;
}

bool tiny_totals_wait(const struct tiny_totals *want)
{
	struct tiny_totals t;
	int tries;

	for (tries = 0; tries < 100; tries++) {
		if (!tiny_totals_read(&t) && !memcmp(&t, want, sizeof(t)))
			return true;
		usleep(50000);
	}
	fprintf(stderr, "# totals: vms %ld vcpus %ld events %ld pages %ld\n",
		t.vms, t.vcpus, t.events, t.pages);
	return false;
}

#define PARAM_PATH	"/sys/module/pvperf_host/parameters/%s"

int tiny_param_read(const char *name, char *value, size_t size)
{
	char path[128];
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), PARAM_PATH, name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	n = read(fd, value, size - 1);
	close(fd);
	if (n < 0)
		return -EIO;
	value[n] = 0;
	value[strcspn(value, "\n")] = 0;
	return 0;
}

int tiny_param_write(const char *name, const char *value)
{
	char path[128];
	int fd, err = 0;

	snprintf(path, sizeof(path), PARAM_PATH, name);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	if (write(fd, value, strlen(value)) < 0)
		err = -errno;
	close(fd);
	return err;
}
