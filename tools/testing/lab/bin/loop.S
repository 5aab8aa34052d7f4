/* SPDX-License-Identifier: GPL-2.0 */
/*
 * loop: exactly 20,000,004 user instructions, so that a counter can be compared
 * with a number known beforehand: 200,000 times a hundred, one before, three after.
 * An emulator runs a long turn many times faster than as many instructions in short ones.
 */
	.globl	_start
_start:
	mov	$200000, %ecx
spin:
	.fill	98, 1, 0x90		/* nop */
	dec	%ecx
	jnz	spin
	mov	$60, %eax		/* exit(0) */
	xor	%edi, %edi
	syscall
	.section .note.GNU-stack, "", @progbits
