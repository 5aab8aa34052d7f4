// SPDX-License-Identifier: GPL-2.0
/* The modes that a vCPU of the tiny guest can be in. */
#include "tiny_private.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>

#define CR0_PE		(1ull << 0)
#define CR0_ET		(1ull << 4)
#define CR0_NE		(1ull << 5)
#define CR0_PG		(1ull << 31)
#define CR4_PAE		(1ull << 5)
#define EFER_LME	(1ull << 8)
#define EFER_LMA	(1ull << 10)
#define EFER_SVME	(1ull << 12)

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

/* Fields of a VMCB, by AMD's manual, volume 2, appendix B. */
#define VMCB_INTERCEPTS	0x10
#define  INTERCEPT_VMRUN	1u
#define VMCB_ASID	0x58
#define VMCB_EFER	0x4d0
#define VMCB_CR4	0x548
#define VMCB_CR3	0x550
#define VMCB_CR0	0x558
#define VMCB_RFLAGS	0x570

static void vmcb_set(struct kvm_nested_state *state, unsigned int field, uint64_t value)
{
	memcpy(state->data.svm->vmcb12 + field, &value, sizeof(value));
}

int tiny_vcpu_nested(struct tiny_vcpu *v)
{
	const size_t size = sizeof(struct kvm_nested_state) + KVM_STATE_NESTED_SVM_VMCB_SIZE;
	struct kvm_nested_state *state = calloc(1, size);
	struct kvm_sregs s;
	int err = 0;

	tiny_vcpu_mode64(v);
	sregs_get(v, &s);
	s.efer |= EFER_SVME;
	*state = (struct kvm_nested_state){
		.flags = KVM_STATE_NESTED_GUEST_MODE | KVM_STATE_NESTED_GIF_SET,
		.format = KVM_STATE_NESTED_FORMAT_SVM,
		.size = size,
		.hdr.svm.vmcb_pa = GPA_CPU(v->index) & ~0xfffull,
	};
	vmcb_set(state, VMCB_INTERCEPTS, INTERCEPT_VMRUN);
	vmcb_set(state, VMCB_ASID, 1);
	vmcb_set(state, VMCB_EFER, s.efer);
	vmcb_set(state, VMCB_CR4, s.cr4);
	vmcb_set(state, VMCB_CR3, s.cr3);
	vmcb_set(state, VMCB_CR0, s.cr0);
	vmcb_set(state, VMCB_RFLAGS, 2);
	if (ioctl(v->fd, KVM_SET_SREGS, &s) || ioctl(v->fd, KVM_SET_NESTED_STATE, state))
		err = -errno;
	if (err)
		tiny_vcpu_mode64(v);
	free(state);
	return err;
}

void tiny_vcpu_real(struct tiny_vcpu *v)
{
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
	sregs_set(v, &s);
}

void tiny_vcpu_reset(struct tiny_vcpu *v)
{
	struct kvm_regs regs = { .rip = 0xfff0, .rflags = 2 };

	/* in the order of QEMU's own reset */
	tiny_vcpu_real(v);
	ioctl(v->fd, KVM_SET_REGS, &regs);
}
