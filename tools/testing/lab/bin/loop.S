/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A loop of a hundred instructions, TURNS times, and four instructions around it. An
 * emulator runs a long turn many times faster than as many instructions in short ones.
 */
	.globl _start
_start:
	mov	$TURNS, %ecx
1:	.fill	98, 1, 0x90		/* nop */
	dec	%ecx
	jnz	1b
	mov	$60, %eax		/* exit(0) */
	xor	%edi, %edi
	syscall
	.section .note.GNU-stack, "", @progbits
