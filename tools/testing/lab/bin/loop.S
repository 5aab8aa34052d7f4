/* SPDX-License-Identifier: GPL-2.0 */
/*
 * loop: exactly 20,000,004 user instructions, so that a counter can be compared
 * with a number known beforehand: 10,000,000 times two, one before, three after.
 */
	.globl	_start
_start:
	mov	$10000000, %ecx
spin:
	dec	%ecx
	jnz	spin
	mov	$60, %eax		/* exit(0) */
	xor	%edi, %edi
	syscall
	.section .note.GNU-stack, "", @progbits
