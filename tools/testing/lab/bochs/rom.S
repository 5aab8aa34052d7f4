/* SPDX-License-Identifier: GPL-2.0 */
/*
 * An option ROM that boots a kernel, as QEMU's -kernel does: the BIOS of Bochs
 * calls it when all else is set up, before it looks for a disk. It copies what
 * lab/bochs.py put on the disk to where it has to be, and enters the kernel by the
 * 64-bit boot protocol. A boot loader would read the same through the BIOS, two
 * bytes at a time, and the kernel would unpack itself: half a minute more.
 *
 * lab/bochs.py fills in the entry, the table of parts, and the checksum in the last
 * byte.
 */

#define ROM	0xd0000		/* where this lies, see lab/bochs.py */
#define PARAMS	0x200000	/* struct boot_params, see lab/bochs.py */
#define TABLES	0x202000	/* page tables: all is where it is; see lab/bochs.py */
#define MAP	0x8000		/* the BIOS's memory map, on its way to PARAMS */
#define STACK	0x7000

#define PARAMS_E820_ENTRIES	0x1e8
#define PARAMS_E820_TABLE	0x2d0
#define E820_SIZE		20

#define SELECTOR_CODE	0x10	/* as the protocol wants them */
#define SELECTOR_DATA	0x18
#define SELECTOR_CODE32	0x08

#define CR4_PAE		0x20
#define MSR_EFER	0xc0000080
#define EFER_LME	0x100
#define CR0_PG		0x80000000

#define ATA_DATA	0x1f0
#define ATA_COUNT	0x1f2	/* after it three bytes of the address, the drive, */
#define ATA_COMMAND	0x1f7	/* and this, which reads as the status */
#define ATA_READ	0x20
#define ATA_BUSY_DRQ	0x88
#define ATA_DRQ		0x08

	.code16
	.globl	_start
_start:
	.byte	0x55, 0xaa, 1		/* one block of 512 bytes */
	cli
	cld
	inb	$0x92, %al		/* A20 */
	orb	$2, %al
	outb	%al, $0x92

	movw	$(MAP >> 4), %ax
	movw	%ax, %es
	xorw	%di, %di
	xorl	%ebx, %ebx
	xorl	%ebp, %ebp		/* entries */
map:	movl	$0xe820, %eax
	movl	$E820_SIZE, %ecx
	movl	$0x534d4150, %edx	/* SMAP */
	int	$0x15
	jc	mapped
	addw	$E820_SIZE, %di
	incw	%bp
	testl	%ebx, %ebx
	jnz	map
mapped:
	cli
	lgdtl	%cs:(gdt_pointer - _start)
	movl	%cr0, %eax
	orb	$1, %al
	movl	%eax, %cr0
	ljmpl	$SELECTOR_CODE32, $(ROM + flat - _start)

	.code32
flat:	movl	$SELECTOR_DATA, %eax
	movl	%eax, %ds
	movl	%eax, %es
	movl	%eax, %ss
	movl	%eax, %fs
	movl	%eax, %gs
	movl	$STACK, %esp

	movl	$(ROM + parts - _start), %esi
part:	lodsl
	testl	%eax, %eax
	jz	loaded
	movl	%eax, %edi
	lodsl
	movl	%eax, %ebx		/* the first sector */
	lodsl
	pushl	%eax			/* how often 256 of them */
chunk:	movw	$ATA_COUNT, %dx
	xorl	%eax, %eax		/* means 256 */
	outb	%al, %dx
	movl	%ebx, %eax
	incw	%dx
	outb	%al, %dx
	shrl	$8, %eax
	incw	%dx
	outb	%al, %dx
	shrl	$8, %eax
	incw	%dx
	outb	%al, %dx
	shrl	$8, %eax
	orb	$0xe0, %al		/* the first drive, by sectors */
	incw	%dx
	outb	%al, %dx
	incw	%dx
	movb	$ATA_READ, %al
	outb	%al, %dx
	pushl	$256
sector:	movw	$ATA_COMMAND, %dx
1:	inb	%dx, %al
	andb	$ATA_BUSY_DRQ, %al
	cmpb	$ATA_DRQ, %al
	jne	1b
	movl	$(512 / 4), %ecx
	movw	$ATA_DATA, %dx
	rep insl
	decl	(%esp)
	jnz	sector
	popl	%eax
	addl	$256, %ebx
	decl	(%esp)
	jnz	chunk
	popl	%eax
	jmp	part

loaded:	movl	$MAP, %esi
	movl	$(PARAMS + PARAMS_E820_TABLE), %edi
	movl	%ebp, %eax
	movb	%al, PARAMS + PARAMS_E820_ENTRIES
	imull	$(E820_SIZE / 4), %ebp, %ecx
	rep movsl

	movl	%cr4, %eax
	orl	$CR4_PAE, %eax
	movl	%eax, %cr4
	movl	$TABLES, %eax
	movl	%eax, %cr3
	movl	$MSR_EFER, %ecx
	rdmsr
	orl	$EFER_LME, %eax
	wrmsr
	movl	%cr0, %eax
	orl	$CR0_PG, %eax
	movl	%eax, %cr0
	movl	$PARAMS, %esi
	ljmpl	*(ROM + entry - _start)

	.balign	8
gdt:	.quad	0
	.quad	0x00cf9b000000ffff	/* flat code */
	.quad	0x00af9b000000ffff	/* the same for 64 bits */
	.quad	0x00cf93000000ffff	/* flat data */
gdt_pointer:
	.word	. - gdt - 1
	.long	ROM + gdt - _start

	.org	440
entry:	.long	0
	.word	SELECTOR_CODE
	.org	448
parts:	.skip	60			/* destination, sector, times 256; 0 ends */
	.org	511
	.byte	0			/* makes the sum of all bytes 0 */
