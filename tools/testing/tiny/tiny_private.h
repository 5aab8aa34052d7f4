/* SPDX-License-Identifier: GPL-2.0 */
#ifndef TINY_PRIVATE_H
#define TINY_PRIVATE_H

/*
 * The tiny guest's memory, for its own files: below TINY_DATA are page tables,
 * descriptors, the code, stacks and struct tiny_cpu.
 */
#include "tiny_guest.h"

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

/* Selectors, also for iretq in tiny_code.c. */
#define SEL_CODE	0x08
#define SEL_DATA	0x10
#define SEL_CODE_USER	0x1b
#define SEL_DATA_USER	0x23
#define SEL_TSS		0x28

#define PORT_END	0x10	/* an OUT to it ends a stub */

/* Fills a VM's memory below TINY_DATA. */
void tiny_memory_fill(struct tiny_vm *vm);
/* Sets v->regs to @regs, with RIP at @code. */
void tiny_regs_prepare(struct tiny_vcpu *v, enum tiny_code code,
		       const struct kvm_regs *regs);

#endif /* TINY_PRIVATE_H */
